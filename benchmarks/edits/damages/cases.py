"""A case: a reply about a file, with what its author meant; and where an edit changes its file."""

from collections.abc import Callable

from msgspec import Struct

from benchmarks.edits.made_edits import PATH, Edit, text_of
from misstep.harness.edits import edit_format
from misstep.harness.edits.changes import Hunk
from misstep.harness.edits.file_text import places_of

FORMATS = ("search_replace", "unified_diff", "line_diff", "patch_envelope")
TAGGED = ("unified_diff", "patch_envelope")
"""The formats that mark each line: added, removed or kept."""


class Case(Struct, frozen=True):
    """A reply about a file; `meant` is what its author wants the file to be, `None` where nothing right can be."""

    format: str
    damage: str
    file: str
    reply: str
    meant: str | None
    tellable: bool


def undamaged(name: str, edit: Edit, before: str | None = None, after: str | None = None) -> Case:
    """Return the undamaged reply, in a fence where the format has none of its own."""
    old = text_of(edit.before) if before is None else before
    new = text_of(edit.after) if after is None else after
    reply = edit_format(name).render(PATH, old, new)
    reply = f"```diff\n{reply}```\n" if name == "unified_diff" else reply
    return Case(name, "", old, reply, new, True)


def edited(before: tuple[str, ...], edit: Edit) -> list[str]:
    """Return the lines of a file after an edit."""
    after = list(before)
    for start, end, new in reversed(edit.places):
        after[start:end] = new
    return after


def lines_near(edit: Edit) -> list[int]:
    """Return the lines that an edit changes, and three on either side."""
    spans = [range(max(0, start - 3), min(len(edit.before), end + 3)) for start, end, _ in edit.places]
    return sorted(set().union(*spans))


def is_changed(edit: Edit, number: int) -> bool:
    """Return whether an edit changes a line."""
    return any(start <= number < end for start, end, _ in edit.places)


def old_blocks(name: str, reply: str) -> list[list[str]]:
    """Return what must be in the file, as Misstep's own reader sees the undamaged reply."""
    return [hunk.old for hunk in _hunks(name, reply)]


def _hunks(name: str, reply: str) -> list[Hunk]:
    return [hunk for file in edit_format(name).parse(reply, PATH).files for hunk in file.hunks]


def stated_places(name: str, reply: str) -> list[tuple[list[str], int]]:
    """Return what must be in the file, and the place that the reply names for it, counted from 0."""
    return [(hunk.old, hunk.at - 1) for hunk in _hunks(name, reply) if hunk.at is not None]


def old_lines(name: str, reply: str) -> list[str]:
    """Return all lines that must be in the file."""
    return [line for block in old_blocks(name, reply) for line in block]


def kept_lines(name: str, reply: str) -> list[str]:
    """Return the lines that stay."""
    return [line.text for hunk in _hunks(name, reply) for line in hunk.lines if line.tag == " "]


def is_unique(name: str, reply: str, file: str, normalise: Callable[[str], str] = str) -> bool:
    """Return whether each block that must be in the file is there once, its lines as `normalise` gives them."""
    lines = [*map(normalise, file.removesuffix("\n").split("\n"))]
    return all(len(places_of([*map(normalise, block)], lines)) == 1 for block in old_blocks(name, reply))


def _body_places(name: str, reply: str) -> list[int]:
    lines = reply.split("\n")
    if name == "search_replace":
        marks = ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE")
        inside, places = False, []
        for number, line in enumerate(lines):
            inside = line == marks[0] or (inside and line != marks[2])
            if inside and line not in marks:
                places.append(number)
        return places
    head = min(number for number, line in enumerate(lines) if line.startswith(("+++ ", "*** Update")))
    return [number for number in range(head + 1, len(lines)) if lines[number][:1] in (" ", "-", "+")]


def body_lines(name: str, reply: str) -> list[str]:
    """Return the lines of code in a reply, without their marks."""
    lines = reply.split("\n")
    marked = name in TAGGED
    return [lines[number][1:] if marked else lines[number] for number in _body_places(name, reply)]


def with_body(name: str, reply: str, change: Callable[[str], str]) -> str:
    """Return a reply with its lines of code changed, their marks kept."""
    lines = reply.split("\n")
    for number in _body_places(name, reply):
        line = lines[number]
        lines[number] = line[0] + change(line[1:]) if name in TAGGED else change(line)
    return "\n".join(lines)
