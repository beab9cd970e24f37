"""The rows of tables as records of one type, for people who take all figures of a run with them."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from misstep_analysis.tables import Evidence, Row, Table, Unit
from misstep_analysis.tables.files import finite


class FigureRow(Struct, frozen=True):
    """One figure of the run, with its interval and its evidence.

    - `table`: The table of the run's page.
    - `group`: The heading above it in the table.
    - `quantity`: The quantity.
    - `value`: The figure; null if it is a text or not defined.
    - `text`: The text, if it is not a figure.
    - `low`, `high`: The bounds of its interval.
    - `n`: The number of things that it is computed from.
    - `unit`: The unit: a share, a count, a coefficient and so on.
    - `evidence`: `generated` if it was measured on cases whose truth is known by construction, `real` if on recorded
      data.
    - `method`: The way in which value and interval were computed.
    - `reason`: The reason for a missing value, or a warning.
    - `source`: The data that it was measured on.
    """

    table: str
    group: str
    quantity: str
    value: float | None
    text: str | None
    low: float | None
    high: float | None
    n: int | None
    unit: Unit
    evidence: Evidence
    method: str
    reason: str
    source: str


def figures_of(tables: Sequence[Table]) -> Iterator[FigureRow]:
    """Return the figures of some tables, in their order."""
    return (_figure(table.title, row) for table in tables for row in table.rows)


def is_generated(tables: Sequence[Table]) -> bool:
    """Return whether all figures of some tables are measured on generated cases."""
    return {row.evidence for table in tables for row in table.rows} == {"generated"}


def _figure(title: str, row: Row) -> FigureRow:
    text = row.value if isinstance(row.value, str) else None
    value = None if text is not None or row.value is None else finite(float(row.value))
    low, high, how = finite(row.low), finite(row.high), (row.method, row.reason, row.source)
    return FigureRow(title, row.group, row.quantity, value, text, low, high, row.n, row.unit, row.evidence, *how)
