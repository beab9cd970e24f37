"""A case: a reply about a file, with what its author meant; and where an edit changes its file."""

from msgspec import Struct

from benchmarks.edits.made_edits import PATH, Edit, text_of
from misstep.harness.edits import edit_format

FORMATS = ("search_replace", "unified_diff", "line_diff", "patch_envelope")


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
    written = edit_format(name).render(PATH, old, new)
    written = f"```diff\n{written}```\n" if name == "unified_diff" else written
    return Case(name, "", old, written, new, True)


def edited(before: tuple[str, ...], edit: Edit) -> list[str]:
    """Return the lines of a file after an edit."""
    after = list(before)
    for start, end, new in reversed(edit.places):
        after[start:end] = new
    return after


def lines_near(edit: Edit) -> list[int]:
    """Return the lines that an edit changes, and three on either side."""
    return sorted(
        {number for start, end, _ in edit.places for number in range(max(0, start - 3), min(len(edit.before), end + 3))}
    )


def is_changed(edit: Edit, number: int) -> bool:
    """Return whether an edit changes a line."""
    return any(start <= number < end for start, end, _ in edit.places)
