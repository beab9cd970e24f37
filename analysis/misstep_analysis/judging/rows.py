"""What tables of judges are made with: rows of p-values, and the table itself."""

from collections.abc import Iterable

from misstep_analysis.tables import Row, Table, made_by_this


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
