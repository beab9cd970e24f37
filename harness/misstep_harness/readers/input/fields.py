"""Fields of JSON objects as recorders fill them: read as what they should be, and kept where they have no place."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

_LARGEST = 2**53
"""From here on not every whole number is a floating-point number."""


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


def whole(value: Any) -> int | None:
    """Return a whole number; `None` for anything else, such as a truth value."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def first_whole(values: Iterable[Any]) -> int | None:
    """Return the first whole number among values."""
    return next((value for value in values if whole(value) is not None), None)


def amount(value: Any) -> float | None:
    """Return an amount of dollars, seconds or points; `None` for anything else, as a number too large to be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST and math.isfinite(value) else None


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


def filled(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields that say something: not null and not an empty text, list or object."""
    return {name: field for name, field in fields if not _is_empty(field)}


def _is_empty(field: Any) -> bool:
    return field is None or (isinstance(field, str | list | dict | tuple) and not field)


def rest_of(value: dict[str, Any], placed: type[msgspec.Struct], *more: str) -> dict[str, Any]:
    """Return the fields of a JSON object that neither the type nor `more` name, empty ones left out: for `extra`."""
    known = {*placed.__struct_encode_fields__, *more}
    return {name: field for name, field in value.items() if name not in known and not _is_empty(field)}


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the fields of a JSON object that `names` do not name, empty ones left out."""
    return filled((name, field) for name, field in value.items() if name not in names)


def kept_line(number: int, value: Any) -> dict[str, Any]:
    """Return a line that is not a turn as it is kept with the steps."""
    return {"line": number, "value": value}
