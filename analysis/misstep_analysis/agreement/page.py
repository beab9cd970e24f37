"""The report of `misstep agreement` as one HTML page."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from msgspec import structs

from misstep_analysis.agreement.intervals import WidthGoal
from misstep_analysis.agreement.report import (
    AgreementReport,
    LabelUse,
    Pair,
    QuestionReports,
    RaterDissent,
    RaterReport,
    dissents,
    told_apart,
)
from misstep_analysis.agreement.tables import (
    category_table,
    confusion_tables,
    confusions,
    disagreement_tables,
    headline,
    kappa_rows,
    method_notes,
    overall_estimates,
    overall_table,
    pair_estimates,
    pair_rows,
    pair_table,
    question_table,
    questions_headline,
    tally,
)
from misstep_analysis.pages import Foot, Section, page
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Row, Table, Unit, estimate_row, made_by_this, rows_of
from misstep_analysis.tables.text import aligned, cut
from misstep_analysis.tables.wording import MISSING, count_text, counted_text, number_text, with_interval
from misstep_harness.escaping import plain

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


_ITEMS_SHOWN = 20
_PAIRS_SHOWN = 45
_LABELS_SHOWN = 50
_MATRICES_SHOWN = 6
_MATRIX_LABELS = 10
_RATERS_ABREAST = 5
_WIDEST = 40
_WIDTH = 110

Lines = Iterator[str]


def reports_text(reports: QuestionReports) -> str:
    """Return the report of a file's one question, or one report after the other under the names of the questions."""
    if list(reports.reports) == [""]:
        return report_text(reports.reports[""])
    parts = ["\n".join(_folded(questions_headline(reports)))]
    for name, report in reports.reports.items():
        title = plain(f"Question: {name}")
        parts.append(f"{title}\n{'=' * len(title)}\n\n{report_text(report)}")
    return "\n\n".join(parts)


def report_text(report: AgreementReport) -> str:
    """Return the report, long lists cut with the number of entries left."""
    parts = (
        _folded(headline(report)),
        _overall(report),
        _goal(report),
        _pairs(report),
        _weighted(report),
        _raters(report),
        _labels(report),
        _confusion(report),
        _disagreements(report),
        _consensus(report),
        [line for note in method_notes(report) for line in _folded(note)],
    )
    return "\n\n".join("\n".join(part) for part in map(list, parts) if part)


def _overall(report: AgreementReport) -> Lines:
    rows = [
        [name, number_text(one.value, "coefficient"), _interval(one), count_text(one.n), one.reason]
        for name, one in overall_estimates(report)
    ]
    rated_twice = count_text(report.krippendorff_alpha.n)
    rows.append(["Agreement", number_text(report.percent_agreement, "share"), "", rated_twice, ""])
    yield from _aligned(["All raters", "", "95% interval", "items", ""], rows)


def _pairs(report: AgreementReport) -> Lines:
    shown = report.pairs[:_PAIRS_SHOWN]
    yield from _aligned(
        ["Pairs of raters", "agreement", "Cohen's kappa", "95% interval", "items", ""],
        (
            [
                " / ".join(pair.raters),
                number_text(pair.agreement, "share"),
                number_text(pair.cohen_kappa, "coefficient"),
                _interval(pair.cohen_kappa_interval),
                count_text(pair.n),
                pair.cohen_kappa_interval.reason,
            ]
            for pair in shown
        ),
    )
    yield from _more(len(report.pairs) - len(shown))


def _weighted(report: AgreementReport) -> Lines:
    shown = [(pair, pair_estimates(pair)[1:]) for pair in report.pairs[:_PAIRS_SHOWN]]
    if any(estimates for _, estimates in shown):
        header = ["Weighted kappa", "linear", "95% interval", "quadratic", "95% interval", "items", ""]
        yield from _aligned(header, (_weighted_row(pair, [one for _, one in estimates]) for pair, estimates in shown))
        yield from _more(len(report.pairs) - len(shown))


def _weighted_row(pair: Pair, estimates: list[Estimate]) -> list[str]:
    figures = [text for one in estimates for text in (number_text(one.value, "coefficient"), _interval(one))]
    return [" / ".join(pair.raters), *figures, count_text(pair.n), estimates[0].reason]


def _goal(report: AgreementReport) -> Lines:
    goal = report.items_for_width
    if goal is None:
        return
    yield from _folded(width_finding(report, goal))
    header = [f"For intervals {number_text(goal.width)} wide", "now", "items in all", "more", ""]
    rows = [
        [name, number_text(one.interval_width, "coefficient"), count_text(one.items), count_text(one.more), one.reason]
        for (name, _), one in zip(overall_estimates(report), goal.coefficients, strict=True)
    ]
    yield from _aligned(header, rows)
    yield from _folded(APPROXIMATE)


def _raters(report: AgreementReport) -> Lines:
    if len(report.by_rater) < 3:
        return
    shown = report.by_rater[:_PAIRS_SHOWN]
    rows = [
        [
            one.rater,
            number_text(one.with_majority.value, "share"),
            _interval(one.with_majority, "share"),
            count_text(one.with_majority.n),
            use_text(one) or one.with_majority.reason,
        ]
        for one in shown
    ]
    yield from _aligned(["Raters", "with the others' majority", "95% interval", "items", ""], rows)
    yield from _more(len(report.by_rater) - len(shown))


def _labels(report: AgreementReport) -> Lines:
    shown = report.by_category[:_LABELS_SHOWN]
    yield from _aligned(
        ["By label", "kappa", "95% interval", "ratings", ""],
        (
            [
                one.category,
                number_text(one.kappa, "coefficient"),
                _interval(one.kappa_interval),
                count_text(one.n),
                one.kappa_interval.reason,
            ]
            for one in shown
        ),
    )
    yield from _more(len(report.by_category) - len(shown))


def _confusion(report: AgreementReport) -> Lines:
    if not report.confusion:
        yield "The confusion matrices are too many or too large to list."
    elif len(report.confusion) <= _MATRICES_SHOWN and len(report.categories) <= _MATRIX_LABELS:
        for place, confusion in enumerate(report.confusion):
            one, other = confusion.raters
            yield from [""] if place else []
            yield from _aligned(
                [f"{one} (rows) by {other}", *confusion.labels],
                ([label, *map(count_text, row)] for label, row in zip(confusion.labels, confusion.matrix, strict=True)),
            )
    elif pairs := confusions(report):
        yield from _aligned(
            ["Most frequent confusions", "items"],
            (
                [f"{one}: {first}, {other}: {second}", count_text(count)]
                for count, one, other, first, second in pairs[:_ITEMS_SHOWN]
            ),
            widest=2 * _WIDEST,
        )
        yield from _more(len(pairs) - _ITEMS_SHOWN)


def _disagreements(report: AgreementReport) -> Lines:
    count = len(report.disagreements)
    if not count:
        yield "Raters disagree on no item."
        return
    share = number_text(count / report.n_items, "share")
    yield f"Raters disagree on {count:,} of {counted_text(report.n_items, 'item')} ({share})"
    shown = report.disagreements[:_ITEMS_SHOWN]
    if len(report.raters) <= _RATERS_ABREAST:
        cells = ([one.item, *(one.labels.get(rater, MISSING) for rater in report.raters)] for one in shown)
        yield from _aligned(["item", *report.raters], cells, words=True)
    else:
        yield from _aligned(
            ["item", "labels"], ([one.item, tally(one)] for one in shown), words=True, widest=2 * _WIDEST
        )
    yield from _more(count - len(shown))


def _consensus(report: AgreementReport) -> Lines:
    tied = [one for one in report.consensus if one.tied]
    decided = len(report.consensus) - len(tied)
    ties = "1 is tied" if len(tied) == 1 else f"{len(tied):,} are tied"
    yield f"Consensus: one label leads on {decided:,} of {counted_text(len(report.consensus), 'rated item')}; {ties}"
    for one in tied[:_ITEMS_SHOWN]:
        yield plain(f"  {cut(one.item, _WIDEST)}: {' / '.join(one.candidates)}")
    yield from _more(len(tied) - _ITEMS_SHOWN)


def _interval(estimate: Estimate, unit: Unit = "coefficient") -> str:
    if estimate.low is None:
        return ""
    return f"{number_text(estimate.low, unit)} to {number_text(estimate.high, unit)}"


def _folded(text: str) -> list[str]:
    return wrap(plain(text), _WIDTH, break_long_words=False, break_on_hyphens=False)


def _more(count: int) -> Lines:
    if count > 0:
        yield f"… {count:,} more (--json lists all)"


def _aligned(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, words: bool = False, widest: int = _WIDEST
) -> Lines:
    """Return a table with its first column to the left and figures to the right; words all to the left.

    A last column without a name holds reasons. They are at the ends of lines if these fit, and under the lines if not.
    """
    table = [[cut(plain(cell), widest) for cell in header]]
    table += [[cut(plain(cell), widest) if cell is not row[-1] else plain(cell) for cell in row] for row in rows]
    last = len(header) - 1
    has_reasons = bool(header) and not header[-1]
    lines = aligned(table, range(len(header)) if words else {0, last} if has_reasons else {0})
    if not has_reasons or max(map(len, lines)) <= _WIDTH:
        yield from lines
        return
    for line, row in zip(aligned([row[:last] for row in table], range(last) if words else {0}), table, strict=True):
        yield line
        yield from (f"    {part}" for part in wrap(row[last], _WIDTH - 4, break_long_words=False))


_PAIRS_DRAWN = 30
_RATERS_SHOWN = 50
_OPEN = 3
"""How many tables or sections of a kind are open; more are opened by a click."""
_ITEMS_OPEN = 20


def report_page(reports: QuestionReports, file: str, command: str) -> str:
    """Return one self-contained page: the finding, the coefficients as a figure, all tables, the methods."""
    name = Path(file).name
    first = next(iter(reports.reports.values()))
    foot = Foot(command, inputs=(f"{name}: {len(first.raters):,} raters",), seed=first.seed)
    notes = (
        *method_notes(first),
        *reports.notes,
        *(note for report in reports.reports.values() for note in report.notes),
    )
    if list(reports.reports) == [""]:
        figures, sections = _figures(kappa_rows(first)), (*_sections(first),)
        return page("Agreement of raters", headline(first), _tables(first, name), figures, notes, sections, foot=foot)
    overview = question_table(reports, name)
    figures, sections = _figures(list(overview.rows)), (*_questions(reports, name),)
    return page("Agreement of raters", overview.finding, [overview], figures, notes, sections, foot=foot)


def _tables(report: AgreementReport, source: str) -> Iterator[Table]:
    yield overall_table(report, source)
    if report.items_for_width is not None:
        yield width_table(report, report.items_for_width)
    if len(report.by_rater) > 2:
        yield raters_table(report)
    yield pair_table(report)
    yield category_table(report)


def _sections(report: AgreementReport, prefix: str = "") -> Iterator[Section]:
    if confusions := (*confusion_tables(report),):
        yield Section(f"{prefix}Confusions", confusions, folded=len(confusions) > _OPEN)
    if items := (*disagreement_tables(report),):
        yield Section(f"{prefix}Items in dispute", items, folded=len(report.disagreements) > _ITEMS_OPEN)
    for number, rater in enumerate(report.by_rater[:_RATERS_SHOWN], start=1):
        tables = (*rater_tables(report, rater, number),)
        yield Section(f"{prefix}{rater.rater}", tables, folded=len(report.by_rater) > _OPEN)


def _questions(reports: QuestionReports, source: str) -> Iterator[Section]:
    for number, (question, report) in enumerate(reports.reports.items(), start=1):
        whole = Section(question, (*_tables(report, source),), folded=len(reports.reports) > _OPEN)
        for section in (whole, *_sections(report, f"{question}: ")):
            tables = [structs.replace(table, name=f"question_{number}_{table.name}") for table in section.tables]
            yield structs.replace(section, tables=(*tables,), folded=section.folded or section is not whole)


def _figures(kappas: list[Row]) -> list[str]:
    from misstep_analysis.plots.drawing import can_draw
    from misstep_analysis.plots.rows import forest

    if not kappas or not can_draw():
        return []
    return [forest(kappas[:_PAIRS_DRAWN], "Agreement beyond chance, overall and by pair of raters")]
