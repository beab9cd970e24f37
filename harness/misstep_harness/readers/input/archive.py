"""The binary container of Inspect eval logs (`.eval`): a zip archive of JSON files, read as JSON Lines.

`header.json` (while the run goes on, `_journal/start.json`) has all of the log but its samples, a file such as
`samples/a1_epoch_1.json` each sample and epoch. Each becomes one line, a log of one sample; if so many copies of the
header would be too long, the first sample alone has it whole. Newer versions of Inspect pack with zstandard, which
pyarrow unpacks and Python before 3.14 cannot.
"""

import copy
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from misstep_harness.errors import MissingPrerequisite, UnreadableTrajectory
from misstep_harness.places import path_text
from misstep_harness.readers.input.decoding import EXPANSION_LIMIT, LINE_LIMIT, UNREADABLE, decode_json
from misstep_harness.trajectory import Source

_REPEATED_LIMIT = 64 << 10
"""Characters: what all copies together may come to, where the samples themselves are not longer."""

_OF_LOG = ("version", "status")
_OF_EVAL = ("task", "model", "solver", "created", "run_id", "task_id")
_LONGEST = 1000

_HEADERS = ("header.json", "_journal/start.json")
_OPENING, _CLOSING = b'"samples":[', b"]}\n"
_BLOCK = 1 << 20
_ZSTANDARD = 93
"""The method of what zstandard packed, in zip archives (APPNOTE.TXT of PKWARE, 4.4.5)."""

_MOST_TIMES = 250
"""How many times its size an archive may unpack to, beyond 64 MiB: recordings are packed to a tenth or a thirtieth."""

_FEW_LINES = 1 << 18
"""Lines that any packed file may have: reading a quarter of a million takes less than a second."""

encode = msgspec.json.encode
_UNPACKED_LIMIT = 8 << 30
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, NotImplementedError, RuntimeError, EOFError)


def check_expansion(unpacked: int, size: int, lines: int = 0) -> None:
    """Check that a packed file does not unpack to many times its size, or to more lines than it has bytes."""
    if lines > max(_FEW_LINES, size):
        raise OSError(f"it unpacks to more than {max(_FEW_LINES, size):,} lines")
    if unpacked > max(EXPANSION_LIMIT, _MOST_TIMES * size):
        raise OSError(f"it unpacks to more than {_MOST_TIMES} times its size")


def is_eval_log(file: BinaryIO) -> bool:
    """Return whether a zip archive is an Inspect eval log; it is when it has a header."""
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name in archive.NameToInfo for name in _HEADERS)
    except (*_BROKEN, OSError):
        return False


def eval_log_lines(path: Path, file: BinaryIO, size: int) -> Iterator[bytes]:
    """Return the bytes of one line for each sample."""
    with zipfile.ZipFile(file) as archive:
        by_zstandard = any(member.compress_type == _ZSTANDARD for member in archive.infolist())
    if by_zstandard:
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            message = f"zstandard packed {path_text(path)}, and pyarrow, which unpacks it, is not installed"
            raise MissingPrerequisite(message, "Run `pip install 'misstep[files]'`.") from error
    return _lines(file, size)


def _lines(file: BinaryIO, size: int) -> Iterator[bytes]:
    unpacked = 0
    with zipfile.ZipFile(file) as archive:
        about = _header(archive)
        members = [one for one in archive.infolist() if one.filename.startswith("samples/") and not one.is_dir()]
        fields = log_fields = encode(about)
        whole = len(log_fields) + sum(member.file_size for member in members)
        for member in members:
            try:
                sample = _unpacked(archive, member, LINE_LIMIT - len(fields) - len(_OPENING) - len(_CLOSING))
            except OSError as error:
                yield encode(brief(about, "") | {UNREADABLE: str(error)}) + b"\n"
                continue
            line = _OPENING.join((fields[:-1] + (b"" if fields == b"{}" else b","), sample)) + _CLOSING
            unpacked += len(line)
            if unpacked > _UNPACKED_LIMIT:
                raise OSError(f"the archive unpacks to more than {_UNPACKED_LIMIT >> 30} GiB")
            check_expansion(unpacked, size)
            yield line
            if fields is log_fields and is_too_long(len(log_fields), len(members), whole):
                fields = encode(brief(about, member.filename))


def _header(archive: zipfile.ZipFile) -> dict[str, Any]:
    name = next(name for name in _HEADERS if name in archive.NameToInfo)
    try:
        about = decode_json(_unpacked(archive, archive.NameToInfo[name], LINE_LIMIT), Source("inspect_ai"))
    except UnreadableTrajectory as error:
        raise OSError(f"{name} in the archive is broken: {error.found}") from error
    if not isinstance(about, dict):
        raise OSError(f"{name} in the archive is not a JSON object")
    return {field: value for field, value in about.items() if field != "samples"}


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    blocks: list[bytes] = []
    left, checksum = most + 1, 0
    try:
        if member.file_size <= most:
            with _opened(archive, member) as stream:
                while left > 0 and (block := stream.read(min(left, _BLOCK))):
                    left -= len(block)
                    checksum = zlib.crc32(block, checksum)
                    blocks.append(block.replace(b"\n", b" "))
            if left > 0 and checksum != member.CRC:
                raise zipfile.BadZipFile("its checksum is another one")
    except (*_BROKEN, OSError) as error:
        raise OSError(f"{member.filename} in the archive cannot be unpacked: {error}") from error
    if member.file_size > most or left <= 0:
        raise OSError(f"{member.filename} in the archive unpacks to over {LINE_LIMIT >> 20} MiB")
    return b"".join(blocks)


def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    if member.compress_type != _ZSTANDARD:
        return archive.open(member)
    from pyarrow import CompressedInputStream, PythonFile

    packed = copy.copy(member)
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
    packed.CRC = None  # type: ignore[assignment]  # that of what is unpacked, and this is read as it lies
    return CompressedInputStream(PythonFile(archive.open(packed), "r"), "zstd")


def is_too_long(length: int, samples: int, whole: int) -> bool:
    """Return whether what a log of `whole` characters says is too long to be repeated with each of its samples."""
    return length * (samples - 1) > max(_REPEATED_LIMIT, whole)


def brief(about: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the short fields of a log that tell its samples from those of another, and `where` the whole of it is."""
    described = about.get("eval")
    fields_of_eval = {
        "eval": _short(described, _OF_EVAL) if isinstance(described, dict) else {},
        **({"whole_log": where} if where else {}),
    }
    return _short(about, _OF_LOG) | fields_of_eval


def _short(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    short = {name: fields[name] for name in names if isinstance(fields.get(name), str | int)}
    return {name: value[:_LONGEST] if isinstance(value, str) else value for name, value in short.items()}
