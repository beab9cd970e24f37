"""Ratings as every tool's export gives them, on their way to a table of one rating a row."""

from collections import Counter
from typing import Any

from msgspec import Struct, field

from misstep_analysis.labels.records import LabelRecords
from misstep_analysis.labels.rows import LabelRows
from misstep_harness.errors import InputError
from misstep_harness.values import plain

QUESTION, TIME = "question", "time"
_HEADER = ["item", "rater", "label", QUESTION, TIME]
_OWN_FIELDS = ("data", "meta", "metadata", "fields")
"""Where the tools keep what a task was made of: Label Studio, Prodigy, and Argilla in two places."""


class ToolRatings(Struct):
    """The ratings of an export, gathered one by one.

    - `item_field`: The field of a task that names its item; the tool's own name of the task if empty.
    - `rows`: Item, rater, label, question and time of each; an empty label is a missing rating.
    """

    tool: str
    records: LabelRecords
    item_field: str = ""
    rows: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def item(self, place: int, task: dict[str, Any], usual: object) -> str:
        """Return what the item of a task is called: as a person said, or as usual."""
        if not self.item_field:
            return plain(usual)
        for fields in (task, *map(task.get, _OWN_FIELDS)):
            if isinstance(fields, dict) and fields.get(self.item_field) not in (None, ""):
                return plain(fields[self.item_field])
        advice = "Name a field that each task has, or leave --item out."
        line, where = self._where(place)
        problem = f"the task has no field {self.item_field!r}"
        raise InputError(problem, advice, file=self.records.file, line=line, field=where)

    def add(self, place: int, item: str, rater: object, question: str, label: str, time: object = None) -> None:
        """One more rating, of the record at this place."""
        name = "" if rater is None else str(rater)
        if not name.strip():
            line, where = self._where(place)
            advice = f"Export with the annotators; {self.tool} names each."
            raise InputError("a rating without an annotator", advice, file=self.records.file, line=line, field=where)
        self.rows.append((item, name, label, question, "" if time is None else str(time)))
        self.places.append(place)

    def table(self) -> LabelRows:
        """Return the ratings as a table."""
        if not self.rows:
            problem = f"an export of {self.tool} without a rating"
            if self.left_out:
                problem += f" ({self._left_out()})"
            raise InputError(problem, "Export choices or ratings of whole items.", file=self.records.file)
        columns = list(zip(*self.rows, strict=True))
        return LabelRows(self.records.file, "", "", _HEADER, [*columns], self.places, self.records.unit)

    def remarks(self) -> list[str]:
        """Return what a person should know about how the export was read, a sentence each."""
        remarks = [f"read as an export of {self.tool}"]
        return [*remarks, f"not counted as ratings: {self._left_out()}"] if self.left_out else remarks

    def _where(self, place: int) -> tuple[int | None, str | None]:
        unit = self.records.unit
        return (place, None) if unit == "line" else (None, f"{unit} {place}")

    def _left_out(self) -> str:
        return ", ".join(f"{what} ({times:,})" for what, times in sorted(self.left_out.items()))
