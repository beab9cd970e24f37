"""Files to bytes in UTF-8, whatever they are written in: plain, gzip, UTF-16, UTF-32, an eval log, a database.

A stream never fails while it is read: one that breaks off ends there, and `broken` says why.
"""

import codecs
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from misstep_harness.errors import InputError, MisstepError
from misstep_harness.readers.input.decoding import RowRange

BLOCK = 1 << 20

_GZIP = b"\x1f\x8b"
_SQLITE = b"SQLite format 3\0"
_ZIP = b"PK\x03\x04"
_PARQUET = (b"PAR1", b"PARE")  # the second where even its footer is encrypted
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class ByteStream(io.BufferedReader):
    """The bytes of a file; `broken` says why they end early, `of_rows` whether each line is a row of a table."""

    def __init__(self, blocks: Iterator[bytes], file: BinaryIO, *, of_rows: bool = False) -> None:
        self.of_rows = of_rows
        self._blocks = _Blocks(blocks, file)
        super().__init__(self._blocks, BLOCK)

    @property
    def broken(self) -> str | None:
        """Return why the stream ended early; `None` if it did not, or did not yet."""
        return self._blocks.broken

    def next_line(self, limit: int) -> bytes:
        """Return the next line, or its first `limit` bytes; a row whole. To be called before `read`."""
        return self._blocks.next_block() if self.of_rows else self.readline(limit)

    def read_up_to(self, limit: int) -> bytes:
        """Return the rest, or its first `limit` bytes; memory grows with what is there, not with the limit."""
        blocks = []
        while limit > 0 and (block := self.read(min(limit, BLOCK))):
            blocks.append(block)
            limit -= len(block)
        return b"".join(blocks)


class _Blocks(io.RawIOBase):
    def __init__(self, blocks: Iterator[bytes], file: BinaryIO) -> None:
        self.broken: str | None = None
        self._blocks = blocks
        self._file = file
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._left:
            block = self.next_block()
            if not block:
                return 0
            self._left = memoryview(block)
        view = memoryview(buffer)
        size = min(len(view), len(self._left))
        view[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def next_block(self) -> bytes:
        block: bytes | None = b""
        while block == b"" and self.broken is None:
            try:
                block = next(self._blocks, None)
            except (EOFError, OSError, zlib.error) as error:
                self.broken = str(error) or type(error).__name__
        return block or b""

    def close(self) -> None:
        self._file.close()
        super().close()


def open_bytes(path: Path, offset: int = 0, size: int | None = None, rows: RowRange | None = None) -> ByteStream:
    """Return the bytes of a file as UTF-8 without a byte-order mark, unpacked where they are packed."""
    file = open_regular(path)
    try:
        if offset or size is not None:
            file.seek(offset)
            return ByteStream(_without_mark(_plain(file, size)) if offset == 0 else _plain(file, size), file)
        if _is_parquet(file):
            from misstep_harness.readers.input import parquet

            return ByteStream(parquet.row_lines(path, file, rows), file, of_rows=True)
        return ByteStream(_blocks(path, file), file)
    except OSError as error:
        file.close()
        raise _cannot_open(path, error) from error
    except MisstepError:
        file.close()
        raise


def open_records(path: Path) -> tuple[ByteStream, tuple[str, ...] | None]:
    """Return what `open_bytes` does, but of a Parquet file all rows, and the names of its columns."""
    file = open_regular(path)
    try:
        if not _is_parquet(file):
            file.close()
            return open_bytes(path), None
        from misstep_harness.readers.input import parquet

        names = parquet.record_names(path, file)
        file.seek(0)
        return ByteStream(parquet.record_lines(path, file), file, of_rows=True), names
    except MisstepError:
        file.close()
        raise


def open_regular(path: Path) -> BinaryIO:
    """Return a regular file, opened without waiting: a pipe that nobody writes to is an error, not a hang."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _cannot_open(path, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError("not a regular file", "Give a file; store the output of a pipe first.", file=path)
    return os.fdopen(descriptor, "rb")


def _cannot_open(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot be opened: {error.strerror or error}", "Check the path and its permissions.", file=path)


def is_plain(path: Path) -> bool:
    """Return whether a file's own bytes are UTF-8 or nearly so, so that a part of it can be read on its own."""
    with open_regular(path) as file:
        start = file.read(len(_SQLITE))
    return not start.startswith((_GZIP, _ZIP, _SQLITE, *_PARQUET, *_WIDE_MARKS))


def holds_a_table(path: Path) -> bool:
    """Return whether a file is a database or a table of Parquet: what such a file holds is many runs, not one."""
    with open_regular(path) as file:
        return file.read(len(_SQLITE)).startswith((_SQLITE, *_PARQUET))


def row_groups(path: Path) -> list[tuple[int, int]] | None:
    """Return the number of rows and of unpacked bytes of each row group; `None` if it is not a Parquet file."""
    with open_regular(path) as file:
        if not _is_parquet(file):
            return None
        from misstep_harness.readers.input import parquet

        return parquet.row_groups(path, file)


def _is_parquet(file: BinaryIO) -> bool:
    start = file.read(len(_PARQUET[0]))
    file.seek(0)
    return start in _PARQUET


def _blocks(path: Path, file: BinaryIO) -> Iterator[bytes]:
    start = file.read(len(_SQLITE))
    file.seek(0)
    if start == _SQLITE:
        from misstep_harness.readers.input import databases

        if (lines := databases.session_lines(path)) is not None:
            return lines
    if start.startswith(_ZIP):
        from misstep_harness.readers.input import archive

        if archive.is_eval_log(file):
            file.seek(0)
            return archive.eval_log_lines(path, file, os.fstat(file.fileno()).st_size)
    file.seek(0)
    return _without_mark(_gunzipped(file) if start.startswith(_GZIP) else _plain(file, None))


def _plain(file: BinaryIO, size: int | None) -> Iterator[bytes]:
    left = size
    while block := file.read(BLOCK if left is None else min(BLOCK, left)):
        left = None if left is None else left - len(block)
        yield block


def _gunzipped(file: BinaryIO) -> Iterator[bytes]:
    from misstep_harness.readers.input.archive import check_expansion

    unpacked, lines, size = 0, 0, os.fstat(file.fileno()).st_size
    with gzip.GzipFile(fileobj=file) as packed:
        while block := packed.read1(BLOCK):  # what can be unpacked before a break is given before it is met
            unpacked, lines = unpacked + len(block), lines + block.count(b"\n")
            check_expansion(unpacked, size, lines)
            yield block


def _without_mark(blocks: Iterator[bytes]) -> Iterator[bytes]:
    start = b""
    for block in blocks:
        start += block
        if len(start) >= 4:
            break
    mark, encoding = next(((mark, name) for mark, name in _WIDE_MARKS.items() if start.startswith(mark)), (b"", ""))
    if not mark:
        yield start.removeprefix(codecs.BOM_UTF8)
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(start).encode()
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()
