"""What the user allows and forbids, turn by turn: which files may change, what must not be made, run or installed.

    turn 0  "Fix the parser, only edit src/parser.py."   → Constraint("only", "edit", (src/parser.py,), since=0)
    turn 4  "OK, now also change the tests."             → … and the tests, from step 4 on
    turn 8  "Actually leave config.py alone."            → Constraint("ban", "edit", (config.py,), since=8)

Only orders count, and only those that can be checked against what was done: a condition ("unless you must"), a
description ("this only happens when …") or a ban on behaviour ("don't change the API") makes no constraint.
"""

import re
from typing import Literal

from msgspec import Struct, structs

from harness.classifiers.history import Turn
from harness.classifiers.limits import (
    ALL_OTHERS,
    APPROVAL,
    ASKING,
    BANS,
    COMMANDS,
    CONDITION,
    EXCEPT,
    LIFTED,
    NEGATED,
    NEW_FILES,
    ONLY,
    OPENING,
    ORDERS,
    READ_ONLY,
    WIDE,
)
from harness.classifiers.prose import NAME, Prose, prose_of
from harness.classifiers.targets import EVERYTHING, Target, overlap
from harness.classifiers.wording import bans_creation, bans_edits, targets_in

What = Literal["edit", "create", "delete", "install", "commit", "push", "run", "use"]


class Constraint(Struct, frozen=True, gc=False):
    """One order of the user's, in force from the turn `since` until the turn `until` (`None`: to the end).

    `only` allows the targets alone; `ban` forbids `what` on the targets; `ask` forbids it before the user was asked.
    `exceptions` are allowed in spite of it. `words` are the user's.
    """

    kind: Literal["only", "ban", "ask"]
    what: What
    targets: tuple[Target, ...]
    since: int
    words: str
    exceptions: tuple[Target, ...] = ()
    until: int | None = None
    new_files_too: bool = False
    code_only: bool = False


GATE = ("only", "n't", "not", "never", "avoid", "without", "leave", "keep", "limit", "restrict", "confine", "off",
        "no ", "just", "read-only", "read only", "plan", "stay", "hands", "before",
        "ask", "dont", "refrain", "must")  # fmt: skip
"""Words of which every constraint has one: a turn without any is not read further."""


class Said(Struct, frozen=True, gc=False):
    """One turn read: its constraints, the files that it asks to be changed, and how it bears on earlier turns."""

    step: int
    prose: Prose
    constraints: tuple[Constraint, ...]
    requested: tuple[Target, ...]
    orders: bool
    approves: bool
    lifts: bool
    widens: bool


def constraints_of(turns: list[Turn]) -> list[Constraint]:
    """The constraints of a run's turns, each with what later turns add to it or when they lift it."""
    if not any(_may_constrain(turn.text) for turn in turns):
        return []
    said: list[Said] = []
    for turn in turns:
        said.append(_read(turn, said))
    found = []
    for place, one in enumerate(said):
        found += [_followed(constraint, said[place + 1 :]) for constraint in one.constraints]
    return found


def _may_constrain(text: str) -> bool:
    lowered = text[:20_000].lower()
    return any(word in lowered for word in GATE)


def _read(turn: Turn, before: list[Said]) -> Said:
    prose = prose_of(turn.text)
    constraints: list[Constraint] = []
    requested: list[Target] = []
    others: list[str] = []
    orders = False
    for sentence in prose.sentences:
        made, wants_others, free = _sentence(sentence, prose, turn.step)
        constraints += made
        if wants_others:
            others.append(prose.shown(sentence))
        targets, ordered = _requested(free, prose)
        requested += targets
        orders = orders or ordered
    if others:
        allowed = [target for target in requested if target.sort in ("path", "folder")] or [
            target for earlier in before[-1:] for target in earlier.requested if target.sort in ("path", "folder")
        ]
        if allowed:
            constraints.append(Constraint("only", "edit", tuple(allowed), turn.step, others[0]))
    text = " ".join(prose.sentences)
    return Said(
        turn.step, prose, tuple(_with_exceptions(one, requested) for one in constraints), tuple(requested), orders,
        APPROVAL.search(text) is not None, LIFTED.search(text) is not None, WIDE.search(text) is not None,
    )  # fmt: skip


def _sentence(sentence: str, prose: Prose, step: int) -> tuple[list[Constraint], bool, str]:
    """The constraints of a sentence, whether it forbids all other files, and what of it is free of constraints."""
    words = prose.shown(sentence)
    made: list[Constraint] = []
    free = sentence
    if not _may_constrain(sentence):
        return made, False, free
    for pattern in ONLY:
        for match in pattern.finditer(sentence):
            targets = targets_in(match["list"], prose)
            if targets and EVERYTHING not in targets and not CONDITION.search(sentence[match.end() :]):
                made.append(Constraint("only", "edit", tuple(targets), step, words))
                free = free.replace(match.group(), " ")
    others = any(pattern.search(sentence) for pattern in ALL_OTHERS) and not made
    for pattern in BANS:
        for match in pattern.finditer(free):
            ban = _ban(match, free, prose, step, words)
            if ban is not None:
                made.append(ban)
            free = free.replace(match.group(), " ")
    if CONDITION.search(free) is None:
        made += _other_bans(free, step, words)
    return made, others, free


def _ban(match: "re.Match[str]", sentence: str, prose: Prose, step: int, words: str) -> Constraint | None:
    if match.group().lower().startswith("without") and not _orders(sentence[: match.start()]):
        return None
    targets = targets_in(match["list"], prose)
    rest = sentence[match.end() :]
    if not targets or CONDITION.search(rest) or CONDITION.match(sentence.lstrip()):
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
        exceptions = targets_in(excepted["list"], prose)
    kind: Literal["ban", "ask"] = "ask" if ASKING.search(rest) else "ban"
    return Constraint(
        kind, what, tuple(targets), step, words, tuple(exceptions),
        new_files_too=bans_creation(verbs) or not bans_edits(verbs) or EVERYTHING in targets,
        code_only=EVERYTHING in targets and "code" in match["list"].lower(),
    )  # fmt: skip


def _orders(before: str) -> bool:
    """Whether what stands before `without …` is an order, so that the ban is one too."""
    return ORDERS.search(before) is not None or OPENING.match(before) is not None


def _other_bans(sentence: str, step: int, words: str) -> list[Constraint]:
    kind: Literal["ban", "ask"] = "ask" if ASKING.search(sentence) else "ban"
    made = []
    for pattern in READ_ONLY:
        match = pattern.search(sentence)
        if match:
            code = re.search(r"\b(?:code|coding)\b", match.group(), re.IGNORECASE) is not None
            made.append(Constraint(kind, "edit", (EVERYTHING,), step, words, new_files_too=True, code_only=code))
            break
    if (match := NEW_FILES.search(sentence)) is not None:
        sort = (match["sort"] or "").strip().lower()
        category = {
            "test": "tests",
            "markdown": "markdown",
            "md": "markdown",
            "doc": "docs",
            "documentation": "docs",
            "config": "config",
        }.get(sort)
        target = Target("category", category) if category else EVERYTHING
        made.append(Constraint(kind, "create", (target,), step, words, new_files_too=True))
    for what, pattern in COMMANDS:
        if pattern.search(sentence):
            made.append(Constraint(kind, what, (EVERYTHING,), step, words))
    return made


def _requested(sentence: str, prose: Prose) -> tuple[list[Target], bool]:
    """The files that a sentence asks to be changed, and whether it orders any change."""
    match = ORDERS.search(sentence)
    if match is None:
        return [], False
    negated = NEGATED.search(sentence)
    if negated is not None and negated.start() <= match.start():
        return [], False
    asked = sentence[match.start() : negated.start() if negated else len(sentence)]
    targets: list[Target] = []
    for part in re.split(rf"(?={NAME})|,|\band\b|\bor\b", asked):
        targets += [target for target in targets_in(part, prose) if target != EVERYTHING]
    return targets, True


def _with_exceptions(constraint: Constraint, requested: list[Target]) -> Constraint:
    """A ban of a turn that also asks for one file by name does not forbid that file."""
    if constraint.kind == "only":
        return _replaced(constraint, targets=constraint.targets + tuple(requested))
    named = tuple(one for one in requested if one.sort == "path" and one not in constraint.targets)
    return _replaced(constraint, exceptions=constraint.exceptions + named)


def _followed(constraint: Constraint, later: list[Said]) -> Constraint:
    """A constraint with what later turns add to it, until the turn that lifts it."""
    for said in later:
        if said.lifts or _lifted_by(constraint, said):
            return _replaced(constraint, until=said.step)
        if constraint.kind == "only":
            constraint = _replaced(constraint, targets=constraint.targets + said.requested)
    return constraint


def _lifted_by(constraint: Constraint, said: Said) -> bool:
    again = any(
        overlap(one, other) for newer in said.constraints for one in newer.targets for other in constraint.targets
    )
    text = " ".join(said.prose.sentences)
    if constraint.what in ("install", "commit", "push", "run"):
        asked = re.search(rf"\b{constraint.what}\b", text, re.IGNORECASE) is not None
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


def _replaced(constraint: Constraint, **fields: object) -> Constraint:
    return structs.replace(constraint, **fields)
