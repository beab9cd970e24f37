"""A report on agreement as tables: rows that the page, the CSV and the JSON render alike."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from msgspec import structs

from misstep_analysis.agreement.intervals import BOOTSTRAP, TOO_MANY
from misstep_analysis.agreement.report import (
    AgreementReport,
    CategoryAgreement,
    LabelConfusion,
    Pair,
    QuestionReports,
    RaterDisagreement,
    Weighted,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Row, Table, estimate_row, made_by_this
from misstep_analysis.tables.files import csv_of
from misstep_analysis.tables.wording import FEWEST_UNITS, MISSING, counted_text, number_text, with_interval

_LANDIS_KOCH = (0.0, 0.20, 0.40, 0.60, 0.80)
_READINGS = ("poor", "slight", "fair", "moderate", "substantial", "almost perfect")
_COHEN = "Cohen's kappa"
_MOST_COLUMNS = 5

_MOST_ROWS = 200
"""Pairs, disagreements and confusions in a page's table; the JSON lists all."""

_MOST_MATRICES = 10
Line = list[str | int]


@made_by_this
def question_table(questions: QuestionReports, source: str) -> Table:
    """Return the coefficient that suits the level of each of several questions."""
    estimates = {name: headline_estimate(report) for name, report in questions.reports.items()}
    rows = tuple(_row(name, estimate, source) for name, (_, estimate) in estimates.items())
    title = next(name for name, _ in estimates.values())
    return _table("questions", f"{title} by question", questions_headline(questions), rows)


def questions_headline(questions: QuestionReports) -> str:
    """Return what the reports of several questions found, in one sentence."""
    values = {name: headline_estimate(report) for name, report in questions.reports.items()}
    known = sorted((one.value, name) for name, (_, one) in values.items() if one.value is not None)
    title = next(name for name, _ in values.values())
    count = counted_text(len(values), "question")
    if not known:
        return f"{title} is undefined for all of {count}."
    (low, worst), (high, best) = known[0], known[-1]
    if len(known) == 1:
        return f"{title} is {_coefficient(low)} for {worst} ({count})."
    return f"{title} runs from {_coefficient(low)} ({worst}) to {_coefficient(high)} ({best}) over {count}."


def reading(kappa: float) -> str:
    """A coefficient in words, on the scale of Landis and Koch (Biometrics 1977): slight up to .20, fair up to .40."""
    return "poor" if kappa < 0 else _READINGS[max(1, bisect_left(_LANDIS_KOCH, round(kappa, 10)))]


def headline(report: AgreementReport) -> str:
    """Return how often raters agree, and the coefficient of it."""
    name, main = headline_estimate(report)
    raters, items = counted_text(report.n_raters, "rater"), counted_text(report.n_items, "item")
    agreeing = f"{raters} labelled {items}."
    if report.percent_agreement is not None:
        agreeing = f"{raters} agree on {_percent(report.percent_agreement)} of paired ratings of {items}."
    if main.value is None:
        return f"{agreeing} {name} is undefined: {main.reason}."
    words = f"{reading(main.value)} on the scale of Landis and Koch"
    is_few = main.low is None or report.n_items < FEWEST_UNITS
    value = _coefficient(main.value) if is_few else with_interval(main, "coefficient")
    return f"{agreeing} {name} is {value}, {words}."


def headline_estimate(report: AgreementReport) -> tuple[str, Estimate]:
    """Return the coefficient that suits the level of measurement, and its name."""
    if report.level == "nominal":
        return "Fleiss' kappa", report.fleiss_kappa
    return f"Krippendorff's alpha ({report.level})", report.krippendorff_alpha


def method_notes(report: AgreementReport) -> tuple[str, ...]:
    """Return how the figures were made, and what to beware of, a paragraph each."""
    notes = [f"{_methods(report)}."]
    notes.append(
        "Agreement is the share of agreeing pairs of ratings, averaged over items with two ratings or more. Kappas and "
        "AC1 take labels as names; alpha takes them as the level says. Items with one rating count only towards how "
        "often labels are used, and not at all in alpha."
    )
    if report.gwet_ac2 is not None:
        scale = " < ".join(report.categories)
        notes.append(
            "In AC2 (Gwet 2014) and in weighted kappa (Cohen 1968) near misses count in part: of K labels, two that "
            "stand d places apart count 1 − d/(K−1) (linear) or 1 − d²/(K−1)² (quadratic). The scale is "
            f"{scale}; --order names a longer one."
        )
    if report.items_under_two_ratings:
        few = report.items_under_two_ratings
        shown = ", ".join(few[:10]) + (f" and {len(few) - 10:,} more" if len(few) > 10 else "")
        notes.append(f"{counted_text(len(few), 'item')} with fewer than two ratings: {shown}.")
    return tuple(notes)


def overall_rows(report: AgreementReport, source: str) -> tuple[Row, ...]:
    """Return the coefficients over all raters."""
    rated_twice = report.krippendorff_alpha.n
    agreement = Row("Agreement", report.percent_agreement, n=rated_twice, unit="share", source=source)
    return (*(_row(name, estimate, source) for name, estimate in overall_estimates(report)), agreement)


def kappa_rows(report: AgreementReport) -> list[Row]:
    """Return the coefficients over all raters and of each pair that are defined, for a forest plot."""
    rows = [_row(name, estimate) for name, estimate in overall_estimates(report) if estimate.value is not None]
    return rows + [
        _row(" / ".join(pair.raters), pair.cohen_kappa_interval, group=_COHEN)
        for pair in report.pairs[:_MOST_ROWS]
        if pair.cohen_kappa_interval.value is not None
    ]


def overall_estimates(report: AgreementReport) -> tuple[tuple[str, Estimate], ...]:
    """Return the coefficients over all raters, and what they are called."""
    return (
        ("Fleiss' kappa", report.fleiss_kappa),
        (f"Krippendorff's alpha ({report.level})", report.krippendorff_alpha),
        ("Gwet's AC1", report.gwet_ac1),
        *_weighted("Gwet's AC2 ({})", report.gwet_ac2),
    )


def pair_estimates(pair: Pair) -> tuple[tuple[str, Estimate], ...]:
    """Return the kappas of two raters, and what they are called."""
    return (_COHEN, pair.cohen_kappa_interval), *_weighted("weighted kappa ({})", pair.weighted_kappa)


def _weighted(name: str, weighted: Weighted | None) -> tuple[tuple[str, Estimate], ...]:
    if weighted is None:
        return ()
    return (name.format("linear"), weighted.linear), (name.format("quadratic"), weighted.quadratic)


@made_by_this
def overall_table(report: AgreementReport, source: str) -> Table:
    """Return the coefficients over all raters, under the headline."""
    return _table("overall", "Agreement of all raters", headline(report), overall_rows(report, source))


@made_by_this
def pair_table(report: AgreementReport) -> Table:
    """Agreement and Cohen's kappa of each pair of raters."""
    rows = [row for pair in report.pairs[:_MOST_ROWS] for row in pair_rows(pair, " / ".join(pair.raters))]
    return _table("pairs", "Pairs of raters", _pairs_finding(report), tuple(rows), _left_out(len(report.pairs)))


@made_by_this
def category_table(report: AgreementReport) -> Table:
    """Fleiss' kappa of each label against all others."""
    rows = tuple(_row(one.category, structs.replace(one.kappa_interval, n=one.n)) for one in report.by_category)
    return _table("labels", "By label", _categories_finding(report.by_category), rows)


def confusion_tables(report: AgreementReport) -> Iterator[Table]:
    """Each pair's confusion matrix where the labels fit side by side, else the confusions of all pairs in one list."""
    if len(report.confusion) <= _MOST_MATRICES and len(report.categories) <= _MOST_COLUMNS:
        for place, confusion in enumerate(report.confusion, start=1):
            yield _matrix_table(confusion, f"confusion_{place}")
        return
    pairs = confusions(report)
    if pairs:
        by_raters = sorted(pairs[:_MOST_ROWS], key=lambda entry: f"{entry[1]} / {entry[2]}")
        rows = tuple(
            Row(f"{first} / {second}", count, group=f"{one} / {other}", unit="count")
            for count, one, other, first, second in by_raters
        )
        most = pairs[0]
        finding = (
            f"Most often, {most[1]} said {most[3]} where {most[2]} said {most[4]}: {counted_text(most[0], 'item')}."
        )
        title = "Labels that were given to the same item"
        yield _table("confusions", title, finding, rows, _left_out(len(pairs)))


def confusions(report: AgreementReport) -> list[tuple[int, str, str, str, str]]:
    """Return how often two raters gave two labels to one item: count, raters, their labels; the most frequent first."""
    entries = [
        (count, *confusion.raters, first, second)
        for confusion in report.confusion
        for first, line in zip(confusion.labels, confusion.matrix, strict=True)
        for second, count in zip(confusion.labels, line, strict=True)
        if count and first != second
    ]
    return sorted(entries, key=lambda entry: -entry[0])


def disagreement_tables(report: AgreementReport) -> Iterator[Table]:
    """Return the items that are not labelled alike, and those without a majority."""
    items = report.disagreements[:_MOST_ROWS]
    if not items:
        return
    share = len(report.disagreements) / report.n_items
    finding = (
        f"Raters differ on {counted_text(len(report.disagreements), 'item')} of {report.n_items:,} ({_percent(share)})."
    )
    rows = tuple(row for item in items for row in _disagreement_rows(item, report.raters))
    notes = _left_out(len(report.disagreements))
    yield _table("disagreements", "Items that raters disagree on", finding, rows, notes)
    tied = [one for one in report.consensus if one.tied]
    if tied:
        finding = f"{counted_text(len(tied), 'item')} of {report.n_items:,} without a majority label."
        ties = tuple(Row(one.item, " / ".join(one.candidates), unit="text") for one in tied[:_MOST_ROWS])
        yield _table("ties", "Ties", finding, ties, _left_out(len(tied)))


def pair_rows(pair: Pair, group: str) -> tuple[Row, ...]:
    """Agreement and kappas of two raters, under a heading."""
    agreement = Row("agreement", pair.agreement, n=pair.n, unit="share", group=group)
    return agreement, *(_row(name, estimate, group=group) for name, estimate in pair_estimates(pair))


def _matrix_table(confusion: LabelConfusion, name: str) -> Table:
    one, other = confusion.raters
    rows = tuple(
        Row(second, count, group=first, unit="count")
        for first, line in zip(confusion.labels, confusion.matrix, strict=True)
        for second, count in zip(confusion.labels, line, strict=True)
    )
    total = sum(map(sum, confusion.matrix))
    alike = sum(line[place] for place, line in enumerate(confusion.matrix))
    finding = f"{alike:,} of {counted_text(total, 'item')} have the same label from {one} (rows) and {other} (columns)."
    return _table(name, f"Confusion of {one} and {other}", finding, rows)


def _disagreement_rows(item: RaterDisagreement, raters: list[str]) -> Iterator[Row]:
    if len(raters) > _MOST_COLUMNS:
        yield Row(item.item, tally(item), unit="text")
        return
    for rater in raters:
        yield Row(rater, item.labels.get(rater, MISSING), unit="text", group=item.item)


def tally(item: RaterDisagreement) -> str:
    """Return the labels of an item with how many raters gave each, the most frequent first."""
    return ", ".join(f"{label} {count}" for label, count in Counter(item.labels.values()).most_common())


def _pairs_finding(report: AgreementReport) -> str:
    known = [(pair.cohen_kappa, pair) for pair in report.pairs if pair.cohen_kappa is not None]
    if not known:
        return "No pair of raters has a kappa."
    (low, worst), (high, best) = min(known, key=lambda entry: entry[0]), max(known, key=lambda entry: entry[0])
    if len(known) == 1:
        return (
            f"Cohen's kappa of {' and '.join(best.raters)} is {_coefficient(high)} over {counted_text(best.n, 'item')}."
        )
    return (
        f"Cohen's kappa runs from {_coefficient(low)} ({' and '.join(worst.raters)}) "
        f"to {_coefficient(high)} ({' and '.join(best.raters)})."
    )


def _categories_finding(categories: list[CategoryAgreement]) -> str:
    known = [(one.kappa, one) for one in categories if one.kappa is not None]
    if not known:
        return "No label has a kappa of its own."
    kappa, hardest = min(known, key=lambda entry: entry[0])
    return f"The label that raters agree on least is {hardest.category}: kappa {_coefficient(kappa)}."


def _methods(report: AgreementReport) -> str:
    if not report.interval_methods:
        return "There are no intervals"
    counts = f"{report.resamples:,} resamples of items, seed {report.seed}"
    named = [f"{way}, {counts}" if way == BOOTSTRAP else way for way in report.interval_methods]
    return f"95% intervals by {'; by '.join(named)}{TOO_MANY if report.too_many_to_resample else ''}"


def _row(quantity: str, estimate: Estimate, source: str = "", *, group: str = "") -> Row:
    return estimate_row(quantity, estimate, "coefficient", group, source)


def _table(name: str, title: str, finding: str, rows: tuple[Row, ...], notes: tuple[str, ...] = ()) -> Table:
    return Table(name, "agreement", title, finding, rows, notes)


def _left_out(count: int) -> tuple[str, ...]:
    rest = count - _MOST_ROWS
    return (f"The first {_MOST_ROWS:,}; {rest:,} more are in the output of --json.",) if rest > 0 else ()


def _coefficient(value: float) -> str:
    return number_text(value, "coefficient")


def _percent(value: float) -> str:
    return number_text(value, "share")


def consensus_csv(questions: QuestionReports) -> str:
    """Return the label that most raters gave each item, empty where several lead; these are then in the last column."""
    lines: list[Line] = [
        [*name, one.item, one.label or "", "yes" if one.tied else "no", "; ".join(one.candidates)]
        for name, report in _named(questions)
        for one in report.consensus
    ]
    return csv_of([*_question(questions), "item", "label", "tied", "candidates"], lines)


def adjudication_csv(questions: QuestionReports) -> str:
    """Return the items that raters disagree on, the most disputed first, with a column to decide."""
    raters = list(dict.fromkeys(rater for report in questions.reports.values() for rater in report.raters))
    lines: list[Line] = [
        [*name, item.item, *(item.labels.get(rater, "") for rater in raters), ""]
        for name, report in _named(questions)
        for item in sorted(
            report.disagreements, key=lambda one: max(Counter(one.labels.values()).values()) / len(one.labels)
        )
    ]
    return csv_of([*_question(questions), "item", *raters, _decision(raters)], lines)


def _named(questions: QuestionReports) -> Iterator[tuple[list[str], AgreementReport]]:
    for name, report in questions.reports.items():
        yield ([name] if _question(questions) else []), report


def _question(questions: QuestionReports) -> list[str]:
    return [] if list(questions.reports) == [""] else ["question"]


def _decision(raters: list[str]) -> str:
    name = "decision"
    while name in raters:
        name += "_"
    return name
