"""Checked figures as rows of tables: each figure as printed, beside what working it out again gives."""

from collections.abc import Iterable, Sequence

from msgspec import structs

from analysis.audit.checked import Checked
from analysis.audit.checks import check_ways
from analysis.audit.rounding_boxes import is_exact_count
from analysis.published import Figure, Paper, published_row
from analysis.stats.audit import counts_that_print
from analysis.stats.proportions import wilson
from analysis.tables import FAILED, STATUS_WORDS, WORST_FIRST, Row, Status

_ROUNDING = "range that the rounding of the printed inputs leaves open"


def checked_rows(
    paper: Paper,
    figures: Iterable[Figure],
    group: str = "",
    quantity: str = "",
    statuses: Sequence[Status] | None = None,
) -> list[Row]:
    """Each figure as printed, and after it a row for each way to work it out again.

    Parameters
    ----------
    paper, figures
        Which figures of which paper.
    group
        The heading that they stand under.
    quantity
        The name of the rows; by default the figure's own row and column.
    statuses
        Which results to show, with their figures; by default all, and the figures that nothing was asked of.
    """
    rows: list[Row] = []
    for figure in figures:
        name = quantity or f"{figure.row}: {figure.column}"
        found = check_ways(paper, figure)
        shown = [checked for checked in found if statuses is None or checked.status in statuses]
        if shown or statuses is None:
            rows.append(published_row(figure, name, group=group))
        rows += [recomputed_row(figure, checked, name, group) for checked in shown]
    return rows


def recomputed_row(figure: Figure, checked: Checked, quantity: str, group: str = "") -> Row:
    """What working a figure out again gave, as a row; its range is that of the inputs' rounding, not of sampling."""
    return Row(
        quantity=quantity,
        value=checked.value,
        low=checked.low,
        high=checked.high,
        evidence="recomputed",
        source=figure.place,
        status=checked.status,
        reason="" if checked.status == "reproduced" else checked.explanation,
        unit="number" if figure.unit == "text" else figure.unit,
        method="" if checked.low is None else _ROUNDING,
        group=group,
        figures=figure.named,
    )


def with_interval(paper: Paper, figure: Figure, row: Row) -> Row:
    """A share's row with the count behind it and its Wilson interval, where one whole count of one n prints so."""
    derivation = next((way for way in figure.derivations if way.check == "percentage"), None)
    names = {} if derivation is None else derivation.inputs
    n_name, count_name = names.get("n"), names.get("count")
    if not isinstance(n_name, str) or "repeats" in names or not is_exact_count(paper[n_name]):
        return row
    n = int(paper[n_name].number)
    counts: Sequence[int] = (
        counts_that_print(figure.digits, n) if not isinstance(count_name, str) else (int(paper[count_name].number),)
    )
    if len(counts) != 1:
        return structs.replace(row, n=n)
    estimate = wilson(counts[0], n)
    return structs.replace(
        row,
        low=estimate.low,
        high=estimate.high,
        n=n,
        source=f"{counts[0]:,} / {n:,}, {figure.place}",
        method=estimate.method,
    )


def told(statuses: Sequence[Status], what: str) -> str:
    """One sentence on how many checks there were and how they ended, the worst first."""
    counts = [(statuses.count(status), status) for status in WORST_FIRST if status in statuses]
    words = ", ".join(f"{count} {STATUS_WORDS[status][count != 1]}" for count, status in counts)
    return f"Of {len(statuses)} checks of {what}, {words}."


def worst(rows: Iterable[Row]) -> Row | None:
    """The first row of the worst status, `None` where every check is reproduced or underdetermined."""
    failed = [row for row in rows if row.status in FAILED]
    return min(failed, key=lambda row: WORST_FIRST.index(row.status or "reproduced"), default=None)


def finding(rows: Sequence[Row], what: str) -> str:
    """One sentence on a table's rows: the worst of them first, then how all checks ended."""
    ended = told([row.status for row in rows if row.status is not None], what)
    row = worst(rows)
    if row is None:
        return ended
    name = f"{row.group} ({row.quantity[0].lower()}{row.quantity[1:]})" if row.group else row.quantity
    return f"{name}: {row.reason.partition(' Suggestion: ')[0].rstrip('.')}; {ended[0].lower()}{ended[1:]}"
