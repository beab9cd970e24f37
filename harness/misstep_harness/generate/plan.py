"""Draw what a session of a study is to show, before it is written: what it is like, then what is planted in it."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from misstep_harness.generate import look_alikes, misbehaviours
from misstep_harness.generate.instructions import INSTRUCTIONS, LIMITS, Instruction, UserLimit
from misstep_harness.generate.look_alikes import LookAlike
from misstep_harness.generate.misbehaviours import Piece
from misstep_harness.generate.session import CHANGED, EDIT, FAILURE, INSTRUCTION, LOOP, READ, RUN, Session

_LATER = 0.4
"""How often the user comes back with another change."""
_TOGETHER = 0.6
"""How often a loop and failing calls are one, or an instruction is broken by an unrequested change, where both are."""

_LABORIOUS = 0.2
_LABOUR = {EDIT: 6, RUN: 6}
"""How often a session has room for many trials, and what these take: a loop of edits, or temporary lines."""


class Hard(Struct, frozen=True, forbid_unknown_fields=True):
    """The share of sessions that are hard, and how many times as likely a misbehaviour is there."""

    share: float
    times: float

    @property
    def otherwise(self) -> float:
        """Return how many times as likely it is elsewhere, so that it is as likely as stated on the whole."""
        return (1 - self.share * self.times) / (1 - self.share)


class Rating(Struct, frozen=True, forbid_unknown_fields=True):
    """How often users rate a session, and dislike one with and without a misbehaviour that they rate."""

    share: float
    disliked_with: float
    disliked_without: float


class Version(Struct, frozen=True, forbid_unknown_fields=True):
    """A version of the agent: its model, its weight among the sessions, the prevalence of each misbehaviour."""

    model: str
    weight: float
    prevalence: dict[str, float]


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is planted in a study, and how often; `settings.toml` says what each is."""

    first_day: date
    weeks: tuple[float, ...]
    weekdays: tuple[float, ...]
    hard: Hard
    rating: Rating
    version: tuple[Version, ...]
    balanced: dict[str, float]
    ended_by_itself: dict[str, float]


@cache
def load_settings() -> Settings:
    """Return the settings of the data file."""
    return msgspec.toml.decode((Path(__file__).parent / "settings.toml").read_bytes(), type=Settings)


class _Placed(Struct, frozen=True):
    piece: Piece
    ends: bool
    turn: int


class Plan(Struct, frozen=True):
    """What a session is like and what is planted in it.

    - `limit_broken`: Whether the limit is; whether the instruction is, it knows itself.
    - `later`: Whether a later turn asks for another change.
    """

    truth: frozenset[str]
    ends: dict[str, bool]
    limit: UserLimit
    instruction: Instruction
    limit_broken: bool
    later: bool
    look_alikes: tuple[LookAlike, ...]
    pieces: tuple[_Placed, ...]

    @property
    def kinds(self) -> dict[str, str]:
        """Misbehaviour → how it is played: the piece, or the limit or instruction that is broken."""
        kinds = {category: placed.piece.name for placed in self.pieces for category in placed.piece.plants}
        if CHANGED in self.truth:
            kinds[CHANGED] = self.limit.name if self.limit_broken else "unasked"
        if INSTRUCTION in self.truth:
            kinds[INSTRUCTION] = self.limit.name if self.limit_broken else self.instruction.name
        return kinds

    @property
    def variant(self) -> str:
        """Return the names of what is in it."""
        return "+".join(dict.fromkeys([*self.kinds.values(), *(one.name for one in self.look_alikes)])) or "plain"


def draw_truth(random: Random, settings: Settings, prevalence: Mapping[str, float], week: int) -> frozenset[str]:
    """Return the misbehaviours of a session of a week, counted from 0: what else it is like does not matter."""
    hard = settings.hard
    times = settings.weeks[week] * (hard.times if random.random() < hard.share else hard.otherwise)
    return frozenset(name for name, share in prevalence.items() if random.random() < share * times)


def draw_plan(session: Session, truth: frozenset[str], settings: Settings) -> Plan:
    """Return what a session is like, and how its misbehaviours are played."""
    random = session.random
    limit, kind = random.choice(LIMITS), random.choice(INSTRUCTIONS)
    later, reaches = random.random() < _LATER, random.random() < look_alikes.UNKNOWN_TOOL.share
    alike = [one for one in look_alikes.LOOK_ALIKES if random.random() < one.share]
    limit_broken = {CHANGED, INSTRUCTION} <= truth and random.random() < _TOGETHER
    instruction = kind(session, INSTRUCTION in truth and not limit_broken)
    ends = {name: random.random() < settings.ended_by_itself[name] for name in sorted(truth)}
    if limit_broken:
        ends[INSTRUCTION] = ends[CHANGED]
    elif instruction.broken:
        ends[INSTRUCTION] &= kind.can_be_taken_back
    for one in alike:
        session.expect(one.calls)
    laborious = random.random() < _LABORIOUS
    if laborious:
        session.expect(_LABOUR)
    wanted: list[tuple[str, Sequence[Piece]]] = []
    if {LOOP, FAILURE} <= truth and not reaches and random.random() < _TOGETHER:
        ends[LOOP] = ends[FAILURE]
        wanted = [(FAILURE, (misbehaviours.STUCK_FAILURE,))]
    else:
        failing = (misbehaviours.UNKNOWN_TOOL,) if reaches else misbehaviours.FAILURES
        wanted = [(name, pieces) for name, pieces in ((FAILURE, failing), (LOOP, misbehaviours.LOOPS)) if name in truth]
    others = {EDIT: 5 if CHANGED in truth else 3, READ: 5 if CHANGED in truth else 3, RUN: 3}
    session.keep_room(others)
    pieces: list[_Placed] = []
    for name, choices in wanted:
        possible = [piece for piece in choices if _goes(piece, session, instruction, ends[name] or not later)]
        fitting = [piece for piece in possible if session.has_room(piece.calls)] or possible
        by_edits = [one for one in fitting if laborious and one.edits and LOOP in one.plants]
        piece = random.choice(by_edits or fitting)
        session.keep_room(piece.calls)
        turn = (random.randrange(2) if ends[name] else 1) if later else 0
        pieces.append(_Placed(piece, ends[name], turn))
    for placed in pieces:
        session.give_room(placed.piece.calls)
    session.give_room(others)
    if reaches and FAILURE not in truth:
        session.expect(look_alikes.UNKNOWN_TOOL.calls)
        alike.append(look_alikes.UNKNOWN_TOOL)
    return Plan(truth, ends, limit, instruction, limit_broken, later, tuple(alike), tuple(pieces))


def _goes(piece: Piece, session: Session, instruction: Instruction, at_first: bool) -> bool:
    by_edits = at_first and instruction.edits_at_once and (session.vocabulary.agent.edits_by_text or not piece.by_text)
    return by_edits or not piece.edits
