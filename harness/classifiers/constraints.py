"""What the user allows and forbids, turn by turn: which files may change, what must not be made, run or installed.

    turn 0  "Fix the parser, only edit src/parser.py."   → Constraint("only", "edit", (src/parser.py,), since=0)
    turn 4  "OK, now also change the tests."             → … and the tests, from step 4 on
    turn 8  "Actually leave config.py alone."            → Constraint("ban", "edit", (config.py,), since=8)

Only orders count, and only those that can be checked against what was done: a condition ("unless you must"), a
description ("this only happens when …") or a ban on behaviour ("don't change the API") makes no constraint.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs

from harness.classifiers.history import Turn
from harness.classifiers.limits import (
    ALL_OTHERS,
    APPROVAL,
    ASKING,
    BANS,
    CHANGE_WORDS,
    COMMANDS,
    CONDITION,
    EXCEPT,
    LIFTED,
    LIMIT_WORDS,
    NEGATED,
    NEW_FILES,
    ONLY,
    ONLY_RECORD,
    OPENING,
    OPENS_WITH_CONDITION,
    ORDERS,
    PERMITTED,
    READ_ONLY,
    WIDE,
)
from harness.classifiers.prose import NAME, REMEMBERED, Sentence, has, marked
from harness.classifiers.targets import EVERYTHING, Target, overlap, records_in
from harness.classifiers.wording import as_path, bans_creation, bans_edits, targets_in

What = Literal["edit", "create", "delete", "install", "commit", "push", "run", "use"]


class Constraint(Struct, frozen=True, gc=False):
    """One order of the user's, in force from the turn `since` until the turn `until` (`None`: to the end).

    `only` allows the targets alone; `ban` forbids `what` on the targets; `ask` forbids it before the user was asked.
    `exceptions` are allowed in spite of it. `words` are the user's.
    """

    kind: Literal["only", "ban", "ask"]
    what: What
    targets: tuple[Target, ...]
    words: str
    since: int = -1
    exceptions: tuple[Target, ...] = ()
    until: int | None = None
    new_files_too: bool = False
    code_only: bool = False


MOST = 200
"""Constraints of a run that are held against it: no person sets more, and each is read against all later turns."""


class Limits(Struct, frozen=True, gc=False):
    """What one sentence forbids: its constraints, whether it forbids all other files, and what is left of it."""

    constraints: tuple[Constraint, ...] = ()
    others: bool = False
    free: Sentence = Sentence("", ())
    words: str = ""


class Said(Struct, frozen=True, gc=False):
    """One turn read: its constraints, the files it asks to be changed or mentions, how it bears on earlier turns."""

    step: int
    text: str
    constraints: tuple[Constraint, ...]
    requested: tuple[Target, ...]
    mentioned: tuple[Target, ...]
    orders: bool
    approves: bool
    lifts: bool
    widens: bool


def constraints_of(turns: list[Turn]) -> list[Constraint]:
    """The constraints of a run's turns, each with what later turns add to it or when they lift it."""
    limits = [_limits(turn) for turn in turns]
    if not any(limits):
        return []
    said: list[Said] = []
    for turn, found in zip(turns, limits, strict=True):
        said.append(_read(turn, found, said))
    constraints = []
    for place, one in enumerate(said):
        constraints += [_followed(constraint, said[place + 1 :]) for constraint in one.constraints]
        if len(constraints) >= MOST:
            break
    return constraints[:MOST]


def _limits(turn: Turn) -> dict[str, Limits]:
    """What a turn forbids: sentence → its limits, for the sentences that have any."""
    found: dict[str, Limits] = {}
    lowered = turn.lowered
    if not has(lowered, LIMIT_WORDS):
        return found
    for sentence in turn.sentences:
        limits = _limits_in(sentence)
        if limits is not None:
            found[sentence] = limits
    return found


@lru_cache(maxsize=REMEMBERED)
def _limits_in(raw: str) -> Limits | None:
    """What one sentence forbids; `None` where it forbids nothing."""
    lowered = raw.lower()
    if not has(lowered, LIMIT_WORDS) or not has(lowered, CHANGE_WORDS):
        return None
    sentence = marked(raw)
    text = free = sentence.text
    words = sentence.shown(text)
    made: list[Constraint] = []
    for limit in ONLY:
        for match in limit.matches(text, lowered):
            targets = targets_in(match["list"], sentence)
            if targets and EVERYTHING not in targets and not CONDITION.all_in(text[match.end() :]):
                made.append(Constraint("only", "edit", tuple(targets), words))
                free = free.replace(match.group(), " ")
    record = ONLY_RECORD.search(text, lowered)
    if record is not None and not made:
        records = tuple(Target("record", number) for number in records_in(record["list"]))
        made.append(Constraint("only", "edit", records, words))
        free = free.replace(record.group(), " ")
    others = not made and any(limit.search(text, lowered) for limit in ALL_OTHERS)
    for limit in BANS:
        for match in limit.matches(free, lowered):
            ban = _ban(match, free, sentence, words)
            if ban is not None:
                made.append(ban)
            free = free.replace(match.group(), " ")
    if not CONDITION.all_in(free):
        made += _other_bans(free, lowered, words)
        kind: Literal["ban", "ask"] = "ask" if ASKING.all_in(text) else "ban"
        for what, limit in COMMANDS:
            if limit.search(text, lowered):
                made.append(Constraint(kind, what, (EVERYTHING,), words))
    return Limits(tuple(made), others, Sentence(free, sentence.names), words) if made or others else None


def _read(turn: Turn, limits: dict[str, Limits], before: list[Said]) -> Said:
    """A turn of a run in which some turn has limits."""
    constraints: list[Constraint] = []
    requested: list[Target] = []
    mentioned: list[Target] = []
    orders = False
    forbids_others = ""
    for sentence in turn.sentences:
        limit = limits.get(sentence)
        if limit is not None:
            constraints += [structs.replace(one, since=turn.step) for one in limit.constraints]
            forbids_others = forbids_others or (limit.words if limit.others else "")
        read = marked(sentence) if limit is None else limit.free
        targets, ordered = _requested(read)
        requested += targets
        mentioned += [target for name in read.names_in(read.text) if (target := as_path(name)) is not None]
        orders = orders or ordered
    if forbids_others:
        allowed = _files(requested) or [target for earlier in before[-1:] for target in _files(earlier.requested)]
        if allowed:
            constraints.append(Constraint("only", "edit", tuple(allowed), forbids_others, since=turn.step))
    text = " ".join(turn.sentences)
    return Said(
        turn.step, text, tuple(_with_exceptions(one, requested) for one in constraints),
        tuple(requested), tuple(mentioned), orders,
        APPROVAL.search(text) is not None, LIFTED.search(text) is not None, WIDE.search(text) is not None,
    )  # fmt: skip


def _files(targets: Iterable[Target]) -> list[Target]:
    return [target for target in targets if target.sort in ("path", "folder")]


def _ban(match: re.Match[str], text: str, sentence: Sentence, words: str) -> Constraint | None:
    if match.group().lower().startswith("without") and not _orders(text[: match.start()]):
        return None
    targets = targets_in(match["list"], sentence)
    rest = text[match.end() :]
    if not targets or CONDITION.all_in(rest) or OPENS_WITH_CONDITION.match(text):
        return None
    verbs = match["verbs"].lower()
    bans_change = bans_edits(verbs) or not re.match(
        r"creat|add|writ|introduc|generat|delet|remov|renam|mov|eras|wip", verbs
    )
    what: What = "edit" if bans_change else "create" if bans_creation(verbs) else "delete"
    if what == "create" and EVERYTHING in targets and "file" not in match["list"]:
        what = "edit"
    exceptions: list[Target] = []
    if (excepted := re.search(rf"^\s*,?\s*\(?{EXCEPT}", rest, re.IGNORECASE)) is not None:
        exceptions = targets_in(excepted["list"], sentence)
    kind: Literal["ban", "ask"] = "ask" if ASKING.all_in(rest) else "ban"
    return Constraint(
        kind, what, tuple(targets), words, exceptions=tuple(exceptions),
        new_files_too=bans_creation(verbs) or not bans_edits(verbs) or EVERYTHING in targets,
        code_only=EVERYTHING in targets and "code" in match["list"].lower(),
    )  # fmt: skip


def _orders(before: str) -> bool:
    """Whether what stands before `without …` is an order, so that the ban is one too."""
    return bool(ORDERS.all_in(before)) or OPENING.match(before) is not None


_SORTS = {
    "test": "tests", "markdown": "markdown", "md": "markdown", "doc": "docs", "documentation": "docs",
    "config": "config",
}  # fmt: skip


def _other_bans(text: str, lowered: str, words: str) -> list[Constraint]:
    kind: Literal["ban", "ask"] = "ask" if ASKING.all_in(text) else "ban"
    made = []
    for limit in READ_ONLY:
        match = limit.search(text, lowered)
        if match:
            code = re.search(r"\b(?:code|coding)\b", match.group(), re.IGNORECASE) is not None
            made.append(Constraint(kind, "edit", (EVERYTHING,), words, new_files_too=True, code_only=code))
            break
    if (match := NEW_FILES.search(text, lowered)) is not None:
        sort = (match["sort"] or "").strip().lower()
        category = _SORTS.get(sort)
        target = Target("category", category) if category else EVERYTHING
        made.append(Constraint(kind, "create", (target,), words, new_files_too=True))
    return made


_PURPOSE = re.compile(r"\b(?:so that|such that|so the|in order|because|until)\b", re.IGNORECASE)
"""What opens the reason of a request: what stands in it is not asked to be changed."""


@lru_cache(maxsize=REMEMBERED)
def _requested(sentence: Sentence) -> tuple[list[Target], bool]:
    """The files that a sentence asks to be changed, and whether it orders any change."""
    text = sentence.text
    permitted = _permitted(sentence)
    match = next(iter(ORDERS.all_in(text)), None)
    if match is None:
        return permitted, False
    negated = next(iter(NEGATED.all_in(text)), None)
    if negated is not None and negated.start() <= match.start():
        return permitted, False
    asked = _PURPOSE.split(text[match.start() : negated.start() if negated else len(text)])[0]
    targets: list[Target] = []
    for part in re.split(rf"(?={NAME})|,|\band\b|\bor\b", asked):
        targets += [target for target in targets_in(part, sentence) if target != EVERYTHING]
    return targets + permitted, True


def _permitted(sentence: Sentence) -> list[Target]:
    """The files that a sentence says may be changed; a question says nothing."""
    text, lowered = sentence.text, sentence.text.lower()
    if text.rstrip().endswith("?"):
        return []
    found = [match for phrase in PERMITTED for match in phrase.matches(text, lowered)]
    return [target for match in found for target in targets_in(match["list"], sentence) if target != EVERYTHING]


def _with_exceptions(constraint: Constraint, requested: list[Target]) -> Constraint:
    """A ban of a turn that also asks for one file by name does not forbid that file."""
    if constraint.kind == "only":
        return structs.replace(constraint, targets=constraint.targets + tuple(requested))
    named = tuple(one for one in requested if one.sort == "path" and one not in constraint.targets)
    return structs.replace(constraint, exceptions=constraint.exceptions + named)


def _followed(constraint: Constraint, later: list[Said]) -> Constraint:
    """A constraint with what later turns add to it, until the turn that lifts it."""
    for said in later:
        if said.lifts or _lifted_by(constraint, said):
            return structs.replace(constraint, until=said.step)
        if constraint.kind == "only":
            constraint = structs.replace(constraint, targets=constraint.targets + said.requested + said.mentioned)
    return constraint


def _lifted_by(constraint: Constraint, said: Said) -> bool:
    again = any(
        overlap(one, other) for newer in said.constraints for one in newer.targets for other in constraint.targets
    )
    if constraint.what in ("install", "commit", "push", "run"):
        asked = re.search(rf"\b{constraint.what}\b", said.text, re.IGNORECASE) is not None
        return asked and not any(newer.what == constraint.what for newer in said.constraints)
    if constraint.kind == "only":
        return said.widens and not said.constraints
    if EVERYTHING in constraint.targets:
        return (said.orders or said.approves) and not again
    if said.approves and constraint.kind == "ask":
        return True
    return (said.widens and not again) or any(
        overlap(one, other) for one in said.requested for other in constraint.targets
    )
