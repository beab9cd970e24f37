"""Bytes to JSON values, strictly first, then with what real recorders write and the standard forbids.

Whatever the bytes, these functions raise `UnreadableTrajectory` and nothing else.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec

from misstep.harness.errors import UnreadableTrajectory
from misstep.harness.escaping import json_without_surrogates
from misstep.harness.trajectory import Source

T = TypeVar("T")

LINE_LIMIT = 64 << 20
"""Bytes: a longer line is an error that names file and line, not a hang."""

EXPANSION_LIMIT = 64 << 20
"""Characters: how much may be added to a trajectory by repeating a text that its file has once."""

_LARGEST = 2**53
"""From here on not every whole number is a floating-point number."""

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


def rest_of(value: dict[str, Any], placed: type[msgspec.Struct], *more: str) -> dict[str, Any]:
    """Return the fields of a JSON object that neither the type nor `more` name, empty ones left out: for `extra`."""
    known = {*placed.__struct_encode_fields__, *more}
    return {name: field for name, field in value.items() if name not in known and not _is_empty(field)}


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the fields of a JSON object that `names` do not name, empty ones left out."""
    return filled((name, field) for name, field in value.items() if name not in names)


def kept_line(number: int, value: Any) -> dict[str, Any]:
    """Return a line that is not a turn as it is kept beside the steps."""
    return {"line": number, "value": value}


def filled(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields that say something: not null and not an empty text, list or object."""
    return {name: field for name, field in fields if not _is_empty(field)}


def _is_empty(field: Any) -> bool:
    return field is None or (isinstance(field, str | list | dict | tuple) and not field)


def amount(value: Any) -> float | None:
    """Return an amount of dollars, seconds or points; `None` for anything else, as a number too large to be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST and math.isfinite(value) else None


def whole(value: Any) -> int | None:
    """Return a whole number; `None` for anything else, such as a truth value."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def first_whole(values: Iterable[Any]) -> int | None:
    """Return the first whole number among values."""
    return next((value for value in values if whole(value) is not None), None)


def time_of(seconds: Any) -> str | None:
    """Return seconds since 1970 as ISO 8601; `None` for anything else."""
    known = amount(seconds)
    if known is None:
        return None
    try:
        return datetime.fromtimestamp(known, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def time_of_milliseconds(value: Any) -> str | None:
    """Return milliseconds since 1970 as ISO 8601; `None` for anything else."""
    known = amount(value)
    return None if known is None else time_of(known / 1000)


def at(value: Any, *path: str) -> Any:
    """Return the value at a path of names in nested objects; `None` if it is missing."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def text_or_none(value: Any) -> str | None:
    """Return a text; `None` for anything else."""
    return value if isinstance(value, str) else None


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
            raise unreadable(error.found, source, number) from error
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
    if not _is_json(first):
        try:
            return _Lines(((1, decode_json(body, source)),))
        except UnreadableTrajectory:
            if first in (b"{", b"["):
                raise
    del body, first
    return decode_lines(data, source)


def _is_json(data: bytes) -> bool:
    try:
        _untyped.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def unreadable(found: str, source: Source, line: int | None = None, field: str | None = None) -> UnreadableTrajectory:
    """Return the error for a broken trajectory, placed at its file and line."""
    return UnreadableTrajectory(found, file=source.file, line=line or source.line, field=field)


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
