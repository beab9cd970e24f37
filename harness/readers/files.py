"""Files and folders to trajectories: what is there, which reader it is for, what is broken.

Files are opened by content: gzip by its magic bytes, UTF-16 and UTF-32 by their byte-order marks. JSON Lines are
read as a stream, line by line, so that memory does not grow with the file. A broken line, a truncated archive or a
wrong encoding makes one `Unreadable` and the reading goes on; this module is the one place where a trajectory may
fail without failing the run.
"""

import codecs
import gzip
import io
import itertools
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from msgspec import Struct

from harness.errors import InputError, UnknownFormat, UnreadableTrajectory
from harness.protocols import Reader, Sample, Shape
from harness.readers.decoding import decode_json
from harness.trajectory import Source, Trajectory, Unreadable

LINE_LIMIT = 64 << 20
"""Bytes: a longer line is an error that names file and line, not a hang."""

DOCUMENT_LIMIT = 512 << 20
"""Bytes: a longer JSON document or text is an error."""

HEAD = 64 << 10
_PROBED_LINES = 20
_BLOCK = 1 << 20
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Found(Struct, frozen=True):
    """A file to read; `named` when the user named it, rather than a folder that holds it."""

    path: Path
    named: bool


class Part(Struct, frozen=True):
    """A stretch of a file that can be read on its own: whole (`size` None), or whole lines of JSON Lines.

    `offset` and `size` are in bytes, `first_line` counts from 1.
    """

    path: Path
    format: str
    shape: Shape
    offset: int = 0
    size: int | None = None
    first_line: int = 1


def find_files(paths: Iterable[Path]) -> Iterator[Found]:
    """The files among `paths` and in the folders among them, in order of name, each folder once.

    Links are followed; a folder that was already entered (a loop of links) is not entered again. Hidden files and
    folders below a named folder are left out.

    Raises
    ------
    InputError
        A path does not exist or a folder cannot be listed.
    """
    entered: set[tuple[int, int]] = set()
    for path in paths:
        if path.is_dir():
            for file in _walk(path, entered):
                yield Found(file, named=False)
        elif path.exists():
            yield Found(path, named=True)
        else:
            raise InputError("no such file or folder", "Check the path.", file=path)


def _walk(folder: Path, entered: set[tuple[int, int]]) -> Iterator[Path]:
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            status = here.stat()
            if (status.st_dev, status.st_ino) in entered:
                continue
            entered.add((status.st_dev, status.st_ino))
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            raise InputError(
                f"cannot list the folder: {error.strerror}", "Check its permissions.", file=here
            ) from error
        folders = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if _is(entry.is_dir):
                folders.append(here / entry.name)
            elif _is(entry.is_file):
                yield here / entry.name
        pending.extend(reversed(folders))


def _is(kind: Any) -> bool:
    try:
        return bool(kind())
    except OSError:  # a link to itself
        return False


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file as UTF-8 without a byte-order mark, uncompressed where they are gzip.

    Raises
    ------
    InputError
        The file cannot be opened.
    """
    try:
        raw = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot open: {error.strerror}", "Check the path and its permissions.", file=path) from error
    magic = raw.read(2)
    raw.seek(0)
    if magic != b"\x1f\x8b":
        return _without_mark(raw)
    raw.close()
    return _without_mark(cast(BinaryIO, gzip.GzipFile(path)))


def _without_mark(stream: BinaryIO) -> BinaryIO:
    buffered = io.BufferedReader(cast(Any, stream), _BLOCK)
    try:
        start = buffered.peek(4)[:4]
    except (EOFError, OSError, zlib.error):
        return buffered  # the first read says it again, where it is caught
    if start.startswith(codecs.BOM_UTF8):
        buffered.read(len(codecs.BOM_UTF8))
        return buffered
    for mark, encoding in _WIDE_MARKS.items():
        if start.startswith(mark):
            text = io.TextIOWrapper(buffered, encoding=encoding, errors="replace", newline="").read(DOCUMENT_LIMIT)
            return io.BytesIO(text.encode())
    return buffered


def sample_file(path: Path) -> Sample:
    """What a reader sees of a file to tell whether it is one of its own.

    Raises
    ------
    UnreadableTrajectory
        The file is empty, truncated, too long, or broken JSON.
    """
    try:
        with open_bytes(path) as stream:
            return _sample(path, stream)
    except (EOFError, zlib.error, OSError) as error:
        raise UnreadableTrajectory(f"cannot be read to its end: {error}", file=path) from error


def _sample(path: Path, stream: BinaryIO) -> Sample:
    start = next(_filled_lines(stream, path), None)
    if start is None:
        raise UnreadableTrajectory("the file is empty", file=path)
    line_number, line = start
    head = (line + stream.read(max(0, HEAD - len(line))))[:HEAD].decode(errors="replace")
    if not line.lstrip().startswith((b"{", b"[")):
        return Sample(path, "text", None, head)
    try:
        first = decode_json(line, Source(format="", file=str(path), line=line_number))
    except UnreadableTrajectory as error:
        return _sample_of_broken_first_line(path, head, error)
    with open_bytes(path) as again:
        filled = _filled_lines(again, path)
        next(filled)
        return Sample(path, "document" if next(filled, None) is None else "lines", first, head)


def _sample_of_broken_first_line(path: Path, head: str, error: UnreadableTrajectory) -> Sample:
    """A first line that is no JSON value: a document over many lines, or JSON Lines whose first line is broken."""
    with open_bytes(path) as stream:
        whole = stream.read(LINE_LIMIT + 1)
    if len(whole) <= LINE_LIMIT:
        try:
            return Sample(path, "document", decode_json(whole, Source(format="", file=str(path))), head)
        except UnreadableTrajectory as broken:
            error = broken
    with open_bytes(path) as stream:
        for line_number, line in itertools.islice(_filled_lines(stream, path), _PROBED_LINES):
            try:
                value = decode_json(line, Source(format="", file=str(path), line=line_number))
            except UnreadableTrajectory:
                continue
            if isinstance(value, dict) and line.lstrip().startswith(b"{"):
                return Sample(path, "lines", value, head)
    raise error


def _filled_lines(stream: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    for number, line in _lines(stream, path):
        if isinstance(line, bytes):
            yield number, line


def _lines(stream: BinaryIO, path: Path, first: int = 1) -> Iterator[tuple[int, bytes | Unreadable]]:
    """The lines that are not blank with their numbers; a line over the limit is skipped and said."""
    number = first - 1
    while True:
        try:
            line = stream.readline(LINE_LIMIT + 1)
        except (EOFError, zlib.error, OSError) as error:
            yield number + 1, Unreadable(str(path), number + 1, f"cannot be read further: {error}")
            return
        if not line:
            return
        number += 1
        if len(line) > LINE_LIMIT:
            while line and not line.endswith(b"\n"):
                line = stream.readline(_BLOCK)
            yield number, Unreadable(str(path), number, f"a line over {LINE_LIMIT >> 20} MiB")
        elif not line.isspace():
            yield number, line


def recognise(sample: Sample, readers: Iterable[Reader]) -> Reader:
    """The reader that a file is for.

    Raises
    ------
    UnknownFormat
        None; names each and why it said no.
    """
    reasons = {}
    for reader in readers:
        reason = reader.refuse(sample)
        if reason is None:
            return reader
        reasons[reader.FORMAT] = reason
    raise UnknownFormat(sample.path, reasons)


def plan(path: Path, readers: Iterable[Reader], part_bytes: int | None = None) -> Iterator[Part]:
    """The parts of one file that can be read on their own, in order.

    Parameters
    ----------
    path
        The file.
    readers
        Who may be asked.
    part_bytes
        JSON Lines are cut at the line ends that follow each so many bytes; `None` keeps them whole.

    Raises
    ------
    UnknownFormat
        No reader recognises the file.
    UnreadableTrajectory
        The file cannot be looked into.
    """
    sample = sample_file(path)
    reader = recognise(sample, readers)
    whole = Part(path, reader.FORMAT, sample.shape)
    with path.open("rb") as stream:
        plain = stream.read(2) != b"\x1f\x8b" and not any(sample.head.encode().startswith(mark) for mark in _WIDE_MARKS)
        if part_bytes is None or reader.UNIT != "value" or sample.shape != "lines" or not plain:
            yield whole
            return
        stream.seek(0)
        offset, line = 0, 1
        while block := stream.read(part_bytes):
            block += stream.readline()
            yield Part(path, reader.FORMAT, sample.shape, offset, len(block), line)
            offset += len(block)
            line += block.count(b"\n")


def read_part(part: Part, reader: Reader) -> Iterator[Trajectory | Unreadable]:
    """The trajectories of one part, and what in it is broken, in order."""
    file = str(part.path)
    try:
        with open_bytes(part.path) as stream:
            if part.offset:
                stream.seek(part.offset)
            if reader.UNIT == "file" or part.shape != "lines":
                yield from _read_whole(stream, reader, Source(reader.FORMAT, file))
                return
            limited = stream if part.size is None else io.BytesIO(stream.read(part.size))
            for number, line in _lines(limited, part.path, part.first_line):
                if isinstance(line, Unreadable):
                    yield line
                else:
                    yield from _read_value(line, reader, Source(reader.FORMAT, file, number))
    except InputError as error:
        yield Unreadable(file, error.line_number, error.found)
    except (EOFError, zlib.error, OSError) as error:
        yield Unreadable(file, None, f"cannot be read to its end: {error}")


def _read_whole(stream: BinaryIO, reader: Reader, source: Source) -> Iterator[Trajectory | Unreadable]:
    data = stream.read(DOCUMENT_LIMIT + 1)
    if len(data) > DOCUMENT_LIMIT:
        yield Unreadable(source.file, None, f"a document over {DOCUMENT_LIMIT >> 20} MiB")
    else:
        yield from _read_value(data, reader, source)


def _read_value(data: bytes, reader: Reader, source: Source) -> Iterator[Trajectory | Unreadable]:
    try:
        yield from reader.read(data, source)
    except UnreadableTrajectory as error:
        yield Unreadable(source.file, error.line_number or source.line, error.found)


def read_file(path: Path, readers: Iterable[Reader]) -> Iterator[Trajectory | Unreadable]:
    """The trajectories of one file, and what in it is broken, in order.

    Raises
    ------
    UnknownFormat
        No reader recognises the file.
    """
    known = list(readers)
    try:
        parts = list(plan(path, known))
    except UnknownFormat:
        raise
    except UnreadableTrajectory as error:
        yield Unreadable(str(path), error.line_number, error.found)
        return
    by_format = {reader.FORMAT: reader for reader in known}
    for part in parts:
        yield from read_part(part, by_format[part.format])
