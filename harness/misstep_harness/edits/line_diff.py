"""Read and write the line diff: only the deleted and added lines, each with its mark and its line number.

    path/to/file.py
    ```
    -2     return a - b
    +2     return a + b
    ```

A line is `-` or `+`, a number, one space, and the text of the line with its own spaces. Behind `-` is the line's
number in the file as it is, behind `+` that in the file as it becomes. Lines may be in any order. Every added line is
directly beside a deleted one, whose text tells a right number from a wrong one: to insert a line, its neighbour is
deleted and added again. Only a new or empty file has added lines alone.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from misstep_harness.edits.applying import apply_edits
from misstep_harness.edits.changes import Edits, FileEdit, Hunk, Tag, hunk_of, is_fence, named_path
from misstep_harness.edits.file_text import both_texts, change_groups, reply_lines
from misstep_harness.errors import EditRefused

NAME = "line_diff"
apply = apply_edits
_LINE = re.compile(r"([-+])(\d{1,9})(?:([ :|\t])(.*))?", re.DOTALL)
_FORM = "Write -NUMBER or +NUMBER, one space and the text."
_SEPARATORS = (" ", ": ", ":", "| ", "|", "\t")

_Numbered = tuple[str, int, str]


def parse(text: str, path: str = "") -> Edits:
    """Return the numbered lines of a reply; raises `EditRefused` if there are none or they contradict each other."""
    lines = reply_lines(text)
    has_fence = any(is_fence(line) for line in lines)
    files: list[tuple[str, list[str]]] = []
    above, fenced, begun = "", False, False
    for number, line in enumerate(lines, 1):
        if is_fence(line):
            fenced, begun = not fenced, False
            above = named_path(line, path) or above if fenced else ""
        elif (fenced or not has_fence) and _LINE.fullmatch(line):
            if above or not files:
                meant = path if above and above == path.rsplit("/", 1)[-1] else above
                files.append((meant or (files[-1][0] if files else path), []))
            above, begun = "", True
            files[-1][1].append(line)
        elif named := named_path(re.sub(r"^(?:--- |\+\+\+ )(?:a/)?(?:b/)?", "", line), path):
            above = named
        elif line.strip():
            above = ""
            if (begun and fenced) or (not has_fence and line[0] in "+-"):
                message = f"line {number} of the reply is not a deleted or added line with its number"
                raise EditRefused("malformed", message, _FORM)
    if fenced and files:
        raise EditRefused("malformed", "the block of lines is not closed", "The reply may have been cut off.")
    if not files:
        raise EditRefused("malformed", "no numbered line", _FORM)
    if not all(name for name, _ in files):
        raise EditRefused("malformed", "no file is named", "Write the path on the line above the lines.")
    return Edits(tuple(FileEdit(name, _hunks(raw_lines)) for name, raw_lines in files), path)


def _hunks(raw_lines: Sequence[str]) -> tuple[Hunk, ...]:
    numbered, rules = _numbered(raw_lines)
    hunks = _grouped(_by_number(numbered, "-"), _by_number(numbered, "+"))
    return tuple(structs.replace(hunk, rules=rules) for hunk in hunks)


def _numbered(raw_lines: Sequence[str]) -> tuple[list[_Numbered], tuple[str, ...]]:
    """Mark, number and text of each line, and the rule that another separator than one space takes."""
    matches = [_LINE.fullmatch(line) for line in raw_lines]
    parts = [(one[1], int(one[2]), (one[3] or "") + (one[4] or "")) for one in matches if one is not None]
    for separator in _SEPARATORS:
        if all(rest.startswith(separator) or not rest.strip(": |\t\r") for _, _, rest in parts):
            cut = len(separator)
            texts = [(mark, at, rest[cut:] if rest.startswith(separator) else "") for mark, at, rest in parts]
            if separator == " ":
                return texts, ()
            if any(mark == "-" and text.strip() for mark, _, text in texts):
                return texts, ("separator",)
    raise EditRefused("malformed", "the text does not follow its number after one space", _FORM)


def _by_number(numbered: Sequence[_Numbered], mark: str) -> dict[int, str]:
    by_number: dict[int, str] = {}
    for number, text in ((number, text) for sign, number, text in numbered if sign == mark):
        if number in by_number or not number:
            message = f"{mark}{number} is there twice" if number else "lines are counted from 1"
            raise EditRefused("malformed", message, "Number the old lines as they are, the new ones as they become.")
        by_number[number] = text
    return by_number


def _grouped(old: dict[int, str], new: dict[int, str]) -> Iterator[Hunk]:
    """Deleted and added lines at the same place, by both numberings."""
    deleted, added = sorted(old), sorted(new)
    one = other = shift = 0
    while one < len(deleted) or other < len(added):
        place = min(deleted[one : one + 1] + [number - shift for number in added[other : other + 1]])
        start, first = place + shift, (one, other)
        while one < len(deleted) and deleted[one] == place + one - first[0]:
            one += 1
        while other < len(added) and added[other] == start + other - first[1]:
            other += 1
        if one == first[0] and (old or place != 1):
            message = f"+{start} is not beside a deleted line"
            advice = "Number the new lines as they become, and delete and add again the line beside an insertion."
            raise EditRefused("hunk_mismatch", message, advice)
        shift += (other - first[1]) - (one - first[0])
        lines: list[tuple[Tag, str]] = [("-", old[number]) for number in deleted[first[0] : one]]
        lines += [("+", new[number]) for number in added[first[1] : other]]
        yield hunk_of(lines, at=place if one > first[0] else None)


def render(path: str, before: str | None, after: str | None) -> str:
    """Return the change as numbered lines; raises `EditRefused` where the format cannot say it."""
    if after is None:
        raise EditRefused("malformed", "the format cannot delete a file", path=path)
    old, new = both_texts(path, before, after)
    output: list[str] = []
    shift = 0
    for start, end, lines in change_groups(old.lines, new.lines, around=1):
        # An insertion is written with the line above it, or the first line of the file below it.
        if start == end and old.lines and start:
            start, lines = start - 1, [old.lines[start - 1], *lines]
        elif start == end and old.lines:
            end, lines = 1, [*lines, old.lines[0]]
        output += [f"-{start + number} {text}" for number, text in enumerate(old.lines[start:end], 1)]
        output += [f"+{start + shift + number} {text}" for number, text in enumerate(lines, 1)]
        shift += len(lines) - (end - start)
    return "\n".join([path, "```", *output, "```", ""])
