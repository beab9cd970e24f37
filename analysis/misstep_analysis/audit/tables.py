"""Checked figures under the names that a table gives them, the source of its rows and sentences."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep_analysis.audit.checks import check_ways
from misstep_analysis.audit.rounding_boxes import Checked, is_exact_count
from misstep_analysis.published import Figure, Paper, published_row
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.audit import counts_that_print
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import FAILED, STATUS_WORDS, WORST_FIRST, Row, Status

ROUNDING = "range that the rounding of the printed inputs leaves open"


class PrintedCount(Struct, frozen=True):
    """The whole count of n cases that a share is; `count` is `None` if several print so."""

    n: int
    count: int | None = None

    @property
    def estimate(self) -> Estimate:
        """Return the share with its Wilson interval."""
        return Estimate(None, n=self.n) if self.count is None else wilson(self.count, self.n)


class CheckedFigure(Struct, frozen=True):
    """A printed figure, its name in a table, and the result of each way to compute it again.

    `heading` is the one above its rows; `n` is its number of cases, if the table has it; the interval of sampling
    comes from `count`.
    """

    figure: Figure
    name: str
    heading: str = ""
    checks: tuple[Checked, ...] = ()
    n: int | None = None
    count: PrintedCount | None = None

    @property
    def share(self) -> Estimate:
        """Return the share that the count gives, with its interval, or without one if several counts print so."""
        return Estimate(None) if self.count is None else self.count.estimate


def checked_figure(
    paper: Paper,
    figure: Figure,
    name: str = "",
    heading: str = "",
    *,
    n: int | None = None,
    with_count: bool = False,
    statuses: Sequence[Status] | None = None,
) -> CheckedFigure:
    """Return a figure computed again in every way."""
    return CheckedFigure(
        figure,
        name or f"{figure.row}: {figure.column}",
        heading,
        tuple(check for check in check_ways(paper, figure) if statuses is None or check.status in statuses),
        n,
        printed_count(paper, figure) if with_count else None,
    )


def printed_count(paper: Paper, figure: Figure) -> PrintedCount | None:
    """Return the count of n behind a share; `None` where its n is not printed."""
    derivation = next((way for way in figure.derivations if way.check == "percentage"), None)
    names = {} if derivation is None else derivation.inputs
    n_name, count_name = names.get("n"), names.get("count")
    if not isinstance(n_name, str) or "repeats" in names or not is_exact_count(paper[n_name]):
        return None
    n = int(paper[n_name].number)
    counts: Sequence[int] = (
        counts_that_print(figure.digits, n) if not isinstance(count_name, str) else (int(paper[count_name].number),)
    )
    return PrintedCount(n, counts[0] if len(counts) == 1 else None)


def checked_rows(figures: Iterable[CheckedFigure]) -> list[Row]:
    """Return each figure as printed, and after it a row for each way to work it out again."""
    return [
        row
        for one in figures
        for row in (
            published_row(one.figure, one.name, n=one.n, group=one.heading),
            *(_recomputed_row(one, check) for check in one.checks),
        )
    ]


def recomputed_rows(figures: Iterable[CheckedFigure]) -> list[Row]:
    """Return a row for each way to work each figure out again, without what is printed."""
    return [_recomputed_row(one, check) for one in figures for check in one.checks]


def _recomputed_row(one: CheckedFigure, check: Checked) -> Row:
    """Return the result of computing a figure again; its interval is of sampling if the count is known."""
    place = one.figure.place
    if one.count is None or one.count.count is None:
        low, high, method = check.low, check.high, "" if check.low is None else ROUNDING
    else:
        low, high, method = one.share.low, one.share.high, one.share.method
        place = f"{one.count.count:,} / {one.count.n:,}, {place}"
    return Row(
        quantity=one.name,
        value=check.value,
        low=low,
        high=high,
        n=one.n if one.count is None else one.count.n,
        evidence="recomputed",
        source=place,
        status=check.status,
        reason="" if check.status == "reproduced" else check.explanation,
        unit="number" if one.figure.unit == "text" else one.figure.unit,
        method=method,
        group=one.heading,
        figures=one.figure.named,
    )


def ended(figures: Iterable[CheckedFigure], what: str) -> str:
    """Return one sentence on how many checks of some figures there were and how they ended, the worst first."""
    statuses = [check.status for one in figures for check in one.checks]
    counts = [(statuses.count(status), status) for status in WORST_FIRST if status in statuses]
    words = ", ".join(f"{count} {STATUS_WORDS[status][count != 1]}" for count, status in counts)
    return f"Of {len(statuses)} checks of {what}, {words}."


def worst(figures: Iterable[CheckedFigure]) -> tuple[CheckedFigure, Checked] | None:
    """Return the first result of the worst status, `None` if every check is reproduced or underdetermined."""
    failed = [(one, check) for one in figures for check in one.checks if check.status in FAILED]
    return min(failed, key=lambda result: WORST_FIRST.index(result[1].status), default=None)


def finding(figures: Sequence[CheckedFigure], what: str) -> str:
    """Return one sentence on a table's figures: the worst of them first, then how all checks ended."""
    sentence, failed = ended(figures, what), worst(figures)
    if failed is None:
        return sentence
    one, check = failed
    name = f"{one.heading} ({one.name[0].lower()}{one.name[1:]})" if one.heading else one.name
    return f"{name}: {check.sentence.rstrip('.')}; {sentence[0].lower()}{sentence[1:]}"
