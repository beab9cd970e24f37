"""Rows in short: how many printed figures were compared and with which result, and one figure in a few words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep_analysis.tables import WORST_FIRST, Row, Status, Table
from misstep_analysis.tables.inputs import data_sets_behind
from misstep_analysis.tables.wording import count_text, interval_text, value_text


class _Counted(Struct, frozen=True):
    """The printed figures of some rows by status, and how many figures the rows show.

    A printed figure counts once, by its worst status; `repeated` says whether any is in several rows.
    """

    statuses: tuple[Status, ...]
    figures: int
    repeated: bool


def counted(rows: Sequence[Row]) -> _Counted:
    """Return the figures of some rows; a row that names no printed figure is one by itself."""
    alone = [row.status for row in rows if row.status is not None and not row.figures]
    # A printed figure and its recomputed one are one figure each in whatever table.
    figures = len({(name, row.evidence) for row in rows for name in row.figures}) + sum(not row.figures for row in rows)
    statuses = (*_worst(rows).values(), *alone)
    repeated = figures < len(rows) or len(statuses) < sum(row.status is not None for row in rows)
    return _Counted(statuses, figures, repeated)


def counted_by_paper(rows: Sequence[Row]) -> dict[str, Counter[Status]]:
    """Return slug of a paper → how many of its printed figures have which status, each counted as in `counted`.

    A rate that is stated elsewhere, which no paper prints, is under an empty slug.
    """
    papers: dict[str, Counter[Status]] = {}
    for name, status in _worst(rows).items():
        papers.setdefault(name.partition("/")[0], Counter())[status] += 1
    for row in rows:
        if row.status is not None and not row.figures:
            papers.setdefault("", Counter())[row.status] += 1
    return papers


def _worst(rows: Iterable[Row]) -> dict[str, Status]:
    worst: dict[str, Status] = {}
    for row in rows:
        if row.status is not None:
            for name in row.figures:
                worst[name] = min(worst.get(name, row.status), row.status, key=WORST_FIRST.index)
    return worst


def measured_rows(table: Table, dataset: str) -> list[Row]:
    """Return the figures of a table that are measured on one data set alone, those with an interval first."""
    rows = [
        row
        for row in table.rows
        if row.evidence == "real" and isinstance(row.value, int | float) and data_sets_behind(row, table) == (dataset,)
    ]
    return sorted(rows, key=lambda row: row.low is None)


def row_text(row: Row) -> str:
    """Return a figure in a few words; a heading that only names the data set it is measured on is left out."""
    known = [interval_text(row), f"n {count_text(row.n)}" if row.n is not None else ""]
    beside = ", ".join(part for part in known if part)
    heading = "" if row.group in row.datasets else row.group
    named = ", ".join(part for part in (heading, row.quantity) if part)
    return f"{named} {value_text(row)}{f' ({beside})' if beside else ''}"
