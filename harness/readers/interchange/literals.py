"""Python literals, as some frameworks print calls, to JSON values.

JSON has no tuple, set, bytes, complex number, `...` or name that is not text: tuples and sets become lists (sets in the
order of what they print as), bytes text, and everything else, a number that is not finite included, what Python prints
of it: `{1: b"a", "x": {2, 1}, "y": 1j}` gives `{"1": "a", "x": [1, 2], "y": "1j"}`.
"""

import ast
import math
import warnings
from typing import Any

from misstep.harness.escaping import without_surrogates

_MOST_BITS = 14_000
"""Longer whole numbers have more digits than Python prints."""


def json_value_of_literal(text: str) -> Any:
    """Return the value of a Python literal as a JSON value; `None` where the text is none, or is nested too deep."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a text from outside, such as "\d" in it
            return _json_value(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, int):
        return value if value.bit_length() <= _MOST_BITS else hex(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, dict):
        return {_name(name): _json_value(item) for name, item in value.items()}
    if isinstance(value, set):
        return [_json_value(item) for item in sorted(value, key=repr)]
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    return repr(value)


def _name(name: Any) -> str:
    """Return a key as the name of a JSON object."""
    said = _json_value(name)
    return said if isinstance(said, str) else repr(said)
