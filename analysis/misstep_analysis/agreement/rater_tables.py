"""Tables of one rater beside the others, of all raters, and of the items that a narrower interval takes."""

from collections.abc import Iterator

from misstep_analysis.agreement.intervals import WidthGoal
from misstep_analysis.agreement.raters import LabelUse, RaterReport, told_apart
from misstep_analysis.agreement.report import AgreementReport, RaterDissent, dissents
from misstep_analysis.agreement.tables import overall_estimates, pair_rows
from misstep_analysis.tables import Row, Table, estimate_row, made_by_this, rows_of
from misstep_analysis.tables.wording import counted_text, number_text, with_interval

_MOST_ITEMS = 50

APPROXIMATE = (
    "The numbers of items are approximate: they hold for further items like these, labelled by as many raters, "
    "as an interval narrows with the root of the number of items."
)

WITH_MAJORITY = "with the majority of the others"


@made_by_this
def raters_table(report: AgreementReport) -> Table:
    """Return how often each rater goes with the majority of the others."""
    rows = tuple(estimate_row(one.rater, one.with_majority, "share") for one in report.by_rater)
    known = [(one.with_majority.value, one.rater) for one in report.by_rater if one.with_majority.value is not None]
    finding = "No label leads among the others of any rater."
    if known:
        (low, last), (high, first) = min(known), max(known)
        finding = f"The share of items on which a rater goes {WITH_MAJORITY} runs from {_share(low)} ({last}) "
        finding += f"to {_share(high)} ({first})."
    note = "The majority of the others is the one label that most of them gave; where several lead, an item has none."
    return Table("raters", "agreement", f"Raters {WITH_MAJORITY}", finding, rows, (note,))


def rater_tables(report: AgreementReport, rater: RaterReport, number: int) -> Iterator[Table]:
    """Return one rater with each other rater, label by label beside them, and where they labelled otherwise."""
    yield _others_table(report, rater, f"rater_{number}")
    if rater.labels:
        yield _labels_table(rater, f"rater_{number}_labels")
    items = dissents(report, rater.rater)
    if items:
        yield _dissents_table(rater, items, f"rater_{number}_items")


@made_by_this
def _others_table(report: AgreementReport, rater: RaterReport, name: str) -> Table:
    rows = tuple(
        row
        for pair in report.pairs
        if rater.rater in pair.raters
        for row in pair_rows(pair, next(other for other in pair.raters if other != rater.rater))
    )
    return Table(name, "agreement", f"{rater.rater} with each other rater", rater_finding(rater), rows)


@made_by_this
def _labels_table(rater: RaterReport, name: str) -> Table:
    rows: list[Row] = []
    for use in rater.labels:
        shares = ((rater.rater, use.share), ("the others", use.others))
        rows += rows_of(((name, share, "share") for name, share in shares), use.category)
        rows.append(estimate_row("difference", use.difference, "difference", use.category))
    title = f"Labels of {rater.rater} and of the others on the same items"
    return Table(name, "agreement", title, use_finding(rater), tuple(rows))


@made_by_this
def _dissents_table(rater: RaterReport, items: list[RaterDissent], name: str) -> Table:
    finding = f"{rater.rater} labels {counted_text(len(items), 'item')} otherwise than the majority of the others."
    rows: list[Row] = []
    for item in items[:_MOST_ITEMS]:
        labels = ((rater.rater, item.label), ("the others", item.others))
        rows += rows_of(((name, label, "text") for name, label in labels), item.item)
    rest = len(items) - _MOST_ITEMS
    notes = (f"The first {_MOST_ITEMS}; the output of --json has the labels of all.",) if rest > 0 else ()
    return Table(name, "agreement", f"Items on which {rater.rater} stands apart", finding, tuple(rows), notes)


def rater_finding(rater: RaterReport) -> str:
    """Return how often a rater goes with the majority of the others, in one sentence."""
    share = rater.with_majority
    if share.value is None or share.n is None:
        return f"{rater.rater} cannot be compared with a majority: {share.reason}."
    return (
        f"{rater.rater} goes {WITH_MAJORITY} on {with_interval(share, 'share')} of the {share.n:,} items that have one."
    )


def use_finding(rater: RaterReport) -> str:
    """Return which labels a rater uses more or less often than the others, in one sentence."""
    apart = list(told_apart(rater))
    parts = [
        f"{word} often {', '.join(f'{use.category} ({_points(use)})' for use in uses)}"
        for word, uses in (
            ("more", [use for use in apart if (use.difference.value or 0) > 0]),
            ("less", [use for use in apart if (use.difference.value or 0) < 0]),
        )
        if uses
    ]
    if not parts:
        return f"No label of {rater.rater} is more or less frequent than with the others beyond its interval."
    return f"Than the others on the same items, {rater.rater} uses {' and '.join(parts)}."


def use_text(rater: RaterReport) -> str:
    """Return the labels that a rater uses more or less often than the others, briefly."""
    return ", ".join(
        f"{use.category} {'more' if (use.difference.value or 0) > 0 else 'less'} often ({_points(use)})"
        for use in told_apart(rater)
    )


@made_by_this
def width_table(report: AgreementReport, goal: WidthGoal) -> Table:
    """Return the items that intervals of the width that is wished for would take."""
    rows = []
    for (name, _), needed in zip(overall_estimates(report), goal.coefficients, strict=True):
        rows += [
            Row("interval now", needed.interval_width, unit="coefficient", group=name, reason=needed.reason),
            Row("items in all", needed.items, unit="count", group=name),
            Row("more than now", needed.more, unit="count", group=name),
        ]
    title = f"Items for intervals {number_text(goal.width, 'number')} wide"
    return Table("items_for_width", "agreement", title, width_finding(report, goal), tuple(rows), (APPROXIMATE,))


def width_finding(report: AgreementReport, goal: WidthGoal) -> str:
    """Return what the coefficient that leads the report takes, in one sentence."""
    place = 0 if report.level == "nominal" else 1
    (name, _), needed = overall_estimates(report)[place], goal.coefficients[place]
    wide = number_text(goal.width, "number")
    if needed.items is None or needed.more is None:
        return f"It cannot be said how many items give {name} an interval {wide} wide: {needed.reason}."
    if not needed.more:
        return f"The interval of {name} is no wider than {wide} already."
    more = counted_text(needed.more, "more item")
    return f"About {more} ({needed.items:,} in all) would narrow the interval of {name} to {wide}."


def _points(use: LabelUse) -> str:
    return number_text(use.difference.value, "difference")


def _share(value: float) -> str:
    return number_text(value, "share")
