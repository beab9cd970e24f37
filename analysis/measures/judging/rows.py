"""What tables of judges are made with: rows by a declared list of fields, rows of p-values, and the table itself."""

from collections.abc import Iterable

from misstep.analysis.tables import Row, Table, Unit, made_by_this, rows_of

Field = tuple[str, str, Unit]
"""A row to show: its name, the field of the result that holds the estimate, and its unit."""


def field_rows(result: object, fields: Iterable[Field], group: str, source: str) -> list[Row]:
    """Return a row for each of some fields of a result."""
    return list(rows_of(((name, getattr(result, field), unit) for name, field, unit in fields), group, source))


def p_rows(
    p_value: float | None, p_adjusted: float | None, test: str, group: str, source: str, reason: str = ""
) -> list[Row]:
    """Return a p-value and the same adjusted for the other tests of the table."""
    return [
        Row(name, value, unit="p", method=test, group=group, source=source, reason=reason)
        for name, value in (("p", p_value), ("p, adjusted after Holm", p_adjusted))
    ]


@made_by_this
def judging_table(
    name: str, title: str, finding: str, rows: Iterable[Row], notes: Iterable[str] = (), datasets: tuple[str, ...] = ()
) -> Table:
    """Return a table of the pages about judges; empty notes are left out."""
    return Table(name, "judging", title, finding, tuple(rows), tuple(filter(None, notes)), datasets)
