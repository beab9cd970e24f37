"""What differs between two texts, for writing it down in one of the formats."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from misstep.harness.edits.file_text import FileText, split_file
from misstep.harness.errors import EditRefused


def change_groups(old: Sequence[str], new: Sequence[str], around: int = 0) -> list[tuple[int, int, list[str]]]:
    """Lines `start` to `end` of the old text and what replaces them, in order.

    Changes with at most `around` unchanged lines between them are one, together with these lines.
    """
    found: list[tuple[int, int, list[str]]] = []
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if found and start - found[-1][1] <= around:
            before, until, lines = found[-1]
            found[-1] = (before, end, [*lines, *old[until:start], *new[first:last]])
        else:
            found.append((start, end, list(new[first:last])))
    return found


def both_texts(path: str, before: str | None, after: str | None) -> tuple[FileText, FileText]:
    """Return the two texts for a format that cannot say what ends a line or the file."""
    old, new = split_file(before or "", path), split_file(after or "", path)
    ends = old if old.lines else FileText(())
    if new.lines and (ends.closed, ends.ending, old.mark) != (new.closed, new.ending, new.mark):
        raise EditRefused("no_newline_at_end", "the format cannot say how lines and the file end", path=path)
    return old, new
