"""Directional bias: which label a judge's errors take away from, and which they give to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.scores import LEVEL, NEVER_GOLD, NOTHING_ANSWERED
from misstep_analysis.judging.units import JudgedUnits, judging_table, p_rows
from misstep_analysis.stats.clusters.clustered_pairs import PairedItems
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.marginal_homogeneity import (
    clustered_shares,
    pearson_shares,
    stuart_maxwell,
    zero_mean,
)
from misstep_analysis.stats.raters.patterns import IntArray
from misstep_analysis.stats.significance import Significance, holm
from misstep_analysis.tables import Fields, Row, Table, estimate_row, made_by_this, measured_on, rows_from
from misstep_analysis.tables.wording import counted_text, interval_words, number_text, p_text, with_interval

if TYPE_CHECKING:
    from misstep_analysis.judging.judged import JudgedItems

NOTHING_UNANSWERED = "every item with a gold label was answered"
_USE: Fields = (
    ("Of the judge's answers", "judge", "share"),
    ("Of the gold labels", "gold", "share"),
    ("Judge less gold", "difference", "difference"),
    ("Not answered", "unanswered", "share"),
)
_MOST_FLOWS = 20
DIFFERENCE = "Judge less people"


class JudgeLabelUse(Struct, frozen=True):
    """How often the judge says a label, how often people do, and the difference; `unanswered` is of its gold items."""

    label: str
    judge: Estimate
    gold: Estimate
    difference: Estimate
    unanswered: Estimate


class Flow(Struct, frozen=True):
    """The errors between two labels: `forth` items go from gold `first` to answer `second`, `back` the other way."""

    first: str
    second: str
    forth: int
    back: int
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None
    test: str
    reason: str = ""


class Bias(Struct, frozen=True):
    """Where errors flow; `outside` counts answers that are none of the labels."""

    n: int
    outside: int
    homogeneity: Significance
    labels: tuple[JudgeLabelUse, ...]
    flows: tuple[Flow, ...]
    unanswered: Significance


def bias(sample: JudgedSample, seed: int = 0) -> Bias:
    """Return which label errors flow to which; `seed` is of the draws of small tables."""
    both = sample.answered & sample.known
    gold, answers, units = sample.gold[both], sample.answers[both], sample.units.only(both)
    named = answers < sample.codes.unknown
    return Bias(
        n=len(gold),
        outside=int(np.count_nonzero(~named)),
        homogeneity=_homogeneity(gold[named], answers[named], units.only(named), len(sample.labels)),
        labels=tuple(_use(sample, place, gold, answers, units) for place in range(len(sample.labels))),
        flows=_flows(sample.labels, gold, answers, units),
        unanswered=_unanswered(sample, np.random.default_rng(seed)),
    )


def _homogeneity(gold: IntArray, answers: IntArray, units: JudgedUnits, n_labels: int) -> Significance:
    if not len(gold):
        return Significance(None, None, 0, reason=NOTHING_ANSWERED)
    if units.clustered:
        one_hot = np.eye(n_labels)
        return zero_mean(units.totals(one_hot[answers] - one_hot[gold]))
    table = np.zeros((n_labels, n_labels), dtype=np.int64)
    np.add.at(table, (gold, answers), 1)
    return stuart_maxwell(table)


def _use(sample: JudgedSample, place: int, gold: IntArray, answers: IntArray, units: JudgedUnits) -> JudgeLabelUse:
    hits, meant = answers == place, gold == place
    difference = Estimate(None, n=0, reason=NOTHING_ANSWERED)
    if len(gold):
        difference = PairedItems.of(hits, meant, units.of_item, units.clustered).difference
    return JudgeLabelUse(
        sample.labels[place],
        units.share(hits, None, NOTHING_ANSWERED),
        units.share(meant, None, NOTHING_ANSWERED),
        difference,
        sample.units.share(~sample.answered, sample.gold == place, NEVER_GOLD),
    )


def _flows(labels: tuple[str, ...], gold: IntArray, answers: IntArray, units: JudgedUnits) -> tuple[Flow, ...]:
    wrong = (gold != answers) & (answers < len(labels))
    met = zip(gold[wrong].tolist(), answers[wrong].tolist(), strict=True)
    flows = []
    for first, second in sorted({(min(pair), max(pair)) for pair in met}):
        there, back = (gold == first) & (answers == second), (gold == second) & (answers == first)
        paired = PairedItems.of(there, back, units.of_item, units.clustered)
        table, test, named = paired.table, paired.test, (labels[first], labels[second])
        counts = table.first_only, table.second_only
        flows.append(Flow(*named, *counts, paired.difference, test.p_value, None, test.test, test.reason))
    adjusted = holm([flow.p_value for flow in flows]).p_values
    flows = [structs.replace(flow, p_adjusted=p) for flow, p in zip(flows, adjusted, strict=True)]
    return tuple(sorted(flows, key=lambda flow: -abs(flow.forth - flow.back)))


def _unanswered(sample: JudgedSample, rng: np.random.Generator) -> Significance:
    known = sample.known
    gold, missing = sample.gold[known], ~sample.answered[known]
    if not missing.any():
        return Significance(None, None, len(gold), reason=NOTHING_UNANSWERED if len(gold) else NEVER_GOLD)
    if sample.units.clustered:
        return clustered_shares(gold, missing, sample.units.only(known).of_item)
    totals = np.bincount(gold, minlength=len(sample.labels))
    return pearson_shares(np.bincount(gold[missing], minlength=len(sample.labels)), totals, rng)


@made_by_this
def bias_table(bias: Bias, source: str) -> Table:
    """Return how often the judge and people use each label."""
    outside, unanswered, homogeneity = bias.outside, bias.unanswered, bias.homogeneity
    answered_alike = (
        "That an item is as likely to be answered whatever its gold label: "
        f"p {number_text(unanswered.p_value, 'p')} ({unanswered.test})."
    )
    notes = (
        "Over the items with an answer and a gold label, but for the share of a label's items without an answer.",
        f"None of the labels: {counted_text(outside, 'answer')}." if outside else "",
        "" if unanswered.p_value is None else answered_alike,
        ""
        if homogeneity.p_value is None
        else f"That every label is used as often as people use it: {homogeneity.test}.",
    )
    rows = [row for use in bias.labels for row in rows_from(use, _USE, use.label, source)]
    return judging_table("bias", "How often each label is used", _bias_finding(bias), rows, notes)


def _bias_finding(bias: Bias) -> str:
    p_value = bias.homogeneity.p_value
    if p_value is None:
        return f"Whether the judge favours a label cannot be told: {bias.homogeneity.reason}."
    p = f"that it uses all labels as often as they do has p {number_text(p_value, 'p')}"
    most = max(bias.labels, key=lambda use: abs(use.difference.value or 0.0))
    items = counted_text(bias.n, "item")
    if not most.difference.value:
        return f"The judge says every label as often as people do on {items}; {p}."
    way, apart = "less" if most.difference.value < 0 else "more", _forwards(most.difference)
    size = number_text(apart.value, "difference").lstrip("+")
    by = f"{size} ({interval_words(apart.low, apart.high, 'difference')})"
    return f"The judge says “{most.label}” {way} often than people, by {by} of {items}; {p}."


@made_by_this
def flows_table(bias: Bias, source: str) -> Table:
    """Between which labels errors go one way more than the other."""
    flows, n = bias.flows, len(bias.flows)
    notes = (
        "Forth: gold the first, said the second; back: the other way. The difference is a share of all items.",
        f"Adjusted after Holm for the {n} pairs of labels with an error between them." if n > 1 else "",
        f"The {_MOST_FLOWS} most one-sided of them are shown." if n > _MOST_FLOWS else "",
    )
    rows = [row for flow in flows[:_MOST_FLOWS] for row in _rows_of_flow(flow, source)]
    return judging_table("error_flows", "Which label errors flow to which", flows_finding(bias), rows, notes)


def _rows_of_flow(flow: Flow, source: str) -> list[Row]:
    group = f"“{flow.first}” and “{flow.second}”"
    counts = (("Forth", flow.forth), ("Back", flow.back))
    return [
        *(Row(name, count, unit="count", group=group, source=source) for name, count in counts),
        estimate_row("Forth less back", flow.difference, "difference", group, source),
        *p_rows(flow.p_value, flow.p_adjusted, flow.test, group, source, flow.reason),
    ]


def flows_finding(bias: Bias) -> str:
    """Return the pair of labels between which errors go one way most clearly, in one sentence."""
    most = min(bias.flows, key=lambda flow: 1.0 if flow.p_value is None else flow.p_value)
    items = counted_text(bias.n, "item")
    if all(flow.forth == flow.back for flow in bias.flows):
        return f"Between any two labels as many errors go one way as the other, on {items}."
    gold, answer = (most.first, most.second) if most.forth >= most.back else (most.second, most.first)
    more, less = max(most.forth, most.back), min(most.forth, most.back)
    share = with_interval(_forwards(most.difference), "difference")
    return (
        f"Errors flow most clearly from “{gold}” to “{answer}”: {more:,} one way and {less:,} the other, {share} of "
        f"{items}; {p_text(most.p_value, most.p_adjusted)}."
    )


def _forwards(difference: Estimate) -> Estimate:
    return difference if (difference.value or 0.0) >= 0 else difference.negated()


class _Direction(Struct, frozen=True):
    """A judge's use of the positive label, and the p-value of its difference adjusted for all judges shown."""

    judged: "JudgedItems"
    bias: Bias
    positive: JudgeLabelUse
    p_adjusted: float | None

    def __str__(self) -> str:
        difference = with_interval(self.positive.difference, "difference")
        return f"{self.judged.title}, “{self.judged.positive}” {difference}"


def directions(judged: "Sequence[JudgedItems]", seed: int = 0) -> list[_Direction]:
    """Return each judge's bias in the use of the positive label, Holm's adjustment over the judges."""
    from misstep_analysis.judging.judged import sample_of

    each = [bias(sample_of(one), seed) for one in judged]
    adjusted = holm([one.homogeneity.p_value for one in each]).p_values
    return [
        _Direction(one, its, next(use for use in its.labels if use.label == one.positive), p)
        for one, its, p in zip(judged, each, adjusted, strict=True)
    ]


@made_by_this
def direction_table(judged: "Sequence[JudgedItems]", notes: Sequence[str] = (), seed: int = 0) -> Table:
    """Return how often each judge says the positive label, and people, with a test that the two are the same."""
    from misstep_analysis.judging.judged import datasets_of

    each = directions(judged, seed)
    return judging_table(
        "recorded_direction",
        "Which way recorded judges err",
        _direction_finding(each),
        (row for one in each for row in measured_on(one.judged.dataset, _rows_of_direction(one))),
        (
            "Over the items that were answered; the difference and its test are over runs or workspaces."
            + (f" Adjusted after Holm for {len(each)} judges." if len(each) > 1 else ""),
            "Left open: of the items that people gave the positive label, and of the others, the share without an "
            "answer, with a test that they are the same.",
            *notes,
        ),
        datasets_of(judged),
    )


def _rows_of_direction(one: _Direction) -> list[Row]:
    group, source, positive, use = one.judged.title, one.judged.source, one.judged.positive, one.positive
    test, unanswered = one.bias.homogeneity, one.bias.unanswered
    rows = [
        estimate_row(f"Judge says “{positive}”", use.judge, "share", group, source),
        estimate_row(f"People say “{positive}”", use.gold, "share", group, source),
        estimate_row(DIFFERENCE, use.difference, "difference", group, source),
        *p_rows(test.p_value, one.p_adjusted, test.test, group, source, test.reason),
    ]
    if unanswered.p_value is not None:
        left_open = {f"Left open of “{label.label}”": label.unanswered for label in one.bias.labels}
        p = Estimate(unanswered.p_value, n=unanswered.n, method=unanswered.test)
        rows += [estimate_row(name, share, "share", group, source) for name, share in left_open.items()]
        rows.append(estimate_row("p, left open alike", p, "p", group, source))
    return rows


def _direction_finding(each: Sequence[_Direction]) -> str:
    known = [one for one in each if one.positive.difference.value is not None]
    if not known:
        from misstep_analysis.judging.judged import NO_JUDGES

        return NO_JUDGES
    biased = [one for one in known if one.p_adjusted is not None and one.p_adjusted <= LEVEL]
    if not biased:
        widest = max(known, key=lambda one: abs(one.positive.difference.value or 0.0))
        return (
            f"None of {len(known)} recorded judges is shown to say the positive label more or less often than people; "
            f"furthest from it is {widest}."
        )
    return (
        f"{len(biased)} of {len(known)} recorded judges are shown to say the positive label more or less often than "
        f"people (Holm, {LEVEL:g}): {'; '.join(map(str, biased))}."
    )
