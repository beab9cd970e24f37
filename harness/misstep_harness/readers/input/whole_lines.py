"""What is whole of JSON Lines that a crash tore, doubled or glued together, and what of them is lost.

Two objects on one line are two lines. Half a line, zero bytes and words between the lines are lost; a later line may
repeat a half one whole. An object that begins within a torn line counts if it has the fields of another line.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

_ZEROS = re.compile(rb"\x00+")
_BLANKS = re.compile(r"\s+")
_MOST_TRIES = 200
"""Places within a torn line at which another one is looked for."""

_LATER = 200
"""Lines after half a line in which it is looked for whole: what writes it again does so at once."""

_DISTINCT = 24
"""Bytes from which the beginning of a line is its own; shorter ones, such as `{"type": `, many lines have in common."""

_python = json.JSONDecoder()
_strict = msgspec.json.Decoder()

Fields = frozenset[str]


class LostLine(Struct, frozen=True):
    """A line of which something is lost: its number, from 1, and what."""

    number: int
    what: str


def glued_objects(line: bytes, lines: frozenset[Fields] = frozenset()) -> tuple[list[bytes], list[bytes]]:
    """Return the whole objects on a line, and what is left of it; `lines` are the fields of whole lines of its file."""
    whole: list[bytes] = []
    left: list[bytes] = []
    for chunk in _ZEROS.split(line):
        text = chunk.decode("utf-8", "surrogateescape")
        start = _after_blanks(text, 0)
        while start < len(text):
            end = _end_of_object(text, start)
            pieces = whole if end else left
            end = end or _next_line_within(text, start, lines)
            pieces.append(_bytes(text[start:end]))
            start = _after_blanks(text, end)
    return whole, left


def _after_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    return start if blanks is None else blanks.end()


def _bytes(text: str) -> bytes:
    return text.rstrip().encode("utf-8", "surrogateescape")


def _decoded(text: str, start: int) -> tuple[Any, int]:
    try:
        return _python.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, 0


def _end_of_object(text: str, start: int) -> int:
    value, end = _decoded(text, start) if text.startswith("{", start) else (None, 0)
    return end if isinstance(value, dict) else 0


def _next_line_within(text: str, torn: int, lines: frozenset[Fields]) -> int:
    """Return where the next whole line begins within a torn one, or its end."""
    start = text.find('{"', torn + 1)
    for _ in range(_MOST_TRIES if lines else 0):
        if start < 0:
            break
        value, end = _decoded(text, start)
        after = _after_blanks(text, end)
        if isinstance(value, dict) and frozenset(value) in lines and text[after : after + 1] in ("", "{"):
            return start
        start = text.find('{"', start + 1)
    return len(text)


def _repeats(line: bytes, half: bytes) -> bool:
    """Return whether a line begins with half a line that is long enough to be told from others."""
    return len(half) >= _DISTINCT and line.startswith(half)


def whole_lines(data: bytes) -> tuple[bytes, tuple[LostLine, ...]]:
    """Return JSON Lines with nothing but whole objects, each on the line where it was, and what is lost.

    Nothing is whole where more lines are lost than whole: this is then another kind of file.
    """
    lines = data.split(b"\n")
    fields = frozenset(_fields_of(lines))
    kept: list[bytes] = []
    lost: list[LostLine] = []
    n_whole = 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or _is_whole(line):
            n_whole += bool(line.strip())
            kept.append(line)
            continue
        whole, left = glued_objects(line, fields)
        n_whole += len(whole)
        kept.append(b"".join(whole))
        if zeros := sum(map(len, _ZEROS.findall(line))):
            lost.append(LostLine(number, f"{zeros:,} zero bytes, which overwrote what was there"))
        lost += [LostLine(number, _what(half, whole, lines[number : number + _LATER], number)) for half in left]
    if len(lost) > n_whole or data.lstrip().startswith(b"["):
        return data, ()
    return b"\n".join(kept), tuple(lost)


def _is_whole(line: bytes) -> bool:
    try:
        _strict.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        whole, left = glued_objects(line)
        return len(whole) == 1 and not left and not _ZEROS.search(line)
    return True


def _fields_of(lines: list[bytes]) -> Iterator[Fields]:
    for line in lines:
        try:
            value = _strict.decode(line) if line.startswith(b"{") else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(value, dict) and len(value) > 1:
            yield frozenset(value)


def _what(half: bytes, beside: list[bytes], later: list[bytes], number: int) -> str:
    if not half.startswith(b"{"):
        return "words that are no JSON object"
    if any(_repeats(line, half) for line in beside):
        return "half a line that the same line repeats whole"
    again = next((place for place, line in enumerate(later, number + 1) if _repeats(line, half)), None)
    return "half a line" if again is None else f"half a line that line {again} repeats whole"
