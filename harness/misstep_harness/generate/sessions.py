"""Generate coding sessions whose misbehaviour is known by construction, about thirty steps each, with hard negatives.

Truth follows Wink's definitions (section 2.1). A change that was ruled out in words ("do not touch tests/") injects
both `unrequested_changes` and `did_not_follow_instructions`. A change that was asked for but made too early, or
without its tests, is an instruction not followed alone. A refused call that is repeated to the letter is a
failure and a loop.

Each misbehaviour is injected with a stated prevalence, times a factor of the week, whatever the user asks for and
whatever tools there are. Case `i` of a seed is the same whatever the number of cases.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.generate.pieces import (
    FAILURES,
    HARD_NEGATIVES,
    INSTRUCTIONS,
    LIMITS,
    LOOPS,
    MEND_EVERYWHERE,
    STUCK_FAILURE,
    UNKNOWN_TOOL,
    UNKNOWN_TOOL_CORRECTED,
    HardNegative,
    Instruction,
    Piece,
    UserLimit,
    change_unasked,
)
from misstep_harness.generate.projects import ProjectChange, change_limit, make_project
from misstep_harness.generate.session import (
    CATEGORIES,
    CHANGED,
    EDIT,
    FAILURE,
    INSTRUCTION,
    LOOP,
    READ,
    RUN,
    Session,
    Vocabulary,
    load_agents,
)
from misstep_harness.generate.voice import Voice, WordingSet
from misstep_harness.trajectory import Source, Tokens, Trajectory

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
    """Prevalences and shares of a study, as `settings.toml` has them."""

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
    """What a session is like, and the misbehaviour injected in it.

    - `limit_broken`: Whether the limit is; whether the instruction is, it knows itself.
    - `later`: Whether a later turn asks for another change.
    """

    truth: frozenset[str]
    ends: dict[str, bool]
    limit: UserLimit
    instruction: Instruction
    limit_broken: bool
    later: bool
    hard_negatives: tuple[HardNegative, ...]
    pieces: tuple[_Placed, ...]

    @property
    def kinds(self) -> dict[str, str]:
        """Misbehaviour → how it is played: the piece, or the limit or instruction that is broken."""
        kinds = {category: placed.piece.name for placed in self.pieces for category in placed.piece.categories}
        if CHANGED in self.truth:
            kinds[CHANGED] = self.limit.name if self.limit_broken else "unasked"
        if INSTRUCTION in self.truth:
            kinds[INSTRUCTION] = self.limit.name if self.limit_broken else self.instruction.name
        return kinds

    @property
    def variant(self) -> str:
        """Return the names of what is in it."""
        return "+".join(dict.fromkeys([*self.kinds.values(), *(one.name for one in self.hard_negatives)])) or "plain"


def draw_truth(random: Random, settings: Settings, prevalence: Mapping[str, float], week: int) -> frozenset[str]:
    """Return the misbehaviours of a session of a week, counted from 0: what else it is like does not matter."""
    hard = settings.hard
    times = settings.weeks[week] * (hard.times if random.random() < hard.share else hard.otherwise)
    return frozenset(name for name, share in prevalence.items() if random.random() < share * times)


def draw_plan(session: Session, truth: frozenset[str], settings: Settings) -> Plan:
    """Return what a session is like, and how its misbehaviours are played."""
    random = session.random
    limit, kind = random.choice(LIMITS), random.choice(INSTRUCTIONS)
    later, reaches = random.random() < _LATER, random.random() < UNKNOWN_TOOL_CORRECTED.share
    alike = [one for one in HARD_NEGATIVES if random.random() < one.share]
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
        wanted = [(FAILURE, (STUCK_FAILURE,))]
    else:
        failing = (UNKNOWN_TOOL,) if reaches else FAILURES
        wanted = [(name, pieces) for name, pieces in ((FAILURE, failing), (LOOP, LOOPS)) if name in truth]
    others = {EDIT: 5 if CHANGED in truth else 3, READ: 5 if CHANGED in truth else 3, RUN: 3}
    session.keep_room(others)
    pieces: list[_Placed] = []
    for name, choices in wanted:
        possible = [piece for piece in choices if _goes(piece, session, instruction, ends[name] or not later)]
        fitting = [piece for piece in possible if session.has_room(piece.calls)] or possible
        by_edits = [one for one in fitting if laborious and one.edits and LOOP in one.categories]
        piece = random.choice(by_edits or fitting)
        session.keep_room(piece.calls)
        turn = (random.randrange(2) if ends[name] else 1) if later else 0
        pieces.append(_Placed(piece, ends[name], turn))
    for placed in pieces:
        session.give_room(placed.piece.calls)
    session.give_room(others)
    if reaches and FAILURE not in truth:
        session.expect(UNKNOWN_TOOL_CORRECTED.calls)
        alike.append(UNKNOWN_TOOL_CORRECTED)
    return Plan(truth, ends, limit, instruction, limit_broken, later, tuple(alike), tuple(pieces))


def _goes(piece: Piece, session: Session, instruction: Instruction, at_first: bool) -> bool:
    by_edits = at_first and instruction.edits_at_once and (session.vocabulary.agent.edits_by_text or not piece.by_text)
    return by_edits or not piece.edits


_OF_LATER = {EDIT: 1, READ: 1, RUN: 2}
"""The calls of a later turn that cannot be left out."""

_OF_CHANGE = {EDIT: 2, READ: 2}
"""About how many calls an unrequested change makes."""


def write_session(session: Session, plan: Plan) -> None:
    """Write a session as it is planned."""
    functions = session.pick_functions(3 if plan.limit.by_mode else session.random.randint(2, 3))
    limits_alone = MEND_EVERYWHERE in plan.hard_negatives
    changes = [change_limit(session.random, one) if limits_alone else session.pick_change(one) for one in functions]
    first, second = (changes[:-1], changes[-1:]) if plan.later else (changes, [])
    unending = [placed.piece for placed in plan.pieces if not placed.ends]
    for placed in plan.pieces:
        session.keep_room(placed.piece.calls)
    if CHANGED in plan.truth:
        session.keep_room(_OF_CHANGE)
    _ask_first(session, plan, first)
    plan.instruction.begin()
    if plan.limit.by_mode:
        _plan_first(session, plan, first)
    for alike in (one for one in plan.hard_negatives if not one.after):
        alike.write(session, first[0])
    if plan.later:
        session.keep_room(_OF_LATER)
        _work(session, plan, first, 0)
        session.close("closing", first[-1])
        session.give_room(_OF_LATER)
        session.user(session.wish(second[0]))
    pending = second or first
    held = [pending.pop()] if any(piece.edits for piece in unending) else []
    _work(session, plan, pending, int(plan.later))
    about = (held or pending)[-1]
    for piece in unending:
        session.give_room(piece.calls)
        piece.write(session, about)
    session.close("giving_up" if unending else "closing", about)


def _plan_first(session: Session, plan: Plan, changes: list[ProjectChange]) -> None:
    """A plan that the user agrees to; if it is planned so, the first change is made before, and is no longer due."""
    session.look_around(0.2)
    if plan.limit_broken:
        plan.limit.break_(session, changes[0], plan.ends[CHANGED])
    session.close("plan", changes[0])
    if plan.limit_broken and not plan.ends[CHANGED]:
        del changes[0]
    session.planning = False
    session.user(session.user_text("agreed"))


def _ask_first(session: Session, plan: Plan, changes: list[ProjectChange]) -> None:
    sentences = [session.wish(change) for change in changes]
    sentences += [session.user_text(one.asked) for one in plan.hard_negatives if one.asked]
    if plan.limit.by_mode:
        session.planning = True
        session.system(session.replied("plan_mode"))
    else:
        sentences.append(session.user_text(plan.limit.name, folder=session.project.test_folder()))
    session.user("\n\n".join([*sentences, plan.instruction.ask()]))


def _work(session: Session, plan: Plan, changes: list[ProjectChange], turn: int) -> None:
    last = turn == plan.later
    session.look_around(0.35)
    for placed in plan.pieces:
        if placed.ends and placed.turn == turn:
            session.give_room(placed.piece.calls)
            placed.piece.write(session, changes[0])
            session.look_around(0.15)
    session.traced = list(changes)
    plan.instruction.make(changes, plan.ends.get(INSTRUCTION, False))
    if turn == 0:
        if CHANGED in plan.truth:
            session.give_room(_OF_CHANGE)
        for alike in (one for one in plan.hard_negatives if one.after):
            alike.write(session, changes[0])
        taken_back = plan.ends.get(CHANGED, False)
        if plan.limit_broken and not plan.limit.by_mode:
            plan.limit.break_(session, changes[0], taken_back)
        elif not plan.limit_broken and CHANGED in plan.truth:
            change_unasked(session, taken_back)
    if last:
        session.trace()
    session.keep_room({RUN: 1})
    session.look_around(1.0 if last else 0.5)
    session.give_room({RUN: 1})
    plan.instruction.test(turn > 0)


_OWN_TOOLS = 0.3
"""How many agents are of a house of their own."""
_JSON_TYPES = {str: "string", int: "integer", list: "array", dict: "object"}


class _Episode(Struct, frozen=True):
    """An injected misbehaviour: its first and last step, from 0, whether it ended by itself, and its piece."""

    category: str
    onset: int
    last: int
    ended_by_itself: bool
    kind: str


class Case(Struct, frozen=True):
    """A generated trajectory and the truth about it.

    - `variant`: The pieces that misbehave or look like it, joined by `+`.
    - `liked`: What its user thought of it; `None` if it was not rated.
    """

    trajectory: Trajectory
    truth: dict[str, bool]
    evidence: dict[str, tuple[int, ...]]
    variant: str
    episodes: tuple[_Episode, ...]
    started: str
    week: int
    liked: bool | None


def generate_sessions(n: int, seed: int, wordings: WordingSet = "scoring", *, study: bool = False) -> Iterator[Case]:
    """Return the first `n` sessions of a seed and a set of wordings."""
    for index in range(n):
        yield _case(index, seed, wordings, study)


def _case(index: int, seed: int, wordings: WordingSet, study: bool) -> Case:
    settings = load_settings()
    random = Random(f"{'study:' if study else ''}{wordings}:{seed}:{index}")  # noqa: S311 (made-up data)
    version = random.choices(settings.version, [one.weight for one in settings.version])[0]
    week = random.randrange(len(settings.weeks))
    started = _moment(random, settings, week)
    own = random.random() < _OWN_TOOLS
    agent = random.choice([one for one in load_agents(wordings) if bool(one.set) == own])
    tool, user, speaker = (Voice(random, wordings) for _ in range(3))
    session = Session(random, make_project(random), Vocabulary(agent, tool), user, speaker)
    tools = _tool_definitions(session.vocabulary)
    # Misbehaviour is drawn last, so that nothing above can depend on it.
    prevalence = version.prevalence if study else settings.balanced
    plan = draw_plan(session, draw_truth(random, settings, prevalence, week), settings)
    write_session(session, plan)
    if set(session.evidence) != plan.truth:
        raise ValueError(f"case {index} of seed {seed} shows {sorted(session.evidence)}, not {sorted(plan.truth)}")
    evidence = {category: tuple(sorted(set(steps))) for category, steps in session.evidence.items()}
    rating = settings.rating
    disliked = rating.disliked_with if plan.truth else rating.disliked_without
    liked = None if random.random() >= rating.share else random.random() >= disliked
    modes = [{"sandbox_policy": {"mode": "read-only" if one else "workspace-write"}} for one in session.plannings]
    moment, dated, context = started, [], 1500
    for step in session.steps:
        by_agent = step.role == "agent"
        length = len(step.text) // 4 + 20
        context += length + sum(len(result.text) for result in step.results) // 4
        tokens = Tokens(context, length + 40 * len(step.calls)) if by_agent else None
        dated.append(msgspec.structs.replace(step, timestamp=_stamp(moment), tokens=tokens))
        moment += timedelta(seconds=random.randrange(3, 40) if by_agent else random.randrange(20, 400))
    trajectory = Trajectory(
        id=f"{'study-' if study else ''}{wordings}-{seed}-{index:06}",
        source=Source("generated", evidence="generated"),
        task=next(step.text for step in session.steps if step.role == "user"),
        steps=tuple(dated),
        agent=agent.name,
        model=version.model,
        extra={"agent": {"tool_definitions": tools}} | ({"turn_contexts": modes} if agent.modes == "session" else {}),
    )
    truth = {category: category in plan.truth for category in CATEGORIES}
    episodes = tuple(
        _Episode(name, evidence[name][0], evidence[name][-1], plan.ends[name], plan.kinds[name])
        for name in sorted(plan.truth)
    )
    return Case(trajectory, truth, evidence, plan.variant, episodes, _stamp(started), week + 1, liked)


def _moment(random: Random, settings: Settings, week: int) -> datetime:
    day = random.choices(range(7), settings.weekdays)[0]
    seconds = random.randrange(7 * 3600, 20 * 3600)
    return datetime.combine(settings.first_day, time(), UTC) + timedelta(days=7 * week + day, seconds=seconds)


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _tool_definitions(vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Return the tools that an agent has, as functions with JSON schemas."""
    shapes: dict[str, dict[str, str]] = {}
    looks = vocabulary.read("a", 1, 1), vocabulary.search("a", "b")
    for name, arguments in (*looks, vocabulary.edit("a", "b", "c"), vocabulary.write("a", "b"), vocabulary.run("a")):
        types = {key: _JSON_TYPES[type(value)] for key, value in arguments.items()}
        shapes[name] = shapes.get(name, {}) | types
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {"type": "object", "properties": {key: {"type": kind} for key, kind in shape.items()}},
            },
        }
        for name, shape in sorted(shapes.items())
    ]
