"""Bytes to JSON values, strictly first, then with what real recorders write and the standard forbids.

Whatever the bytes, these functions raise `UnreadableTrajectory` and nothing else.

`whole_lines` gives what is left of JSON Lines that a crash tore, doubled or glued together. Two objects on one line
are two lines. Half a line, zero bytes and words between the lines are lost; a later line may repeat a half one whole.
An object that begins within a torn line counts if it has the fields of another line.
"""

import json
import math
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.escaping import json_without_surrogates
from misstep_harness.readers.input.fields import kept_line
from misstep_harness.trajectory import Source

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

UNREADABLE = "misstep_unreadable"
"""The field of a line of an archive that says why its sample is missing."""

Fields = frozenset[str]


class RowRange(Struct, frozen=True):
    """Rows of a Parquet file: those of the groups from `first` up to `end`, or `count` of group `first` from `skip` on.

    `line` is the number of the first of them in the file, from 1.
    """

    first: int
    end: int
    line: int
    skip: int = 0
    count: int | None = None


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


T = TypeVar("T")

LINE_LIMIT = 64 << 20
"""Bytes: a longer line is an error that names file and line, not a hang."""

EXPANSION_LIMIT = 64 << 20
"""Characters: how much may be added to a trajectory by repeating a text that its file has once."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""Each escape in JSON in its turn: a pair of surrogates, a lone one, anything else."""
_untyped = msgspec.json.Decoder()
_ENDINGS = (".gz", ".json", ".jsonl", ".ndjson", ".parquet", ".traj", ".trajectory")
"""Not a part of a file's name."""


def decode_json(data: bytes, source: Source) -> Any:
    """Return the JSON value in `data`; NaN, Infinity and lone surrogates, which recorders do write, are let through.

    The value can be written again: a number that is not finite becomes null, a lone surrogate U+FFFD. The last of equal
    keys counts.
    """
    try:
        return _untyped.decode(data)
    except RecursionError as error:
        raise unreadable("the data are nested too deep", source) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as strict:
        try:
            return _untyped.decode(_ESCAPE.sub(_no_lone_surrogate, data))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass  # something else the standard forbids: Python's own decoder, which is slower, knows it
        try:
            return json_without_surrogates(json.loads(data, parse_float=_finite, parse_constant=_no_number))
        except UnicodeDecodeError as error:
            raise unreadable(f"not UTF-8 at byte {error.start}", source) from error
        except RecursionError as error:
            raise unreadable("the data are nested too deep", source) from error
        except ValueError as error:
            raise unreadable(f"no JSON: {strict}", source) from error


def convert(value: Any, type_: type[T], source: Source, line: int | None = None) -> T:
    """Return a decoded JSON value as `type_`; `line` is where it is in a file of many lines."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise unreadable(str(error), source, line) from error
    except RecursionError as error:
        raise unreadable("the data are nested too deep", source, line) from error


class _Lines(msgspec.Struct, frozen=True):
    """The JSON values of a session file with their line numbers, and a last line that a crash cut off."""

    values: tuple[tuple[int, Any], ...]
    unfinished: str | None = None

    def objects(self, others: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, value in self.values:
            if isinstance(value, dict):
                yield number, value
            else:
                others.append(kept_line(number, value))


def decode_lines(data: bytes, source: Source) -> _Lines:
    """Return the JSON values of all lines but blank ones; a last line that a crash cut off is given as text."""
    values: list[tuple[int, Any]] = []
    for number, line, ended in _split(data):
        if not line or line.isspace():
            continue
        if len(line) > LINE_LIMIT:
            raise unreadable(f"a line over {LINE_LIMIT >> 20} MiB", source, number)
        try:
            value = decode_json(line, source)
        except UnreadableTrajectory as error:
            if values and not ended:
                return _Lines(tuple(values), line.decode(errors="replace"))
            glued, left = glued_objects(line)
            if left or not glued or b"\0" in line:  # of which something is lost: `whole_lines` says what
                raise unreadable(error.found, source, number) from error
            values += [(number, decode_json(one, source)) for one in glued]
            continue
        values.append((number, value))
    if not values:
        raise unreadable("the file is empty", source)
    return _Lines(tuple(values))


def _split(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Yield number, bytes and whether it has its line end, of each line; no copy of the whole is made."""
    start, number = 0, 1
    while (end := data.find(b"\n", start)) >= 0:
        yield number, data[start:end], True
        start, number = end + 1, number + 1
    yield number, data[start:], False


def decode_document_or_lines(data: bytes, source: Source) -> _Lines:
    """Return one JSON document as a single value at line 1, or the values of JSON Lines."""
    body = data.strip()
    end = body.find(b"\n")
    first = body if end < 0 else body[:end].rstrip()
    if not is_json(first):
        try:
            return _Lines(((1, decode_json(body, source)),))
        except UnreadableTrajectory:
            if first in (b"{", b"["):
                raise
    del body, first
    return decode_lines(data, source)


def is_json(data: bytes) -> bool:
    """Return whether bytes are a JSON value, strictly."""
    try:
        _untyped.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def unreadable(problem: str, source: Source, line: int | None = None, field: str | None = None) -> UnreadableTrajectory:
    """Return the error for a broken trajectory, placed at its file and line."""
    return UnreadableTrajectory(problem, file=source.file, line=line or source.line, field=field)


def _no_lone_surrogate(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape[1] else escape[0]


def _finite(printed: str) -> float | None:
    number = float(printed)
    return number if math.isfinite(number) else None


def _no_number(_: str) -> None:
    """NaN, Infinity and -Infinity."""


def name_of(source: Source, *usual: str) -> str:
    """Return the file's name without its endings, and `-line` in JSON Lines: `run.traj.json.gz` gives `run`."""
    path = PurePath(source.file)
    name = path.name
    while (shorter := next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), name)) not in (name, ""):
        name = shorter
    name = (path.parent.name if name in usual else "") or name or "trajectory"
    return name if source.line is None else f"{name}-{source.line}"
