"""Bytes to JSON values, strictly first, then with what real recorders write and the standard forbids.

Whatever the bytes, these functions raise `UnreadableTrajectory` and nothing else.
"""

import json
import math
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.escaping import json_without_surrogates
from misstep_harness.readers.input.fields import kept_line
from misstep_harness.readers.input.whole_lines import glued_objects
from misstep_harness.trajectory import Source

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
