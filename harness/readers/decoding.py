"""Bytes to JSON values, strictly first, then with what real recorders write and the standard forbids."""

import json
import re
from typing import Any, TypeVar

import msgspec

from harness.errors import UnreadableTrajectory
from harness.trajectory import Source

T = TypeVar("T")

_SURROGATE = re.compile("[\ud800-\udfff]")
_untyped = msgspec.json.Decoder()


def decode_json(data: bytes, source: Source) -> Any:
    """The JSON value in `data`; NaN, Infinity and lone surrogates, which recorders do write, are let through.

    A lone surrogate becomes U+FFFD.

    Raises
    ------
    UnreadableTrajectory
        No JSON, not UTF-8, or nested too deep; names file and line.
    """
    try:
        return _untyped.decode(data)
    except RecursionError as error:
        raise unreadable("nested too deep", source) from error
    except msgspec.DecodeError as strict:
        try:
            return _without_surrogates(json.loads(data))
        except UnicodeDecodeError as error:
            raise unreadable(f"not UTF-8 at byte {error.start}", source) from error
        except RecursionError as error:
            raise unreadable("nested too deep", source) from error
        except ValueError as error:
            raise unreadable(f"no JSON: {strict}", source) from error


def decode_as(decoder: "msgspec.json.Decoder[T]", data: bytes, source: Source) -> T:
    """The value in `data` as the type of `decoder`, with the same leniency as `decode_json`.

    Raises
    ------
    UnreadableTrajectory
        As `decode_json`, or a field has the wrong type; names the field.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise unreadable(str(error), source) from error
    except (msgspec.DecodeError, RecursionError):
        value = decode_json(data, source)
        return convert(value, decoder.type, source)


def convert(value: Any, type_: type[T], source: Source) -> T:
    """A decoded JSON value as `type_`.

    Raises
    ------
    UnreadableTrajectory
        A field has the wrong type; names the field.
    """
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise unreadable(str(error), source) from error
    except RecursionError as error:
        raise unreadable("nested too deep", source) from error


def unreadable(found: str, source: Source, line: int | None = None, field: str | None = None) -> UnreadableTrajectory:
    """The error for a broken trajectory, placed at its file and line."""
    return UnreadableTrajectory(found, file=source.file, line=line or source.line, field=field)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value
