"""Read a field of another tool's file, whatever it holds."""

import math
from typing import Any

from misstep.harness.values import plain


def mapping(value: Any) -> dict[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; none for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return a text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def scalars(value: Any) -> dict[str, str]:
    """Return the fields of an object that are texts or numbers, as texts; empty for anything else."""
    return {name: plain(field) for name, field in mapping(value).items() if isinstance(field, str | int | float)}


def share(value: Any) -> float | None:
    """Return a number from 0 to 1, as a number or its text; `None` for anything else."""
    number = number_text(value)
    return float(number) if number and 0 <= float(number) <= 1 else None


def number_text(value: Any) -> str:
    """Return a number as text, alike whether CSV or JSON wrote it; empty for anything else, as NaN in a frame."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return ""
    return plain(number) if math.isfinite(number) else ""
