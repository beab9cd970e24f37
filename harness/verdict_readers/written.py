"""A verdict as another tool wrote it, not yet compared with a benchmark's labels."""

from typing import Literal

from msgspec import Struct

from misstep.harness.errors import InputError
from misstep.harness.verdict import Status

Unit = Literal["line", "record"]

EVERY = "*"
"""The judge of what is said of all judges: why none of them has a verdict on an item."""


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
    - `judge`: Empty if the file does not say, and `EVERY` if it is said of all judges at once.
    - `status`: What the tool says of the answer. Without a label it is never `answered`.
    - `score`: The judge's certainty of its label, from 0 to 1.
    - `grade`: Without a score: a number from 0 to 1 whose meaning the tool does not say. It may be that certainty,
      or how much of one of two labels the item has.
    - `model`: The model that answered.
    - `error`: Why there is no label.
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
