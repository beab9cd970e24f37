"""Applies what an edit says to files: all of it, or nothing and the reason why not."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import structs

from misstep_harness.edits.changes import Applied, Edits, FileEdit, Hunk, Read, Receipt
from misstep_harness.edits.ellipsis import left_out
from misstep_harness.edits.file_paths import checked_path
from misstep_harness.edits.file_text import FileText, split_file
from misstep_harness.edits.locating import Place, locate
from misstep_harness.errors import EditRefused


class _Span(NamedTuple):
    start: int
    end: int
    new: list[str]


def apply_edits(edits: Edits, read: Read) -> Applied:
    """Return what becomes of the files."""
    files = _Files(read)
    receipts = [receipt for edit in edits.files for receipt in _applied(edit, edits, files)]
    changed = {path: text for path, text in files.now.items() if text != read(path)}
    if not changed:
        raise EditRefused("unchanged", "nothing would change", "Leave it out, or give the lines as they are to be.")
    return Applied(changed, tuple(receipts))


class _Files:
    """The files as far as they are edited; nothing is written."""

    def __init__(self, read: Read) -> None:
        self.now: dict[str, str | None] = {}
        self._read = read

    def text(self, path: str) -> str | None:
        return self.now[path] if path in self.now else self._read(path)


def _applied(edit: FileEdit, edits: Edits, files: _Files) -> list[Receipt]:
    path, rules = _found_path(edit, edits.path, files)
    text = files.text(path)
    if text is not None and edit.kind == "create":
        raise EditRefused("exists", "the file is to be created and exists", "Update it, or give a new path.", path=path)
    read_first = edit.hunks[:1] if edits.in_turn else edit.hunks
    needed = not edit.hunks or any(hunk.old for hunk in read_first)
    if text is None and edit.kind != "create" and needed:
        raise EditRefused("no_such_file", "there is no such file", "Give a path from the root of the tree.", path=path)
    receipts: list[Receipt] = []
    if edit.hunks:
        text, receipts = _changed(text, edit, edits, path, rules)
    elif edit.kind == "create":
        text, receipts = "", [Receipt(path, _rule(rules), (0, 0))]
    elif edit.kind == "delete" or edit.move_to:
        receipts = [Receipt(path, _rule(rules), (0, 0))]
    if edit.kind == "delete":
        if text and (edit.hunks or edits.says_end):
            message = "the file is to be deleted, and lines of it are left"
            raise EditRefused("hunk_mismatch", message, "Delete all of its lines.", path=path)
        text = None
    files.now[path] = text
    to = checked_path(edit.move_to) if edit.move_to else path
    if to != path:
        if files.text(to) is not None:
            message = f"{path} is to be moved there, and the file exists"
            raise EditRefused("exists", message, "Give a new path.", path=to)
        files.now[to], files.now[path] = text, None
    return receipts


def _found_path(edit: FileEdit, known: str, files: _Files) -> tuple[str, tuple[str, ...]]:
    """Return the path that is meant: as written, or that which was asked about where the reply names only its end."""
    path = checked_path(edit.path)
    if edit.kind == "create" or files.text(path) is not None:
        return path, edit.rules
    known = checked_path(known) if known else ""
    if known.endswith(f"/{path}") and files.text(known) is not None:
        return known, (*edit.rules, "file_name")
    return path, edit.rules


def _changed(
    text: str | None, edit: FileEdit, edits: Edits, path: str, rules: tuple[str, ...]
) -> tuple[str, list[Receipt]]:
    file = split_file(text or "", path)
    if "\n" not in (text or "") and edit.hunks[0].crlf:  # the file does not say how its lines end
        file = structs.replace(file, ending="\r\n")
    kinds = {line[0] for line in file.lines if line[:1] in (" ", "\t") and line.strip()}
    receipts: list[Receipt] = []
    spans: list[_Span] = []
    closed = file.closed
    for hunk in edit.hunks:
        if hunk.old and (lazy := left_out(hunk.lines)):
            message = f"`{lazy.strip()[:80]}` is to be added, and stands for lines that are left out"
            raise EditRefused("ellipsis", message, "Write the lines out.", path=path)
        if hunk.old:
            places = locate(hunk, file.lines, path)
        elif not file.lines or hunk.at_end:
            places = [Place(len(file.lines), hunk.lines)]
        else:
            message = "new lines are to be added, and no line of the file says where"
            advice = "Show the line above or below the new ones as it is."
            raise EditRefused("absent", message, advice, path=path)
        ends_differ = file.lines and any(line.text for line in hunk.lines) and hunk.crlf != (file.ending == "\r\n")
        added = (*rules, *hunk.rules, *(("line_endings",) if ends_differ else ()))
        for place in places:
            _expect_indent(place, kinds, path)
            ends, said_by = _end(hunk, place, file, edits, path)
            closed = closed if ends is None else ends
            receipts.append(
                Receipt(path, _rule((*added, *place.rules, *said_by)), (place.start + 1, place.start + place.length))
            )
            spans += _spans(place)
        if edits.in_turn:
            file = structs.replace(file, lines=_replaced(file.lines, spans, path), closed=closed)
            spans = []
    return structs.replace(file, lines=_replaced(file.lines, spans, path), closed=closed).joined(), receipts


def _expect_indent(place: Place, kinds: set[str], path: str) -> None:
    """Refuse new lines that are indented by tabs in a file that has only spaces for it, or by spaces in one of tabs."""
    if len(kinds) != 1 or place.length == 0:
        return
    other = "\t" if " " in kinds else "  "
    for line in place.lines:
        if line.tag == "+" and line.text.startswith(other) and line.text.strip():
            what = "tabs" if other == "\t" else "spaces"
            message = f"`{line.text.strip()[:60]}` is indented by {what}, and no line of the file is"
            raise EditRefused("hunk_mismatch", message, "Indent as the file does.", path=path)


def _spans(place: Place) -> list[_Span]:
    spans: list[_Span] = []
    at = place.start
    for is_context, run in groupby(place.lines, lambda line: line.tag == " "):
        lines = list(run)
        end = at + sum(line.tag != "+" for line in lines)
        if not is_context:
            spans.append(_Span(at, end, [line.text for line in lines if line.tag == "+"]))
        at = end
    return spans


def _replaced(lines: Sequence[str], spans: Sequence[_Span], path: str) -> list[str]:
    new: list[str] = []
    at = 0
    last: _Span | None = None
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        if last is not None and (span.start < last.end or (span.start, span.end) == (last.start, last.end)):
            message = f"two changes are of line {span.start + 1}"
            raise EditRefused("hunk_mismatch", message, "Write them as one.", path=path)
        new += lines[at : span.start]
        new += span.new
        at, last = span.end, span
    return [*new, *lines[at:]]


def _end(hunk: Hunk, place: Place, file: FileText, edits: Edits, path: str) -> tuple[bool | None, tuple[str, ...]]:
    """Return whether the last line has a line end after the hunk (`None`: as before), and the rule that this took."""
    reaches = place.start + place.length == len(file.lines)
    if not edits.says_end:
        return None, ()
    advice = "Write `\\ No newline at end of file` below a last line without one, and only there."
    if (hunk.old_open or hunk.new_open) and not reaches:
        raise EditRefused("no_newline_at_end", "a line without line end is not the last", advice, path=path)
    if not reaches:
        return None, ()
    if file.lines and hunk.old_open == file.closed and hunk.old:
        if not hunk.old_open and hunk.lines[-1].tag == " ":
            return None, ("final_newline",)
        has = "has a line end" if file.closed else "has no line end"
        message = f"the last line of the file {has}, which the hunk denies"
        raise EditRefused("no_newline_at_end", message, advice, path=path)
    return not hunk.new_open, ()


def _rule(rules: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(rules)) or "exact"
