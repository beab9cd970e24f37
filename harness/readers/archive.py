"""The binary container of Inspect eval logs (`.eval`): a zip archive of JSON files, read as JSON Lines.

It holds `header.json` (while the run goes on, `_journal/start.json`) with all of the log but its samples, and a file
for each sample and epoch, such as `samples/a1_epoch_1.json`. Each becomes one line: the header with that sample, a log
of one sample. Nothing is written to disk. A sample that unpacks to more than a line may have makes a line that is too
long, which whoever reads lines says; an archive that unpacks to more than 8 GiB is cut off there.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from harness.readers.decoding import LINE_LIMIT

MAGIC = b"PK\x03\x04"

_HEADERS = ("header.json", "_journal/start.json")
_BLOCK = 1 << 20
_UNPACKED_LIMIT = 8 << 30
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, NotImplementedError, RuntimeError, EOFError)


def is_eval_log(file: BinaryIO) -> bool:
    """Whether a zip archive is an Inspect eval log; it is when it has a header."""
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name in archive.NameToInfo for name in _HEADERS)
    except (*_BROKEN, OSError):
        return False


def eval_log_lines(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of one line for each sample, in blocks.

    Raises
    ------
    OSError
        The archive is broken or unpacks to too much; names the file in it.
    """
    unpacked = 0
    with zipfile.ZipFile(file) as archive:
        opening = _opening(archive)
        for member in archive.infolist():
            if not member.filename.startswith("samples/") or member.is_dir():
                continue
            yield opening
            for block in _unpacked(archive, member):
                unpacked += len(block)
                if unpacked > _UNPACKED_LIMIT:
                    raise OSError(f"the archive unpacks to more than {_UNPACKED_LIMIT >> 30} GiB")
                yield block
            yield b"]}\n"


def _opening(archive: zipfile.ZipFile) -> bytes:
    """The header up to where its samples stand."""
    name = next(name for name in _HEADERS if name in archive.NameToInfo)
    header = b"".join(_unpacked(archive, archive.NameToInfo[name])).strip()
    if len(header) > LINE_LIMIT or not header.startswith(b"{") or not header.endswith(b"}"):
        raise OSError(f"{name} in the archive is no JSON object of at most {LINE_LIMIT >> 20} MiB")
    fields = header[:-1].rstrip()
    return fields + (b"" if fields == b"{" else b",") + b'"samples":['


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """A file of the archive on one line, up to the first byte that a line may not have any more."""
    left = LINE_LIMIT + 1
    try:
        with archive.open(member) as stream:
            while left > 0 and (block := stream.read(min(left, _BLOCK))):
                left -= len(block)
                yield block.replace(b"\n", b" ")
    except _BROKEN as error:
        raise OSError(f"{member.filename} in the archive cannot be unpacked: {error}") from error
