"""Damage to where an edit belongs: its numbers, copies of its place, a file that has changed since."""

import re
from random import Random

from msgspec import structs

from benchmarks.edits.damages.cases import (
    Case,
    edited,
    is_changed,
    is_unique,
    lines_near,
    old_blocks,
    old_lines,
    stated_places,
    undamaged,
)
from benchmarks.edits.made_edits import Edit, text_of
from misstep.harness.edits.file_text import places_of

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$", re.MULTILINE)
_NUMBERED = re.compile(r"^([-+])(\d+) ", re.MULTILINE)


def line_numbers(draw: Random, name: str, edit: Edit) -> Case | None:
    """All line numbers are off by the same; the text is right."""
    shift = draw.choice((-7, -3, -1, 1, 2, 5, 40))
    case = undamaged(name, edit)
    if name == "unified_diff":
        reply = _HUNK.sub(
            lambda one: (
                f"@@ -{max(1, int(one[1]) + shift)}{',' + one[2] if one[2] else ''}"
                f" +{max(1, int(one[3]) + shift)}{',' + one[4] if one[4] else ''} @@"
            ),
            case.reply,
        )
    elif name == "line_diff":
        reply = _NUMBERED.sub(lambda one: f"{one[1]}{max(1, int(one[2]) + shift)} ", case.reply)
    else:
        return None
    if reply == case.reply:
        return None
    # A unified diff shows where it belongs; in a line diff the number is the place, and the text only its check.
    unique = name == "unified_diff" and is_unique(name, reply, case.file)
    return structs.replace(case, reply=reply, tellable=unique)


def no_counts(draw: Random, name: str, edit: Edit) -> Case | None:
    """The reply names no line numbers."""
    case = undamaged(name, edit)
    with_what = draw.choice(("@@ @@", "@@", "@@ ... @@"))
    reply = _HUNK.sub(lambda _: with_what, case.reply)
    if name != "unified_diff":
        return None
    return structs.replace(case, reply=reply, tellable=is_unique(name, case.reply, case.file))


def wrong_counts(draw: Random, name: str, edit: Edit) -> Case | None:
    """Counts that are too small; too large ones are those of a reply that was cut off."""
    if name != "unified_diff":
        return None
    case = undamaged(name, edit)
    less = draw.choice((1, 2))
    reply = _HUNK.sub(
        lambda one: f"@@ -{one[1]},{max(1, int(one[2] or 1) - less)} +{one[3]},{max(1, int(one[4] or 1) - less)} @@",
        case.reply,
    )
    return structs.replace(case, reply=reply) if reply != case.reply else None


def duplicated(draw: Random, name: str, edit: Edit) -> Case | None:
    """The lines around the first change are there a second time, above: numbers and places that were right are not."""
    start, end, _ = edit.places[0]
    first, last = max(0, start - 6), min(len(edit.before), end + 6)
    copy = edit.before[first:last]
    above = draw.random() < 0.5
    at = 0 if above else len(edit.before)
    file = (*edit.before[:at], *copy, *edit.before[at:])
    meant = (*copy, *edit.after) if above else (*edit.after, *copy)
    case = undamaged(name, edit)
    if above and any(at in places_of(block, file) for block, at in stated_places(name, case.reply)):
        return None  # the reply itself then says that it means the copy
    numbered = name in ("unified_diff", "line_diff") and not above
    unique = all(len(places_of(block, file)) == 1 for block in old_blocks(name, case.reply))
    return structs.replace(case, file=text_of(file), meant=text_of(meant), tellable=numbered or unique)


def stale(draw: Random, name: str, edit: Edit) -> Case | None:
    """Someone changed a line that the reply shows: where it is one that stays, the edit may still be meant as it is."""
    case = undamaged(name, edit)
    shown = [line for line in old_lines(name, case.reply) if sum(map(str.isalnum, line)) > 6]
    if not shown:
        return None
    line = draw.choice(shown)
    at = [number for number in lines_near(edit) if edit.before[number] == line]
    if len(at) != 1:
        return None
    now = list(edit.before)
    now[at[0]] = (
        f"{line.rstrip()}  # {draw.choice(('checked', 'see below', 'kept'))}"
        if draw.random() < 0.5
        else (line[: len(line) - len(line.lstrip())] + f"changed_{draw.randint(1, 99)} = True")
    )
    hunks = old_blocks(name, case.reply)
    if all(places_of(block, now) for block in hunks):
        return None
    meant = None if is_changed(edit, at[0]) else text_of(edited(tuple(now), edit))
    return structs.replace(case, file=text_of(now), meant=meant, tellable=False)


def half(draw: Random, name: str, edit: Edit) -> Case | None:
    """One of several places does not fit: nothing may be changed."""
    if len(edit.places) < 2:
        return None
    case = stale(draw, name, edit)
    return case if case is not None and len(old_blocks(name, case.reply)) > 1 else None
