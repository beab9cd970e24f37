"""A verdict as another tool wrote it, not yet compared with a benchmark's labels, and fields of its file."""

import math
from typing import Any, Literal

from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.values import plain
from misstep_harness.verdict import Status

Unit = Literal["line", "record"]

EVERY = "*"
"""The judge of a verdict that stands for all judges: why none of them has one on an item."""


class Place(Struct, frozen=True):
    """A line of a file, or a record of a file that is one JSON list; both are counted from 1."""

    file: str
    number: int
    unit: Unit = "line"

    def error(self, message: str, advice: str, field: str = "") -> InputError:
        """Return an error about a field at this place."""
        if self.unit == "line":
            return InputError(message, advice, file=self.file, line=self.number, field=field or None)
        return InputError(message, advice, file=self.file, field=": ".join(filter(None, (str(self), field))))

    def __str__(self) -> str:
        return f"{self.unit} {self.number}"


class WrittenVerdict(Struct, frozen=True):
    """A tool's verdict on one item.

    - `label`: The label in the tool's words; `None` if it gave none.
    - `judge`: Empty if the file does not say, and `EVERY` if it speaks of all judges at once.
    - `status`: What the tool says of the answer. Without a label it is never `answered`.
    - `score`: The judge's certainty of its label, from 0 to 1.
    - `grade`: Without a score: a number whose meaning the tool does not say. It may be that certainty, how much of
      one of two labels the item has, or points.
    - `model`: The model that answered.
    - `error`: Why the label is missing.
    - `written_as`: The grade that the tool counted in place of a missing label, such as `0`; empty if it counted none.
    - `attempt`: Which attempt at the item was judged, counted from 1.
    - `names`: What else the tool says of the item, field → text: one of them may be the item's id in the benchmark.
    """

    item: str
    label: str | None
    place: Place
    judge: str = ""
    status: Status = "answered"
    score: float | None = None
    rationale: str = ""
    model: str | None = None
    error: str | None = None
    written_as: str = ""
    attempt: int = 1
    names: dict[str, str] = {}
    grade: float | None = None

    def __post_init__(self) -> None:
        if (self.label is None) == (self.status == "answered"):
            raise ValueError(f"a verdict has a label exactly when it is answered: {self.label!r}, {self.status}")


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
