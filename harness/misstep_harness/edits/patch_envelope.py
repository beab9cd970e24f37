"""Read and write the patch envelope that current models emit, with its files one after the other.

    *** Begin Patch
    *** Update File: path/to/file.py
    *** Move to: path/to/other.py
    @@ class Calculator
    @@     def add(self, a, b):
         total = a
    -    return total - b
    +    return total + b
    *** End of File
    *** Add File: path/to/new.py
    +print("new")
    *** Delete File: path/to/old.py
    *** End Patch

`@@` opens each place of a file, the first may go without it; the lines behind `@@` are above the place, outermost
first, and choose between equal places. `*** End of File` says that the last line above is the file's last, and below
added lines alone that they go there.
"""

import re
from collections.abc import Sequence

from msgspec import structs

from misstep_harness.edits.applying import apply_edits
from misstep_harness.edits.changes import Edits, FileEdit, Hunk, Tag, hunk_of, marked_lines
from misstep_harness.edits.file_text import both_texts, change_groups, only_span, reply_lines
from misstep_harness.errors import EditRefused

NAME = "patch_envelope"
apply = apply_edits
_BEGIN, _END, _END_OF_FILE, _MOVE = "*** Begin Patch", "*** End Patch", "*** End of File", "*** Move to: "
_FILES = {"*** Update File: ": "update", "*** Add File: ": "create", "*** Delete File: ": "delete"}
_NUMBERS = re.compile(r"-\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? ?@@(.*)", re.DOTALL)


def parse(text: str, path: str = "") -> Edits:
    """Return the files of a reply's envelopes; raises `EditRefused` if there is none or one is broken."""
    lines = reply_lines(text)
    files: list[FileEdit] = []
    place = 0
    while place < len(lines):
        place += 1
        if lines[place - 1].strip() != _BEGIN:
            continue
        end = next((at for at in range(place, len(lines)) if lines[at].strip() in (_END, _BEGIN)), len(lines))
        if end == len(lines) or lines[end].strip() == _BEGIN:
            message = f"the patch from line {place} of the reply has no `{_END}`"
            advice = "The reply may have been cut off: write the patch again to its end."
            raise EditRefused("malformed", message, advice)
        files += _files(lines[place:end], place)
        place = end + 1
    if not files:
        raise EditRefused("malformed", f"no `{_BEGIN}` with a file", f"Write {_BEGIN}, the files, {_END}.")
    return Edits(tuple(files), path)


def _files(lines: Sequence[str], offset: int) -> list[FileEdit]:
    heads = [place for place, line in enumerate(lines) if line.startswith(tuple(_FILES))]
    before = [line for line in lines[: heads[0] if heads else len(lines)] if line.strip()]
    if before or not heads:
        message = f"line {offset + 1} of the reply names no file" if before else "the patch has no file"
        advice = "Write *** Update File:, *** Add File: or *** Delete File: and the path."
        raise EditRefused("malformed", message, advice)
    ends = [*heads[1:], len(lines)]
    return [_file(lines[head:end]) for head, end in zip(heads, ends, strict=True)]


def _file(lines: Sequence[str]) -> FileEdit:
    head, _, path = lines[0].partition(": ")
    path, body = path.strip(), list(lines[1:])
    kind = _FILES[f"{head}: "]
    while body and not body[-1].strip("\r"):
        body.pop()
    if kind == "delete":
        if body:
            raise EditRefused("malformed", "lines are below *** Delete File", "Leave them out.", path=path)
        return FileEdit(path, kind="delete")
    if kind == "create":
        if wrong := next((line for line in body if line.strip("\r") and line[0] != "+"), ""):
            message = f"`{wrong[:60]}` in a new file has no +"
            raise EditRefused("malformed", message, "Begin every line of a new file with +.", path=path)
        added: list[tuple[Tag, str]] = [("+", line.removeprefix("+")) for line in body]
        return FileEdit(path, (hunk_of(added),) if added else (), "create")
    move = body.pop(0).removeprefix(_MOVE).strip() if body and body[0].startswith(_MOVE) else ""
    if not body and not move:
        raise EditRefused("malformed", "the file has no changed lines", "Write them, or leave it out.", path=path)
    return FileEdit(path, _hunks(body, path), move_to=move)


def _hunks(body: Sequence[str], path: str) -> tuple[Hunk, ...]:
    hunks: list[Hunk] = []
    anchors: list[str] = []
    body_lines: list[str] = []
    rules: tuple[str, ...] = ()
    first = next((place for place, line in enumerate(body) if line.strip("\r")), 0)
    opened = body[first].startswith("@@")  # then blank lines above it are none of the file
    for line in [*body[first if opened else 0 :], "@@"]:
        at_end = line.rstrip() == _END_OF_FILE
        if not at_end and not line.startswith("@@"):
            body_lines.append(line)
            continue
        if body_lines or at_end:
            hunks.append(structs.replace(_hunk(body_lines, at_end, path), anchors=tuple(anchors), rules=rules))
            anchors, body_lines, rules = [], [], ()
        if _NUMBERS.fullmatch(behind := line[2:].strip()):
            rules = ("line_numbers_left_out",)
        elif behind and not at_end:
            anchors.append(behind)
    if anchors:
        raise EditRefused("malformed", "no line is below the last @@", "Write its lines, or leave it out.", path=path)
    return tuple(hunks)


def _hunk(body_lines: Sequence[str], at_end: bool, path: str) -> Hunk:
    lines = list(body_lines)
    while lines and not lines[-1].strip("\r"):
        lines.pop()
    wrong = next((line for line in lines if line.startswith("*** ")), None)
    if wrong is not None:
        raise EditRefused("malformed", f"`{wrong[:60].strip()}` is not a line of a patch", path=path)
    if not any(line[:1] in ("-", "+") for line in lines):
        raise EditRefused("malformed", "a place has no - and no + line", "Mark what changes.", path=path)
    ops, markless = marked_lines(lines)
    return hunk_of(ops, markless=markless, at_end=at_end)


def render(path: str, before: str | None, after: str | None, around: int = 3) -> str:
    """The change with at least `around` lines above and below, and as many more as make each place the only one."""
    if after is None:
        return f"{_BEGIN}\n*** Delete File: {path}\n{_END}\n"
    old, new = both_texts(path, before, after)
    if before is None:
        return "\n".join([_BEGIN, f"*** Add File: {path}", *(f"+{line}" for line in new.lines), _END, ""])
    output = [_BEGIN, f"*** Update File: {path}"]
    spans: list[tuple[int, int, list[tuple[int, int, list[str]]]]] = []
    for group in change_groups(old.lines, new.lines):
        groups = [group]
        start, end = only_span(old.lines, group[0], group[1], around)
        while spans and start <= spans[-1][1]:
            before_start, _, earlier = spans.pop()
            groups = [*earlier, *groups]
            start, end = min(start, before_start), max(end, only_span(old.lines, before_start, end, 0)[1])
        spans.append((start, end, groups))
    for start, end, groups in spans:
        output.append("@@")
        at = start
        for first, last, lines in groups:
            output += [f" {line}" for line in old.lines[at:first]]
            output += [f"-{line}" for line in old.lines[first:last]]
            output += [f"+{line}" for line in lines]
            at = last
        output += [f" {line}" for line in old.lines[at:end]]
        output += [_END_OF_FILE] if not old.lines else []
    return "\n".join([*output, _END, ""])
