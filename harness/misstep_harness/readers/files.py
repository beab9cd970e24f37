"""Files to trajectories: which reader a file is for, what in it can be read on its own, what is broken.

JSON Lines are a stream: memory does not grow with the file. A broken line, a truncated archive or a wrong encoding
makes one `Unreadable` and the reading goes on; only here may a trajectory fail without failing the run.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate, islice, tee
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import EmptyFile, InputError, ReaderFailed, UnknownFormat, UnreadableTrajectory
from misstep_harness.places import path_text
from misstep_harness.progress import say
from misstep_harness.protocols import Reader, Sample, Shape
from misstep_harness.readers.checking import read_value, refusal
from misstep_harness.readers.input.decoding import (
    LINE_LIMIT,
    UNREADABLE,
    LostLine,
    RowRange,
    decode_json,
    glued_objects,
    is_json,
    whole_lines,
)
from misstep_harness.readers.input.streams import BLOCK, ByteStream, is_plain, open_regular, row_groups
from misstep_harness.readers.input.streams import open_bytes as open_bytes
from misstep_harness.trajectory import Placed, Source, Trajectory, Unreadable

_HIDDEN_BY_THEIR_WRITER = (".aider.chat.history.md",)
_BESIDE_A_DATABASE = (".db-wal", ".db-shm", ".vscdb-wal", ".vscdb-shm", ".vscdb.backup", ".idx")


class FoundFile(Struct, frozen=True):
    """A file to read; `named` when the user named it, rather than a folder that holds it."""

    path: Path
    named: bool


def find_files(paths: Iterable[Path]) -> Iterator[FoundFile]:
    """Return the files among `paths` and in the folders among them, in order of name, as a stream.

    A folder or file that was already reached through a link is not given again; hard links are files of their own.
    Below a named folder what is hidden is left out (but not a chat history that its tool hides), and so are pipes,
    devices and what is kept beside a database. A folder that cannot be listed is given like a file: whoever opens it
    says why.
    """
    walk = _Walk()
    for path in paths:
        try:
            path.stat()
            if path.is_dir():
                for file in walk.files(path):
                    yield FoundFile(file, named=False)
            elif walk.is_new(os.path.realpath(path)):
                yield FoundFile(path, named=True)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", "Check the path.", file=path) from error
        except ValueError as error:
            raise InputError(f"not a path: {error}", "Check the path.", file=repr(str(path))) from error


class _Walk:
    def __init__(self) -> None:
        self._entered: set[tuple[int, int]] = set()
        self._reached: set[str] = set()

    def is_new(self, real: str) -> bool:
        if real in self._reached:
            return False
        self._reached.add(real)
        return True

    def files(self, top: Path) -> Iterator[Path]:
        pending = [top]
        while pending:
            here = pending.pop()
            try:
                status = here.stat()
                if (status.st_dev, status.st_ino) in self._entered:
                    continue
                self._entered.add((status.st_dev, status.st_ino))
                real = os.path.realpath(here)
                with os.scandir(here) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError:
                if here is top:
                    raise
                yield here
                continue
            folders = []
            for entry in entries:
                if is_left_out(entry.name):
                    continue
                if _is(entry.is_dir):
                    folders.append(here / entry.name)
                elif _is(entry.is_file):
                    reached = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(real, entry.name)  # noqa: PTH118 (100,000 of them)
                    if self.is_new(reached):
                        yield here / entry.name
            pending.extend(reversed(folders))


def is_left_out(name: str) -> bool:
    """Return whether a name below a named folder is passed over: it is hidden, or kept beside a database."""
    hidden = name.startswith(".") and name not in _HIDDEN_BY_THEIR_WRITER
    return hidden or name.endswith(_BESIDE_A_DATABASE)


def _is(kind: Callable[[], bool]) -> bool:
    try:
        return kind()
    except OSError:  # a link to itself
        return False


def line_cuts(file: BinaryIO, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Return offset, size and first line of each part of at least `part_bytes` that ends with a line."""
    first_line, offset, line, position = 1, 0, 1, 0
    while block := file.read(BLOCK):
        place = block.find(b"\n")  # line by line: lines are long, and `count` looks at each byte
        while place >= 0:
            line += 1
            end = position + place + 1
            if end - offset >= part_bytes:
                yield offset, end - offset, first_line
                offset, first_line = end, line
            place = block.find(b"\n", place + 1)
        position += len(block)
    if position > offset:
        yield offset, position - offset, first_line


SLICE_BYTES = 32 << 20
"""Bytes: a row group of twice as many is cut between its rows. Each slice unpacks what is before it in the group."""


def group_cuts(groups: Sequence[tuple[int, int]], part_bytes: int) -> Iterator[RowRange]:
    """Return row groups of at least `part_bytes` together, in order, and slices of long ones."""
    lines = accumulate((count for count, _ in groups), initial=1)
    stretch: list[tuple[int, int]] = []
    size = 0
    for number, (line, (rows, length)) in enumerate(zip(lines, groups, strict=False)):
        slices = min(rows, length // max(part_bytes, SLICE_BYTES))
        if slices > 1 and not stretch:
            yield from _sliced(number, line, rows, slices)
            continue
        stretch.append((number, line))
        size += length
        if size >= part_bytes or number == len(groups) - 1:
            yield RowRange(stretch[0][0], number + 1, stretch[0][1])
            stretch, size = [], 0


def _sliced(group: int, line: int, rows: int, slices: int) -> Iterator[RowRange]:
    for place in range(slices):
        skip, end = rows * place // slices, rows * (place + 1) // slices
        yield RowRange(group, group + 1, line + skip, skip, end - skip)


DOCUMENT_LIMIT = 512 << 20
"""Bytes: a longer JSON document or text is an error."""

HEAD = 64 << 10
_BLANKS = b" \t\r\n\x00"
_PROBED_LINES = 20


class Part(Struct, frozen=True):
    """A part of a file that can be read on its own: whole (`size` None), or whole lines of JSON Lines.

    `offset` and `size` are in bytes, `first_line` counts from 1; `rows` are those of a Parquet file.
    """

    path: Path
    format: str
    shape: Shape
    offset: int = 0
    size: int | None = None
    first_line: int = 1
    rows: RowRange | None = None


def sample_file(path: Path) -> Sample:
    """Return what a reader sees of a file to tell whether it is one of its own."""
    with open_bytes(path) as stream:
        line_number, line = _first_line(stream, path)
        more = stream.read(max(1, HEAD - len(line)))
        head = (line[:HEAD] + more).decode(errors="replace")
        if not line.lstrip(_BLANKS).startswith((b"{", b"[")):
            return Sample(path, "text", None, head)
        try:
            first = decode_json(line, Source(format="", file=path_text(path), line=line_number))
        except UnreadableTrajectory as error:
            broken = error
        else:
            return Sample(path, "lines" if stream.of_rows or _goes_on(stream, more) else "document", first, head)
    return _sample_of_broken_first_line(path, head, line, broken)


def _first_line(stream: ByteStream, path: Path) -> tuple[int, bytes]:
    too_long: Unreadable | None = None
    for number, line in _lines(stream, path):
        if isinstance(line, bytes):
            if line.strip(_BLANKS):
                return number, line
            continue
        too_long = too_long or line
    if (cut := _cut(stream)) is not None:
        raise UnreadableTrajectory(cut, file=path)
    if too_long is not None:
        raise UnreadableTrajectory(too_long.error, file=path, line=too_long.line)
    raise EmptyFile("the file is empty", file=path)


def _goes_on(stream: ByteStream, more: bytes) -> bool:
    """Return whether anything but space is after the first line, or would be, had the stream not broken off."""
    while more:
        if not more.isspace():
            return True
        more = stream.read(BLOCK)
    return stream.broken is not None


def _sample_of_broken_first_line(path: Path, head: str, line: bytes, error: UnreadableTrajectory) -> Sample:
    """Show a first line that is not JSON: a document over many lines, or a broken line."""
    limit = DOCUMENT_LIMIT if line.strip() in (b"{", b"[") else LINE_LIMIT
    with open_bytes(path) as stream:
        whole = stream.read_up_to(limit + 1)
        cut = _cut(stream)
    if len(whole) <= limit and cut is None:
        try:
            return Sample(path, "document", decode_json(whole, Source(format="", file=path_text(path))), head)
        except UnreadableTrajectory as broken:
            error = broken
    del whole
    with open_bytes(path) as stream:
        for line_number, probed in islice(_filled_lines(stream, path), _PROBED_LINES):
            value = _first_object(probed, Source(format="", file=path_text(path), line=line_number))
            if value is not None:
                return Sample(path, "lines", value, head)
    raise error if cut is None else UnreadableTrajectory(cut, file=path)


def _first_object(line: bytes, source: Source) -> dict[str, Any] | None:
    """Return the object on a line, or the first of several: a document with something behind it is none."""
    try:
        value = decode_json(line, source)
    except UnreadableTrajectory:
        whole, left = glued_objects(line)
        value = decode_json(whole[0], source) if whole and not (left and len(whole) == 1) else None
    return value if isinstance(value, dict) else None


def lost_in(path: Path, error: UnreadableTrajectory) -> Iterator[Unreadable]:
    """Return what is unreadable of a file that cannot be read: of a table each row that is lost, else the file."""
    rows: list[Unreadable] = []
    with suppress(InputError), open_bytes(path) as stream:
        rows = [line for _, line in _lines(stream, path) if isinstance(line, Unreadable)] if stream.of_rows else []
    yield from rows or [Unreadable(path_text(path), error.line_number, error.found)]


def _cut(stream: ByteStream) -> str | None:
    return None if stream.broken is None else f"cannot be read to its end: {stream.broken}"


def _filled_lines(stream: ByteStream, path: Path) -> Iterator[tuple[int, bytes]]:
    for number, line in _lines(stream, path):
        if isinstance(line, bytes):
            yield number, line


def _lines(stream: ByteStream, path: Path, first: int = 1) -> Iterator[tuple[int, bytes | Unreadable]]:
    number = first - 1
    while line := stream.next_line(LINE_LIMIT + 1):
        number += 1
        if len(line) > LINE_LIMIT:
            while line and not line.endswith(b"\n"):
                line = stream.readline(BLOCK)
            yield number, Unreadable(path_text(path), number, f"a line over {LINE_LIMIT >> 20} MiB")
        elif line.startswith(_NOT_TO_BE_HAD):
            yield number, Unreadable(path_text(path), number, _why(line))
        elif stream.broken is not None and not line.endswith(b"\n"):
            number -= 1
            break
        elif not line.isspace():
            yield number, line
    if stream.broken is not None:
        yield number + 1, Unreadable(path_text(path), number + 1, f"cannot be read further: {stream.broken}")


_NOT_TO_BE_HAD = b'{"%b":"' % UNREADABLE.encode()
"""The start of the line that replaces a row that cannot be read."""


def _why(line: bytes) -> str:
    try:
        return str(decode_json(line, Source(""))[UNREADABLE])
    except UnreadableTrajectory as error:
        return error.found


def recognise(sample: Sample, readers: Iterable[Reader]) -> Reader:
    """Return the reader that a file is for."""
    reasons = {}
    failed: ReaderFailed | None = None
    for reader in readers:
        try:
            reason = refusal(reader, sample)
        except ReaderFailed as error:
            failed = failed or error
            continue
        if reason is None:
            return reader
        reasons[reader.FORMAT] = reason
    raise failed or UnknownFormat(sample.path, reasons, _nearest(sample, reasons))


def _recognised(path: Path, readers: Iterable[Reader]) -> tuple[Reader, Shape]:
    """Return the reader of a file and its shape; the next rows of a table tell if no reader knows the first."""
    candidates, again = tee(readers)
    try:
        sample = sample_file(path)
        return recognise(sample, candidates), sample.shape
    except (UnknownFormat, UnreadableTrajectory):
        known = tuple(again)
        for row in _samples_of_rows(path):
            with suppress(UnknownFormat):
                return recognise(row, known), row.shape
        raise


def _samples_of_rows(path: Path) -> Iterator[Sample]:
    with open_bytes(path) as stream:
        if not stream.of_rows:
            return
        for number, line in islice(_filled_lines(stream, path), _PROBED_LINES):
            with suppress(UnreadableTrajectory):
                value = decode_json(line, Source(format="", file=path_text(path), line=number))
                yield Sample(path, "lines", value, line[:HEAD].decode(errors="replace"))


def _nearest(sample: Sample, reasons: dict[str, str]) -> str:
    """Return the format whose refusal names most of what the file has; else the last, which takes any chat."""
    tops = sample.first[:1] if isinstance(sample.first, list) else [sample.first]
    has = {name for top in tops if isinstance(top, dict) for name in top if len(name) >= _LENGTH_OF_A_NAME}
    has |= {kind for beginning, kind in _KINDS.items() if sample.head.startswith(beginning)}
    shared = {name: len(has & set(_WORD.findall(reason))) for name, reason in reasons.items()}
    return max(reversed(shared), key=shared.__getitem__, default="")


_WORD = re.compile(r"\w+")
_LENGTH_OF_A_NAME = 5
"""Shorter names of fields, such as `id` and `type`, are in any format."""

_KINDS = {"PK\x03\x04": "zip", "SQLite format 3": "database"}
"""How a file of a kind begins, and the word that readers of that kind have for it."""


def plan(path: Path, readers: Iterable[Reader], part_bytes: int | None = None) -> Iterator[Part]:
    """Return the parts of one file that can be read on their own, in order."""
    reader, shape = _recognised(path, readers)
    whole = Part(path, reader.FORMAT, shape)
    can_be_cut = part_bytes is not None and reader.UNIT == "value" and shape == "lines"
    if can_be_cut and is_plain(path) and path.stat().st_size:
        with open_regular(path) as file:
            for offset, size, first_line in line_cuts(file, part_bytes or 0):
                yield Part(path, reader.FORMAT, shape, offset, size, first_line)
    elif can_be_cut and len(groups := row_groups(path) or []) > 1:
        for rows in group_cuts(groups, part_bytes or 0):
            yield Part(path, reader.FORMAT, shape, first_line=rows.line, rows=rows)
    else:
        yield whole


def read_part(part: Part, reader: Reader) -> Iterator[Trajectory | Unreadable]:
    """Return the trajectories of one part, and what in it is broken, in order."""
    return (placed.found for placed in read_placed(part, reader))


def read_placed(part: Part, reader: Reader) -> Iterator[Placed]:
    """Return what `read_part` does, each with its place."""
    file = path_text(part.path)
    try:
        with open_bytes(part.path, part.offset, part.size, part.rows) as stream:
            if reader.UNIT == "file" or part.shape != "lines":
                yield from _read_whole(stream, reader, Source(reader.FORMAT, file), part.shape)
                return
            yield from _read_lines(_lines(stream, part.path, part.first_line), reader, part)
    except InputError as error:
        yield _broken(error.found, file, error.line_number)


def _read_lines(lines: Iterator[tuple[int, bytes | Unreadable]], reader: Reader, part: Part) -> Iterator[Placed]:
    """Read each line on its own; two objects on a line are two lines."""
    file = path_text(part.path)
    for number, line in lines:
        if isinstance(line, Unreadable):
            yield Placed(line, file, number)
            continue
        source = Source(reader.FORMAT, file, number)
        results = _read_value(line, reader, source)
        first = next(results, None)
        broken = first is not None and isinstance(first.found, Unreadable) and part.rows is None and not is_json(line)
        whole, left = glued_objects(line) if broken else ([], [])
        for one in whole:
            yield from _read_value(one, reader, source)
        if whole and left:
            yield _broken("half a line", file, number)
        elif not whole and first is not None:
            yield first
            yield from results


@cache
def _say_lost(file: str, lost: LostLine) -> None:
    """Say once what a file has lost, however often it is read."""
    say(f"misstep: {file}:{lost.number}: {lost.what}; the rest of the file is read")


@cache
def _say_replayed(file: str, session: str, parent: str | None, lines: int) -> None:
    origin = f"the session {parent}" if parent else "an earlier session"
    say(f"misstep: {file}: {session} begins with {lines:,} lines copied from {origin}, which do not count in it")


def _read_whole(stream: ByteStream, reader: Reader, source: Source, shape: Shape) -> Iterator[Placed]:
    data = stream.read_up_to(DOCUMENT_LIMIT + 1)
    if len(data) > DOCUMENT_LIMIT:
        yield _broken(f"a document over {DOCUMENT_LIMIT >> 20} MiB", source.file)
        return
    if (cut := _cut(stream)) is not None:
        yield _broken(cut, source.file)
        return
    results = _read_value(data, reader, source)
    first = next(results, None)
    if first is not None and isinstance(first.found, Unreadable) and shape == "lines":
        data, lost = whole_lines(data)
        if lost:
            results = _read_value(data, reader, source)
            first = next(results, None)
            if first is not None and isinstance(first.found, Trajectory):
                first = replace(first, found=replace(first.found, extra=first.found.extra | _extra_of(lost)))
                for line in lost:
                    _say_lost(source.file, line)
    for placed in [] if first is None else [first, *results]:
        if isinstance(placed.found, Trajectory):
            if placed.found.extra.get("unfinished_line"):
                _say_lost(source.file, LostLine(data.count(b"\n") + 1, "the last line is cut off"))
            if replayed := placed.found.extra.get("replayed_lines"):
                _say_replayed(source.file, placed.found.id, placed.found.parent, len(replayed))
        yield placed


def _extra_of(lost: Iterable[LostLine]) -> dict[str, Any]:
    return {"lost_lines": [{"line": line.number, "what": line.what} for line in lost]}


def _read_value(data: bytes, reader: Reader, source: Source) -> Iterator[Placed]:
    try:
        for row in read_value(data, reader, source):
            own = row.source
            within = own.line if source.line is None and own.file == source.file else source.line
            yield Placed(row, source.file, within)
    except UnreadableTrajectory as error:
        message = f"{error.field}: {error.found}" if error.field else error.found
        yield _broken(message, source.file, error.line_number or source.line)


def _broken(error: str, file: str, line: int | None = None) -> Placed:
    return Placed(Unreadable(file, line, error), file, line)


def read_file(path: Path, readers: Iterable[Reader]) -> Iterator[Trajectory | Unreadable]:
    """Return the trajectories of one file, and what in it is broken, in order."""
    by_format = {reader.FORMAT: reader for reader in readers}
    try:
        parts = list(plan(path, by_format.values()))
    except UnreadableTrajectory as error:
        yield from lost_in(path, error)
        return
    for part in parts:
        yield from read_part(part, by_format[part.format])
