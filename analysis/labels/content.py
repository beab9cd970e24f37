"""The content of a user's file, from a path or standard input, unpacked and within bounds."""

import sys
import zlib
from pathlib import Path

from misstep.harness.errors import InputError
from misstep.harness.places import path_text

MOST_BYTES = 512 * 2**20

STANDARD_INPUT = Path("-")

_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31
"""What zlib calls a stream with the header and the sum of gzip."""


def shown(path: Path) -> str:
    """Return a file as messages name it."""
    return "standard input" if path == STANDARD_INPUT else path_text(path)


def read_content(path: Path, what: str = "labels") -> bytes:
    """Return the bytes of a file or, for `-`, of standard input; a file in gzip's format is unpacked."""
    file = shown(path)
    try:
        if path == STANDARD_INPUT:
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with path.open("rb") as stream:
                content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", f"Give a CSV file of {what}.", file=file) from error
    if content.startswith(_GZIP):
        content = _unpacked(content, file)
    if len(content) > MOST_BYTES:
        found = f"the file is larger than {MOST_BYTES // 2**20} MiB"
        raise InputError(found, f"Leave out everything but the {what}.", file=file)
    return content


def _unpacked(content: bytes, file: str) -> bytes:
    """Return all streams of a file in gzip's format, unpacked no further than the bound."""
    parts: list[bytes] = []
    room = MOST_BYTES + 1
    try:
        while content.startswith(_GZIP) and room > 0:
            stream = zlib.decompressobj(_GZIP_WINDOW)
            parts.append(stream.decompress(content, room))
            room -= len(parts[-1])
            if not stream.eof and room > 0:
                raise InputError("the gzip file ends in its middle", "Pack or copy it again.", file=file)
            content = stream.unused_data
    except zlib.error as error:
        raise InputError(f"not valid gzip: {error}", "Pack it again, or give the file unpacked.", file=file) from error
    return b"".join(parts)


def decoded(content: bytes, file: str) -> str:
    """Return a text in UTF-8, with or without a byte order mark."""
    if (nul := content.find(b"\0")) >= 0:
        # Text in UTF-16 has one beside every plain letter.
        message = "not UTF-8 but UTF-16" if 3 * content.count(b"\0") > len(content) else "a NUL character"
        line = content.count(b"\n", 0, nul) + 1
        raise InputError(message, "Save the file as UTF-8 CSV, as text alone.", file=file, line=line)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", "Save the file as UTF-8 CSV.", file=file, line=line) from error
