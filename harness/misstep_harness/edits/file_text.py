"""Split the text of a file into lines, so that its line ends and the end of its last line are kept.

Only LF and CRLF end a line; a form feed or a lone CR is inside one.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from misstep_harness.errors import EditRefused

_BOM = "\ufeff"


class FileText(Struct, frozen=True):
    """Lines without their ends; `ending` is LF or CRLF, `closed` says whether the last line has it too."""

    lines: Sequence[str]
    ending: str = "\n"
    closed: bool = True
    mark: str = ""

    def joined(self) -> str:
        """Return the text."""
        if not self.lines:
            return self.mark
        return self.mark + self.ending.join(self.lines) + (self.ending if self.closed else "")


def split_file(text: str, path: str) -> FileText:
    """Return the lines of a file."""
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(mark)
    both, feeds = text.count("\r\n"), text.count("\n")
    if 0 < both < feeds:
        message = f"{both} of its lines end in CRLF and {feeds - both} in LF"
        raise EditRefused("mixed_line_endings", message, "Give all lines of the file the same end first.", path=path)
    ending = "\r\n" if both else "\n"
    if not text:
        return FileText((), mark=mark)
    lines = text.split(ending)
    closed = not lines[-1]
    return FileText(lines[:-1] if closed else lines, ending, closed, mark)


def reply_lines(text: str) -> list[str]:
    """Return the lines of a reply, split at LF; a lost end of its last line gets the CR that the line above has."""
    lines = text.removeprefix(_BOM).split("\n")
    if len(lines) > 1 and lines[-1] and lines[-2].endswith("\r") and not lines[-1].endswith("\r"):
        lines[-1] += "\r"
    return lines if lines[-1] else lines[:-1]


def change_groups(old: Sequence[str], new: Sequence[str], around: int = 0) -> list[tuple[int, int, list[str]]]:
    """Return the changes of a text in order: first and last line of the old text, and what replaces them.

    Changes with at most `around` unchanged lines between them are one, together with these lines.
    """
    hunks: list[tuple[int, int, list[str]]] = []
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for _, start, end, first, last in (code for code in codes if code[0] != "equal"):
        if hunks and start - hunks[-1][1] <= around:
            before, until, lines = hunks[-1]
            hunks[-1] = (before, end, [*lines, *old[until:start], *new[first:last]])
        else:
            hunks.append((start, end, list(new[first:last])))
    return hunks


def both_texts(path: str, before: str | None, after: str | None) -> tuple[FileText, FileText]:
    """Return the two texts for a format that cannot say what ends a line or the file."""
    old, new = split_file(before or "", path), split_file(after or "", path)
    ends = old if old.lines else FileText(())
    if new.lines and (ends.closed, ends.ending, old.mark) != (new.closed, new.ending, new.mark):
        raise EditRefused("no_newline_at_end", "the format cannot say how lines and the file end", path=path)
    return old, new


def places_of(block: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Return where a block begins, counted from 0, overlapping places included.

    The search is that of Knuth, Morris and Pratt (1977, SIAM J. Comput. 6:323-350), on lines instead of letters.
    """
    if not block or len(block) > len(lines):
        return []
    back = [0] * len(block)
    fits = 0
    for place in range(1, len(block)):
        while fits and block[place] != block[fits]:
            fits = back[fits - 1]
        fits += block[place] == block[fits]
        back[place] = fits
    places: list[int] = []
    fits = 0
    for place, line in enumerate(lines):
        while fits and line != block[fits]:
            fits = back[fits - 1]
        fits += line == block[fits]
        if fits == len(block):
            places.append(place + 1 - len(block))
            fits = back[fits - 1]
    return places


def only_span(lines: Sequence[str], start: int, end: int, around: int) -> tuple[int, int]:
    """Return the lines around a change, at least `around`, that are at no other place, spaces around them aside."""
    stripped = [line.strip() for line in lines]
    start, end = max(0, start - around), min(len(lines), end + around)
    while (start > 0 or end < len(lines)) and len(places_of(stripped[start:end], stripped)) != 1:
        start, end = max(0, start - 1), min(len(lines), end + 1)
    return start, end


def nearest_place(block: Sequence[str], lines: Sequence[str]) -> int | None:
    """Return where most lines of a block are at the distance that they have in it, spaces around them aside."""
    places: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        if len(at := places.setdefault(line.strip(), [])) < 20:
            at.append(place)
    words = ((place, line.strip()) for place, line in enumerate(block) if any(map(str.isalnum, line)))
    votes = Counter(there - place for place, word in words for there in places.get(word, ()))
    return max(votes, key=lambda start: (votes[start], -abs(start)), default=None)
