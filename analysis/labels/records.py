"""Objects of a JSON document or of JSON Lines, as annotation tools export them, and where in the file each stands."""

import re
from typing import Any

import msgspec
from msgspec import Struct

from misstep.harness.errors import InputError
from misstep.harness.values import plain

_ADVICE = "Give a list of objects, or one object a line."
_OPENS = re.compile(r'\s*+(?:\[\s*+[{\]]|\{\s*+["}])')

SEVERAL = " + "
"""Stands between the choices of a rating that made several."""


class LabelRecords(Struct, frozen=True):
    """The objects of a file.

    - `file`: As the user named it.
    - `values`: The objects.
    - `places`: The number of each, from 1: of its line, or of the record in its list.
    - `unit`: What such a number counts: `line` or `record`.
    """

    file: str
    values: list[dict[str, Any]]
    places: list[int]
    unit: str


def is_json(text: str) -> bool:
    """Return whether a text opens as a list of objects or as an object."""
    return _OPENS.match(text) is not None


def json_records(text: str, file: str) -> LabelRecords:
    """Return the objects of a JSON list, or of JSON Lines."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        if len(lines) < 2 or text.lstrip().startswith("["):
            raise InputError(f"not valid JSON: {error}", _ADVICE, file=file) from error
        values = [_line(line, number, file) for number, line in lines]
        return LabelRecords(file, values, [number for number, _ in lines], "line")
    if isinstance(document, dict):
        return LabelRecords(file, [document], [lines[0][0]], "line")
    for number, value in enumerate(document, start=1):
        if not isinstance(value, dict):
            raise InputError("not an object", _ADVICE, file=file, field=f"record {number}")
    return LabelRecords(file, document, list(range(1, len(document) + 1)), "record")


def _line(line: str, number: int, file: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", _ADVICE, file=file, line=number) from error
    if not isinstance(value, dict):
        raise InputError("not an object", _ADVICE, file=file, line=number)
    return value


def label_text(value: Any) -> str | None:
    """A value as the text of a label; several choices are in alphabetical order; `None` for what is not a label."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [label_text(part) for part in value if not isinstance(part, list)]
        known = [part for part in parts if part]
        return SEVERAL.join(sorted(known)) if len(known) == len(value) else None
    return None if isinstance(value, dict) else plain(value)
