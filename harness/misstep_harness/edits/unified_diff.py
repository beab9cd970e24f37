r"""Read and write the unified diff of git and diff.

    --- a/path/to/file.py
    +++ b/path/to/file.py
    @@ -1,3 +1,3 @@
     def add(a, b):
    -    return a - b
    +    return a + b

A hunk belongs where its kept and deleted lines are. Its line number decides between several such places, and may
otherwise be wrong or missing. Its counts may be missing; more lines than it counts are taken, fewer are refused unless
blank ones are wanting at its end.
"""

import re
from collections.abc import Sequence

from msgspec import Struct, structs

from misstep_harness.edits.applying import apply_edits
from misstep_harness.edits.changes import (
    NO_NEWLINE,
    Edits,
    FileEdit,
    Hunk,
    Line,
    Tag,
    hunk_of,
    is_fence,
    marked_lines,
    unquoted,
)
from misstep_harness.edits.file_text import change_groups, reply_lines, split_file
from misstep_harness.errors import EditRefused

NAME = "unified_diff"
apply = apply_edits
_COUNTS = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*", re.DOTALL)
_NUMBER = re.compile(r"@@ ?-(\d{1,9})\b")
_GIT = "diff --git "
_NULL = "/dev/null"
_MOST_BLANK = 3
_REFUSED = {
    "GIT binary patch": "a binary patch",
    "Binary files ": "a binary patch",
    "copy from ": "a copy of a file",
    "new file mode 12": "a symbolic link",
    "new file mode 16": "a submodule",
    "deleted file mode 12": "a symbolic link",
    "@@@": "a combined diff",
}


class _Section(Struct):
    """The lines of one file; `git` are the paths of the line `diff --git`."""

    old: str = ""
    new: str = ""
    git: tuple[str, str] = ("", "")
    renamed: tuple[str, str] = ("", "")
    mode: str = ""
    hunks: list[Hunk] = []
    rules: tuple[str, ...] = ()


def parse(text: str, path: str = "") -> Edits:
    """Return the files of a diff and their hunks; raises `EditRefused` if there is none or one is broken."""
    lines = reply_lines(text)
    sections: list[_Section] = []
    place, fenced = 0, False
    while place < len(lines):
        line = lines[place].rstrip("\r")
        if line.startswith("diff --git "):
            sections.append(_Section(git=_git_names(line)))
        elif _is_header(lines, place):
            if not sections or sections[-1].hunks or sections[-1].old:
                sections.append(_Section())
            sections[-1].old, sections[-1].new = (unquoted(lines[place + side][4:].rstrip("\r")) for side in (0, 1))
            place += 1
        elif line.startswith("@@") and not line.startswith("@@@"):
            if not sections:
                sections.append(_Section(new=path, rules=("file_name",)))
            hunk, place = _hunk(lines, place)
            sections[-1].hunks.append(hunk)
            continue
        elif is_fence(line):
            fenced = not fenced
        elif sections and not sections[-1].hunks:
            _extended(line, sections[-1])
        place += 1
    if fenced and sections:
        raise EditRefused("malformed", "the block of the diff is not closed", "The reply may have been cut off.")
    files = tuple(_file_edit(section, path) for section in sections)
    if not files:
        raise EditRefused("malformed", "no hunk", "Write ---, +++ and @@ lines, then the lines with their marks.")
    return Edits(files, path, says_end=True)


def _git_names(line: str) -> tuple[str, str]:
    """Return the two names of a line `diff --git a/x b/x`, which may be quoted; empty where it does not say them."""
    paths = line.removeprefix(_GIT).rstrip(" ")
    for between in (' "b/', " b/"):
        first, parted, second = paths.rpartition(between)
        if parted and first.startswith(("a/", '"a/')):
            return unquoted(first), unquoted(parted.lstrip(" ") + second)
    names = paths.split(" ")
    return (unquoted(names[0]), unquoted(names[1])) if len(names) == 2 and all(names) else ("", "")


def _is_header(lines: Sequence[str], place: int) -> bool:
    return lines[place].startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")


def _extended(line: str, section: _Section) -> None:
    for start, what in _REFUSED.items():
        if line.startswith(start):
            raise EditRefused("malformed", f"the diff is {what}", "Give the text of files.", path=section.git[1])
    if line.startswith("rename from "):
        section.renamed = (unquoted(line[12:]), section.renamed[1])
    elif line.startswith("rename to "):
        section.renamed = (section.renamed[0], unquoted(line[10:]))
    elif line.startswith(("new file mode", "deleted file mode", "old mode")):
        section.mode = line.split(" ")[0]


def _hunk(lines: Sequence[str], head: int) -> tuple[Hunk, int]:
    counts = _COUNTS.fullmatch(lines[head])
    stated = _NUMBER.match(lines[head])
    at = int(stated[1]) if stated else None
    rules: tuple[str, ...] = () if stated else ("no_line_number",)
    if counts is not None:
        old, new = (1 if counts[side] is None else int(counts[side]) for side in (2, 4))
        at = at if old or not at else at + 1
        end, missing = _counted(lines, head + 1, old, new)
        if missing == (0, 0) and not _goes_on(lines, end):
            return _of_lines(lines[head + 1 : end], at, rules), end
        if min(missing) >= 0 and missing != (0, 0):
            # The missing lines can only be blank ones at its end.
            if missing[0] != missing[1] or missing[0] > _MOST_BLANK or end == head + 1:
                what = f"{missing[0]} old and {missing[1]} new lines of the hunk are missing"
                message, advice = (
                    f"line {head + 1} of the reply: {what}",
                    "Write all of its lines, and counts that fit.",
                )
                raise EditRefused("hunk_mismatch", message, advice)
            hunk = _of_lines(lines[head + 1 : end], at, (*rules, "trailing_blank"))
            return structs.replace(hunk, lines=(*hunk.lines, *[Line(" ", "")] * missing[0])), end
    end = _uncounted_end(lines, head + 1)
    return _of_lines(lines[head + 1 : end], at, (*rules, "counts")), end


def _counted(lines: Sequence[str], place: int, old: int, new: int) -> tuple[int, tuple[int, int]]:
    """The line after as many as are counted, and how many old and new ones are wanting; below 0 if there are more."""
    while place < len(lines) and (old > 0 or new > 0):
        line = lines[place]
        is_next_file = _is_header(lines, place) and "".join(lines[place + 2 : place + 3]).startswith("@@")
        ends = line.startswith(("@@", "diff --git ")) or is_fence(line)
        if ends or (is_next_file and (old, new) != (1, 1)):
            break
        if line[:1] != "\\":
            old -= line[:1] != "+"
            new -= line[:1] != "-"
        if old < 0 or new < 0:
            break
        place += 1
    if (old, new) == (0, 0) and place < len(lines) and lines[place].startswith("\\"):
        place += 1
    return place, (old, new)


def _goes_on(lines: Sequence[str], end: int) -> bool:
    if end >= len(lines) or _is_header(lines, end) or lines[end].rstrip("\r") in ("-- ", "--"):
        return False
    return lines[end][:1] in ("+", "-") or (lines[end][:1] == " " and bool(lines[end].strip()))


def _uncounted_end(lines: Sequence[str], place: int) -> int:
    """The line after the last of a hunk without counts: its lines end at a fence, a header, or prose after a gap."""
    first = place
    while place < len(lines):
        line = lines[place]
        if line.startswith(("@@", "diff --git ")) or is_fence(line) or _is_header(lines, place):
            break
        if line[:1] not in (" ", "", "-", "+", "\\", "\r") and place > first and not lines[place - 1].strip():
            break
        place += 1
    while place > first and not lines[place - 1].strip("\r"):
        place -= 1
    return place


def _of_lines(texts: Sequence[str], at: int | None, rules: tuple[str, ...]) -> Hunk:
    if texts and texts[0].startswith("\\"):
        raise EditRefused("malformed", f"`{NO_NEWLINE}` is below no line", "Write it below the last line.")
    ops, markless = marked_lines(line for line in texts if not line.startswith("\\"))
    opened: dict[Tag, int] = {}
    for number, place in enumerate(place for place, line in enumerate(texts) if line.startswith("\\")):
        opened[ops[place - number - 1][0]] = place - number
    if not ops:
        raise EditRefused("malformed", "a hunk has no lines", "Write the lines below @@ with their marks.")
    lasts = {side: max((n for n, (tag, _) in enumerate(ops, 1) if tag in side), default=0) for side in ("- ", "+ ")}
    old_open = any(tag != "+" for tag in opened)
    new_open = any(tag != "-" for tag in opened)
    for tag, number in opened.items():
        if any(tag in side and number != last for side, last in lasts.items()):
            message = f"`{NO_NEWLINE}` is below a line that is not the last"
            raise EditRefused("no_newline_at_end", message, "Write it below the last line.")
    endless = {number - 1 for number in opened.values()}
    return hunk_of(
        ops, endless, at=at, markless=markless, old_open=old_open, new_open=new_open, at_end=old_open, rules=rules
    )


def _file_edit(section: _Section, known: str) -> FileEdit:
    old, new = section.old or section.git[0], section.new or section.git[1]
    before, after = _prefixes(section.git, (old, new))
    if _NULL in (old, new) or section.git != ("", "") or (old[:2], new[:2]) == (before, after):
        old, new = old.removeprefix(before), new.removeprefix(after)
    hunks, rules = tuple(section.hunks), section.rules
    if not new and not old:
        raise EditRefused("malformed", "a hunk names no file", "Write --- and +++ lines with the path above it.")
    if old == _NULL or section.mode == "new":
        if any(hunk.old for hunk in hunks):
            raise EditRefused("hunk_mismatch", "a new file has lines that are kept or deleted", path=new)
        return FileEdit(new, hunks, "create", rules=rules)
    if new == _NULL or section.mode == "deleted":
        if any(hunk.new for hunk in hunks):
            raise EditRefused("hunk_mismatch", "a deleted file's lines are not all there", path=old)
        return FileEdit(old, hunks, "delete", rules=rules)
    if all(section.renamed):
        return FileEdit(section.renamed[0], hunks, move_to=section.renamed[1], rules=rules)
    if not hunks:
        raise EditRefused("malformed", "a file is named and has no hunk", "Write its hunks, or leave it out.", path=new)
    rules = (*rules, "mode_left_out") if section.mode else rules
    if old and old != new:
        if not known:
            message = f"the lines --- and +++ name two files, {old} and {new}"
            raise EditRefused("malformed", message, "Name one, or say `rename from` and `rename to`.")
        rules, new = (*rules, "file_name"), new if new == known else known
    return FileEdit(new, hunks, rules=rules)


def _prefixes(*names: tuple[str, str]) -> tuple[str, str]:
    """Return what two names of one file begin with: `a/` and `b/`, or another letter each (`diff.mnemonicPrefix`)."""
    for old, new in names:
        if old[1:2] == new[1:2] == "/" and old[2:] == new[2:] and old != new:
            return old[:2], new[:2]
    return "a/", "b/"


def render(path: str, before: str | None, after: str | None, around: int = 3) -> str:
    """The change as git writes it, with `around` lines above and below; raises `EditRefused` if there is none."""
    if before == after:
        raise EditRefused("unchanged", "nothing changes", path=path)
    ends = {split_file(text, path).ending for text in (before, after) if text}
    if len(ends) > 1:
        raise EditRefused("mixed_line_endings", "the format cannot change how lines end", path=path)
    old, new = _marked_lines(before, path), _marked_lines(after, path)
    name = f"diff --git a/{path} b/{path}\n"
    head = f"--- {_NULL if before is None else f'a/{path}'}\n+++ {_NULL if after is None else f'b/{path}'}\n"
    groups = change_groups(old, new)
    body, shift, at = "", 0, 0
    while at < len(groups):
        until = at + 1
        while until < len(groups) and groups[until][0] - groups[until - 1][1] <= 2 * around:
            until += 1
        text, shift = _hunk_text(groups[at:until], old, around, shift)
        body += text
        at = until
    mode = f"{'new' if before is None else 'deleted'} file mode 100644\n"
    return name + (head if body else mode) + body


def _marked_lines(text: str | None, path: str) -> list[str]:
    file = split_file(text or "", path)
    lines = [f"{line}{file.ending}" for line in file.lines]
    if lines and not file.closed:
        lines[-1] = f"{file.lines[-1]}\n{NO_NEWLINE}\n"
    if lines:
        lines[0] = file.mark + lines[0]
    return lines


def _hunk_text(
    groups: Sequence[tuple[int, int, list[str]]], old: Sequence[str], around: int, shift: int
) -> tuple[str, int]:
    first, last = max(0, groups[0][0] - around), min(len(old), groups[-1][1] + around)
    marked: list[tuple[str, str]] = []
    at = first
    for start, end, lines in [*groups, (last, last, [])]:
        marked += [(" ", text) for text in old[at:start]]
        marked += [("-", text) for text in old[start:end]]
        marked += [("+", text) for text in lines]
        at = end
    counts = [sum(tag != other for tag, _ in marked) for other in ("+", "-")]
    starts = [first + bool(counts[0]), first + shift + bool(counts[1])]
    ranges = [f"{start}" if count == 1 else f"{start},{count}" for start, count in zip(starts, counts, strict=True)]
    body = "".join(f"{tag}{text}" for tag, text in marked)
    return f"@@ -{ranges[0]} +{ranges[1]} @@\n{body}", shift + counts[1] - counts[0]
