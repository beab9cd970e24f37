"""A table in a few lines, for a summary of a run: its main figures, and what it could not compute."""

from collections.abc import Sequence

from msgspec import Struct

from misstep_analysis.tables import Evidence, Row, Table
from misstep_analysis.tables.text import aligned
from misstep_analysis.tables.wording import count_text, interval_text, value_text

_FIGURES = 4


class TableInBrief(Struct, frozen=True):
    """A table in brief: `undefined` are its figures without a value, each with the reason."""

    finding: str
    evidence: Evidence | None
    figures: tuple[Row, ...]
    undefined: tuple[str, ...]


def in_brief(table: Table) -> TableInBrief:
    """Return the finding of a table with a few figures: those with an interval, else those with a value."""
    sure = [row for row in table.rows if row.low is not None or row.high is not None]
    known = sure or [row for row in table.rows if row.value is not None]
    undefined = (f"{_name(row)}: {row.reason}" for row in table.rows if row.value is None and row.reason)
    evidence = next((row.evidence for row in table.rows), None)
    return TableInBrief(table.finding, evidence, tuple(known[:_FIGURES]), tuple(undefined))


def figure_lines(rows: Sequence[Row]) -> list[str]:
    """Return figures as aligned lines: name, value, interval, n."""
    return aligned([(f"  {_name(row)}", value_text(row), _interval(row), count_text(row.n)) for row in rows])


def _name(row: Row) -> str:
    return ": ".join(filter(None, (row.group, row.quantity)))


def _interval(row: Row) -> str:
    interval = interval_text(row)
    return f"[{interval}]" if interval else ""
