"""What errors a judge makes, as tables: where they flow, on which items they fall, and whether its scores tell them."""

from collections.abc import Sequence

from misstep.analysis.measures.judging.bias import Bias, Flow
from misstep.analysis.measures.judging.calibration.reliability import Bin, Reliability
from misstep.analysis.measures.judging.rows import p_rows
from misstep.analysis.measures.judging.slices import SlicedField
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.tables import Row, Table, estimate_row, made_by_this
from misstep.analysis.tables.wording import counted_text, interval_words, number_text, p_text, with_interval

_OVERALL = "All answers"
_PAPER = "judging"
_MOST_FLOWS = 20


@made_by_this
def bias_table(found: Bias, source: str) -> Table:
    """Return how often the judge and people use each label."""
    rows: list[Row] = []
    for use in found.labels:
        rows += [
            estimate_row("Of the judge's answers", use.judge, "share", use.label, source),
            estimate_row("Of the gold labels", use.gold, "share", use.label, source),
            estimate_row("Judge less gold", use.difference, "difference", use.label, source),
            estimate_row("Not answered", use.unanswered, "share", use.label, source),
        ]
    notes = ["Over the items with an answer and a gold label, but for the share of a label's items without an answer."]
    if found.outside:
        notes.append(f"None of the labels: {counted_text(found.outside, 'answer')}.")
    if found.unanswered.p_value is not None:
        notes.append(
            "That an item is as likely to be answered whatever its gold label: "
            f"p {number_text(found.unanswered.p_value, 'p')} ({found.unanswered.test})."
        )
    if found.homogeneity.p_value is not None:
        notes.append(f"That every label is used as often as people use it: {found.homogeneity.test}.")
    return Table(
        name="bias",
        paper=_PAPER,
        title="How often each label is used",
        finding=_bias_finding(found),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _bias_finding(found: Bias) -> str:
    p_value = found.homogeneity.p_value
    if p_value is None:
        return f"Whether the judge favours a label cannot be told: {found.homogeneity.reason}."
    p = f"that it uses all labels as often as they do has p {number_text(p_value, 'p')}"
    most = max(found.labels, key=lambda use: abs(use.difference.value or 0.0))
    items = counted_text(found.n, "item")
    if not most.difference.value:
        return f"The judge says every label as often as people do on {items}; {p}."
    way = "less" if (most.difference.value or 0.0) < 0 else "more"
    apart = _forwards(most.difference)
    size = number_text(apart.value, "difference").lstrip("+")
    by = f"{size} ({interval_words(apart.low, apart.high, 'difference')})"
    return f"The judge says “{most.label}” {way} often than people, by {by} of {items}; {p}."


@made_by_this
def flows_table(found: Bias, source: str) -> Table:
    """Between which labels errors go one way more than the other."""
    notes = ["Forth: gold the first, said the second; back: the other way. The difference is a share of all items."]
    if len(found.flows) > 1:
        notes.append(f"Adjusted after Holm for the {len(found.flows)} pairs of labels with an error between them.")
    if len(found.flows) > _MOST_FLOWS:
        notes.append(f"The {_MOST_FLOWS} most one-sided of them are shown.")
    return Table(
        name="error_flows",
        paper=_PAPER,
        title="Which label errors flow to which",
        finding=flows_finding(found),
        rows=tuple(row for flow in found.flows[:_MOST_FLOWS] for row in _rows_of_flow(flow, source)),
        notes=tuple(notes),
    )


def _rows_of_flow(flow: Flow, source: str) -> list[Row]:
    group = f"“{flow.first}” and “{flow.second}”"
    counts = (("Forth", flow.forth), ("Back", flow.back))
    return [
        *(Row(quantity=name, value=count, unit="count", group=group, source=source) for name, count in counts),
        estimate_row("Forth less back", flow.difference, "difference", group, source),
        *p_rows(flow.p_value, flow.p_adjusted, flow.test, group, source, flow.reason),
    ]


def flows_finding(found: Bias) -> str:
    """Return the pair of labels between which errors go one way most clearly, in one sentence."""
    most = min(found.flows, key=lambda flow: 1.0 if flow.p_value is None else flow.p_value)
    items = counted_text(found.n, "item")
    if all(flow.forth == flow.back for flow in found.flows):
        return f"Between any two labels as many errors go one way as the other, on {items}."
    gold, said = (most.first, most.second) if most.forth >= most.back else (most.second, most.first)
    more, less = max(most.forth, most.back), min(most.forth, most.back)
    share = with_interval(_forwards(most.difference), "difference")
    return (
        f"Errors flow most clearly from “{gold}” to “{said}”: {more:,} one way and {less:,} the other, {share} of "
        f"{items}; {p_text(most.p_value, most.p_adjusted)}."
    )


def _forwards(difference: Estimate) -> Estimate:
    """Return a difference told from the side of the greater."""
    return difference if (difference.value or 0.0) >= 0 else difference.negated()


@made_by_this
def slices_table(fields: Sequence[SlicedField], source: str) -> Table:
    """Return the accuracy on each kind of item, the unanswered counted as wrong."""
    rows: list[Row] = []
    for field in fields:
        for one in field.slices:
            rows.append(estimate_row(one.value, one.accuracy_all, "share", field.field, source))
            if one.accuracy.n != one.accuracy_all.n:
                rows.append(estimate_row(f"{one.value}, answered", one.accuracy, "share", field.field, source))
        rows += p_rows(field.p_value, field.p_adjusted, field.test, field.field, source, field.reason)
    return Table(
        name="slices",
        paper=_PAPER,
        title="Accuracy by kind of item, unanswered counted as wrong",
        finding=_slices_finding(fields),
        rows=tuple(rows),
        notes=(
            "p that the accuracy is the same in all slices of a field; "
            f"adjusted after Holm for {counted_text(len(fields), 'field')}, which may say much the same of the items.",
        ),
    )


def _slices_finding(fields: Sequence[SlicedField]) -> str:
    tested = [field for field in fields if field.p_value is not None]
    if not tested:
        return f"The accuracy cannot be compared between kinds of item: {fields[0].reason}."
    most = min(tested, key=lambda field: field.p_value or 0.0)
    known = [one for one in most.slices if one.accuracy_all.value is not None]
    worst, best = (end(known, key=lambda one: one.accuracy_all.value or 0.0) for end in (min, max))
    if worst is best:
        same = number_text(best.accuracy_all.value, "share")
        return f"By {most.field} the accuracy is the same on all kinds of item, {same}."
    ends = [f"{with_interval(one.accuracy_all, 'share')} on “{one.value}”" for one in (worst, best)]
    return f"By {most.field} the accuracy runs from {ends[0]} to {ends[1]}; {p_text(most.p_value, most.p_adjusted)}."


@made_by_this
def reliability_table(found: Reliability, source: str) -> Table:
    """Return how often answers of about one score are right, and how far scores and that are apart."""
    figures = [
        estimate_row("Answers with a score", found.scored, "share", _OVERALL, source),
        estimate_row("Mean score less share right", found.overconfidence, "difference", _OVERALL, source),
        estimate_row("Expected calibration error", found.expected_calibration_error, "coefficient", _OVERALL, source),
        estimate_row("Brier score", found.brier, "coefficient", _OVERALL, source),
        estimate_row("Area under the ROC curve, right above wrong", found.ranking, "coefficient", _OVERALL, source),
    ]
    notes = ["The score is of the label given."]
    if found.calibrated_error is not None:
        by_chance = number_text(found.calibrated_error, "coefficient")
        notes.append(
            f"A perfectly calibrated judge with these scores would by chance get a calibration error of {by_chance}."
        )
    return Table(
        name="reliability",
        paper=_PAPER,
        title="Calibration of the judge's scores",
        finding=_reliability_finding(found),
        rows=tuple(figures),
        notes=tuple(notes),
    )


@made_by_this
def bins_table(found: Reliability, source: str) -> Table:
    """Return how often answers of about one score are right."""
    furthest = max(found.bins, key=lambda one: abs(one.mean_score - (one.right.value or 0.0)))
    answers = f"{counted_text(furthest.n, 'answer')} with {_range(furthest)}"
    right = f"{with_interval(furthest.right, 'share')} {'is' if furthest.n == 1 else 'are'} right"
    return Table(
        name="reliability_bins",
        paper=_PAPER,
        title="How often answers of about one score are right",
        finding=f"Of {answers}, the furthest apart, {right}.",
        rows=tuple(row for one in found.bins for row in _rows_of_bin(one, source)),
        notes=("A bin is one score, or some with about as many answers as any other.",),
    )


def _rows_of_bin(one: Bin, source: str) -> list[Row]:
    mean = Row(quantity="Mean score", value=one.mean_score, n=one.n, unit="share", group=_range(one), source=source)
    return [mean, estimate_row("Share right", one.right, "share", _range(one), source)]


def _range(one: Bin) -> str:
    low, high = number_text(one.lowest), number_text(one.highest)
    return f"score {low}" if low == high else f"scores {low} to {high}"


def _reliability_finding(found: Reliability) -> str:
    apart = found.overconfidence
    if apart.value is None:
        return f"The scores say nothing of how often answers are right: {apart.reason}."
    told = f"The mean score less the share right is {with_interval(apart, 'difference')} of "
    told += counted_text(apart.n or 0, "answer")
    if found.ranking.value is None:
        return f"{told}."
    ranked = with_interval(found.ranking, "coefficient")
    return f"{told}; a right answer outscores a wrong one with a chance of {ranked}."
