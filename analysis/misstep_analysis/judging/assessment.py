"""What a judge is worth: its scores, and beyond them what errors it makes, whom it agrees with, and what it costs.

How often a judge gives each label, and how often the positive one holds, put right for the judge's errors.

Errors on items with a gold label are carried over to all others: by sensitivity and specificity (Rogan and Gladen), and
as a mean error added to the judge's share (the difference estimator, Cochran 1977, Sampling Techniques, section 7.3).
Both suppose that the labelled items are like a random sample of all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.bias import Bias, bias, bias_table, flows_finding, flows_table
from misstep_analysis.judging.calibrated_scores import (
    Reliability,
    bins_table,
    reliability,
    reliability_table,
)
from misstep_analysis.judging.grades import Grades, graded, with_grades
from misstep_analysis.judging.human_upper_bound import (
    FEWEST_ITEMS,
    AlternativeAnnotator,
    Ceiling,
    alternative_annotator,
    alternative_annotator_table,
    ceiling,
    ceiling_table,
    raters_table,
    stand_in_by_rater_table,
)
from misstep_analysis.judging.preferences import (
    Preferences,
    position_finding,
    position_table,
    preferences,
    systems_finding,
    systems_of,
    systems_table,
)
from misstep_analysis.judging.sample import JudgedSample, Level, judged_sample
from misstep_analysis.judging.scores import ALL_LABELS, Scores, score, scores_table
from misstep_analysis.judging.slices import Lengths, SlicedField, sliced, slices_table
from misstep_analysis.judging.stability import Votes, votes_table, votes_within
from misstep_analysis.judging.units import BoolArray, judging_table
from misstep_analysis.stats.estimate import Estimate, informative
from misstep_analysis.stats.raters.patterns import IntArray
from misstep_analysis.tables import Row, Table, Unit, estimate_row, made_by_this, of_evidence, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, with_interval
from misstep_harness.trajectory import Evidence
from misstep_harness.verdict import PairVerdict, Verdict

NO_POSITIVE = "the benchmark names no positive label"
NEVER_POSITIVE = "the positive label is none of those that people gave"
NOTHING_ANSWERED = "no item was answered"
NO_GOLD = "no item answered has a gold label: the judge's errors are unknown"
ALL_GOLD = "every item answered has a gold label: nothing is left to carry the judge's errors over to"
NO_POSITIVE_ITEM = "no labelled item is positive: sensitivity is 0/0"
NO_NEGATIVE_ITEM = "no labelled item is negative: specificity is 0/0"


class JudgedPrevalence(Struct, frozen=True):
    """How often the positive label holds; `lowest` and `highest` are its share with all unanswered no or yes.

    `specificity` is the share of the other items that were given their own label, a third answer being wrong;
    `left_alone` the share that was not given the positive one, which is what the correction takes.
    """

    positive: str
    answered: int
    unanswered: int
    labelled: int
    judge: Estimate
    lowest: float | None
    highest: float | None
    people: Estimate
    corrected: Estimate
    prediction_powered: Estimate
    sensitivity: Estimate
    specificity: Estimate
    left_alone: Estimate


def judged_prevalence(sample: JudgedSample) -> JudgedPrevalence:
    """Return the prevalence of the positive label."""
    answered = sample.answered
    n_answered, n = int(np.count_nonzero(answered)), len(answered)
    labelled = answered & sample.known
    if sample.positive not in sample.labels:
        nothing = Estimate(None, n=0, reason=NEVER_POSITIVE if sample.positive else NO_POSITIVE)
        counts = n_answered, n - n_answered, int(np.count_nonzero(labelled))
        return JudgedPrevalence("", *counts, nothing, None, None, *[nothing] * 6)
    place = sample.codes.places[sample.positive]
    flags, holds = sample.answers == place, sample.gold == place
    flagged = int(np.count_nonzero(flags))
    corrected, powered = _corrections(sample, flags, holds)
    share = sample.units.share
    return JudgedPrevalence(
        positive=sample.positive,
        answered=n_answered,
        unanswered=n - n_answered,
        labelled=int(np.count_nonzero(labelled)),
        judge=share(flags, answered, NOTHING_ANSWERED),
        lowest=flagged / n if n else None,
        highest=(flagged + n - n_answered) / n if n else None,
        people=share(holds, labelled, NO_GOLD),
        corrected=corrected,
        prediction_powered=powered,
        sensitivity=share(flags, labelled & holds, NO_POSITIVE_ITEM),
        specificity=share(sample.right, labelled & ~holds, NO_NEGATIVE_ITEM),
        left_alone=share(~flags, labelled & ~holds, NO_NEGATIVE_ITEM),
    )


def _corrections(sample: JudgedSample, flags: BoolArray, holds: BoolArray) -> tuple[Estimate, Estimate]:
    answered = sample.answered
    labelled, others = answered & sample.known, answered & ~sample.known
    n = int(np.count_nonzero(answered))
    for missing, reason in ((answered, NOTHING_ANSWERED), (labelled, NO_GOLD), (others, ALL_GOLD)):
        if not missing.any():
            nothing = Estimate(None, n=n, reason=reason)
            return nothing, nothing

    from misstep_analysis.stats.correction import powered_share

    def counted(part: BoolArray, whole: BoolArray) -> IntArray:
        return sample.units.totals(np.column_stack([part & whole, whole])).astype(np.int64)

    flagged = counted(flags, answered)
    powered = powered_share(flagged, counted(holds & ~flags, labelled), counted(flags & ~holds, labelled))
    powered = structs.replace(powered, n=n)
    for part, reason in ((holds, NO_POSITIVE_ITEM), (~holds, NO_NEGATIVE_ITEM)):
        if not (part & labelled).any():
            return Estimate(None, n=n, reason=reason), powered
    detected, left_alone = counted(flags, labelled & holds), counted(~flags, labelled & ~holds)
    return _by_rates(flagged, detected, left_alone, sample.units.clustered), powered


def _by_rates(flagged: IntArray, hits: IntArray, left_alone: IntArray, clustered: bool) -> Estimate:
    """Rogan's and Gladen's correction.

    The interval takes the labelled items for others than those judged; as they are some of them, it is on the safe
    side, and wide where they are many.
    """
    from misstep_analysis.stats.correction import rogan_gladen, rogan_gladen_clustered

    if clustered:
        return informative(rogan_gladen_clustered(flagged, hits, left_alone).estimate)
    sums = [(int(right), int(n)) for right, n in (counts.sum(axis=0) for counts in (flagged, hits, left_alone))]
    return informative(rogan_gladen(sums[0], sums[1], sums[2]).estimate)


@made_by_this
def prevalence_table(prevalence: JudgedPrevalence, source: str) -> Table:
    """Return how often the positive label holds: by the judge, by people, and put right for the judge's errors."""
    positive = f"“{prevalence.positive}”"
    figures = {
        "As the judge says": prevalence.judge,
        "As people say, where they do": prevalence.people,
        "Sensitivity": prevalence.sensitivity,
        "Specificity": prevalence.specificity,
    }
    if prevalence.left_alone.value != prevalence.specificity.value:
        figures[f"Not called {positive}, where people say otherwise"] = prevalence.left_alone
    note = "Every item answered has a gold label: nothing is left to carry the judge's errors over to."
    if prevalence.labelled < prevalence.answered:
        figures["Corrected by sensitivity and specificity"] = prevalence.corrected
        figures["Prediction-powered"] = prevalence.prediction_powered
        note = (
            "The corrections suppose that the items with a gold label are like a random sample of all, and that the "
            "judge errs as often on the others; items on whose label raters tie count as without one."
        )
    lowest, highest = (number_text(end, "share") for end in (prevalence.lowest, prevalence.highest))
    unanswered = (
        f"Not answered: {counted_text(prevalence.unanswered, 'item')}; were none or all of them positive, the judge's "
        f"share would be {lowest} or {highest}."
    )
    return judging_table(
        "prevalence",
        f"How often {positive} holds",
        _prevalence_finding(prevalence),
        (estimate_row(name, estimate, "share", positive, source) for name, estimate in figures.items()),
        (note, unanswered if prevalence.unanswered else ""),
    )


def _prevalence_finding(prevalence: JudgedPrevalence) -> str:
    if prevalence.judge.value is None:
        return f"How often “{prevalence.positive}” holds is not known: {prevalence.judge.reason}."
    items = counted_text(prevalence.answered, "item")
    says = f"The judge says “{prevalence.positive}” of {with_interval(prevalence.judge, 'share')} of {items}"
    if prevalence.corrected.value is not None:
        return f"{says}; corrected for its errors it holds for {with_interval(prevalence.corrected, 'share')}."
    if prevalence.labelled == prevalence.answered:
        return f"{says}, people of {with_interval(prevalence.people, 'share')}."
    return f"{says}; it cannot be corrected: {prevalence.corrected.reason}."


class LabelShares(Struct, frozen=True):
    """The share of each label among the answers: the one that counts as found first, then the most frequent."""

    answered: int
    unanswered: int
    labelled: int
    shares: dict[str, Estimate]


def label_shares(sample: JudgedSample) -> LabelShares:
    """Return the share of each label among the answers; items of one cluster count as one unit."""
    answered = sample.answered
    n = int(np.count_nonzero(answered))
    shares = {
        label: sample.units.share(sample.answers == place, answered, NOTHING_ANSWERED)
        for label, place in sample.codes.places.items()
    }
    ranked = dict(sorted(shares.items(), key=lambda one: (one[0] != sample.positive, -(one[1].value or 0))))
    return LabelShares(n, len(answered) - n, int(np.count_nonzero(sample.known)), ranked)


def shares_finding(shares: LabelShares, judge: str, benchmark: str) -> str:
    """Return how often the judge says what is looked for, and that how often it is right is not known."""
    label, share = next(iter(shares.shares.items()), ("", Estimate(None)))
    items = counted_text(shares.answered + shares.unanswered, "item")
    if share.value is None:
        return f"{judge} answered none of the {items} of {benchmark}."
    unanswered = f"; {shares.unanswered:,} have no answer" if shares.unanswered else ""
    return (
        f"{judge} says “{label}” of {round(share.value * shares.answered):,} of the {shares.answered:,} answered items "
        f"of {benchmark}, {with_interval(share, 'share')}{unanswered}. Nobody has labelled them, so how often it is "
        "right is not known."
    )


@made_by_this
def label_shares_table(shares: LabelShares, judge: str, benchmark: str) -> Table:
    """Return how often the judge gives each label."""
    rows = [estimate_row(name, one, "share", "Share of the answered", benchmark) for name, one in shares.shares.items()]
    note = "A judge errs: its share of a label is not how often the label holds."
    finding = shares_finding(shares, judge, benchmark)
    return judging_table("label_shares", f"{judge} on {benchmark}", finding, rows, (note,))


_MOST_FINDINGS = 3
_ALPHA = 0.05
NOT_RECORDED = "no verdict says so"
_MEASURES: dict[str, tuple[str, Unit]] = {
    "seconds": ("Seconds", "seconds"),
    "input_tokens": ("Tokens in", "count"),
    "output_tokens": ("Tokens out", "count"),
    "cost_usd": ("Cost", "usd"),
}


class PerItem(Struct, frozen=True):
    """What one item takes; `reported` is how many verdicts say so."""

    reported: int
    mean: Estimate
    median: float | None
    percentile_95: float | None
    total: float | None


class ItemCosts(Struct, frozen=True):
    """What judging took, an item: of the `asked` items whose answers were got now, and of the `cached` ones."""

    asked: int
    cached: int
    now: dict[str, PerItem]
    from_cache: dict[str, PerItem]


def item_costs(sample: JudgedSample) -> ItemCosts:
    """Return what each item took, whether it was answered or not."""
    cached = np.array([verdict.cached for verdict in sample.verdicts], dtype=np.bool_)
    now, from_cache = (
        {name: _per_item(sample, [getattr(verdict, name) for verdict in sample.verdicts], among) for name in _MEASURES}
        for among in (~cached, cached)
    )
    n_cached = int(np.count_nonzero(cached))
    return ItemCosts(len(cached) - n_cached, n_cached, now, from_cache)


def _per_item(sample: JudgedSample, reported: Sequence[float | None], among: BoolArray) -> PerItem:
    each = np.array(reported, dtype=np.float64)
    chosen = among & ~np.isnan(each)
    values = each[chosen]
    mean = sample.units.only(chosen).mean(values, NOT_RECORDED)
    if not len(values):
        return PerItem(0, mean, None, None, None)
    median, percentile_95 = np.quantile(values, [0.5, 0.95])
    return PerItem(len(values), mean, float(median), float(percentile_95), float(values.sum()))


@made_by_this
def costs_table(costs: ItemCosts, source: str) -> Table:
    """Return what an item takes in time, tokens and money, what came from a cache apart."""
    rows: list[Row] = []
    for suffix, measures in (("", costs.now), (", from the cache", costs.from_cache)):
        for name, one in measures.items():
            if one.reported:
                group, unit = _MEASURES[name][0] + suffix, _MEASURES[name][1]
                others = {"Median": one.median, "95th percentile": one.percentile_95, "Total": one.total}
                rows.append(estimate_row("Mean", one.mean, unit, group, source))
                rows += rows_in(unit, others, group, source, n=one.reported)
    notes = (
        "n is how many verdicts say what was spent; an item that was not answered counts as well.",
        "What came from the cache was spent at its first time, not now." if costs.cached else "",
    )
    return judging_table("costs", "What an item takes", _costs_finding(costs), rows, notes)


def _costs_finding(costs: ItemCosts) -> str:
    means = [
        with_interval(one.mean, _MEASURES[name][1], f"by {counted_text(one.reported, 'verdict')}")
        for name in ("cost_usd", "seconds")
        if (one := costs.now[name]).reported
    ]
    cached = f"; {costs.cached:,} of {costs.asked + costs.cached:,} came from the cache" if costs.cached else ""
    if not means:
        return f"No verdict says what it cost{cached}."
    return f"An item asked now takes {' and '.join(means)} in the mean{cached}."


class Assessment(Struct, frozen=True):
    """All results of one run of a judge."""

    scores: Scores
    bias: Bias
    reliability: Reliability
    ceiling: Ceiling
    alternative_annotator: AlternativeAnnotator
    slices: tuple[SlicedField, ...]
    votes: Votes
    given: LabelShares
    prevalence: JudgedPrevalence
    cost: ItemCosts
    evidence: Evidence = "real"
    preferences: Preferences | None = None
    grades: Grades | None = None


def assess(
    verdicts: Sequence[Verdict],
    gold: Sequence[GoldLabel],
    labels: Sequence[str] = (),
    *,
    judge: str = "",
    benchmark: str = "",
    clusters: Mapping[str, str] | None = None,
    items: Sequence[BenchmarkItem] = (),
    lengths: Lengths | None = None,
    positive: str = "",
    level: Level = "nominal",
    votes: int = 1,
    evidence: Evidence = "real",
    resamples: int = 10_000,
    seed: int = 0,
) -> Assessment:
    """Return what a judge is worth by one run."""
    named = {"judge": judge, "benchmark": benchmark}
    scores = score(verdicts, gold, labels, **named, clusters=clusters, resamples=resamples, seed=seed)
    sample = judged_sample(verdicts, gold, labels, clusters=clusters, positive=positive, level=level)
    of_pairs = any(isinstance(verdict, PairVerdict) for verdict in verdicts)
    return Assessment(
        scores,
        bias(sample, seed),
        reliability(sample),
        ceiling(sample, resamples, seed),
        alternative_annotator(sample),
        sliced(sample, items, lengths, seed),
        votes_within(sample, votes),
        label_shares(sample),
        judged_prevalence(sample),
        item_costs(sample),
        evidence,
        preferences(sample.verdicts, systems_of(items), clusters) if of_pairs else None,
        None if level == "nominal" else graded(sample, resamples, seed),
    )


def assessment_document(assessment: Assessment) -> dict[str, Any]:
    """Return the results in the shape of `scores.json`: the scores, and each further result under its own name."""
    document: dict[str, Any] = msgspec.to_builtins(assessment)
    scores: dict[str, Any] = document.pop("scores")
    for name in ("preferences", "grades"):
        if document[name] is None:
            del document[name]
    return scores | document


def assessment_tables(assessment: Assessment, source: str) -> list[Table]:
    """Return the results as tables, the scores first; a question that the run says nothing about has none."""
    pairs, judge = assessment.preferences, assessment.scores.judge
    of_pairs = []
    if pairs is not None:
        of_pairs = [systems_table(judge, pairs, source), position_table(judge, pairs.position, source)]
    if assessment.given.labelled or not assessment.scores.n:
        scores = with_grades(scores_table(assessment.scores, source), assessment.grades, judge, source, ALL_LABELS)
        tables = [scores, *of_pairs, bias_table(assessment.bias, source)]
    else:
        tables = of_pairs or [label_shares_table(assessment.given, assessment.scores.judge, source)]
    if assessment.bias.flows:
        tables.append(flows_table(assessment.bias, source))
    if assessment.slices:
        tables.append(slices_table(assessment.slices, source))
    if assessment.reliability.ranking.n:
        tables.append(reliability_table(assessment.reliability, source))
    if assessment.reliability.bins:
        tables.append(bins_table(assessment.reliability, source))
    if len(assessment.scores.raters) > 1:
        tables += [ceiling_table(assessment.ceiling, source), raters_table(assessment.ceiling, source)]
        tables.append(alternative_annotator_table(assessment.alternative_annotator, source))
    if assessment.alternative_annotator.raters:
        tables.append(stand_in_by_rater_table(assessment.alternative_annotator, source))
    if not assessment.votes.reason:
        tables.append(votes_table(assessment.votes, source))
    if assessment.prevalence.positive and assessment.given.labelled:
        tables.append(prevalence_table(assessment.prevalence, source))
    if any(one.reported for one in (*assessment.cost.now.values(), *assessment.cost.from_cache.values())):
        tables.append(costs_table(assessment.cost, source))
    return [of_evidence(table, assessment.evidence) for table in tables]


def main_findings(assessment: Assessment, source: str) -> list[str]:
    """At most three sentences that say most of a judge beside its scores."""
    pairs, judge = assessment.preferences, assessment.scores.judge
    sentences = [] if pairs is None else [position_finding(judge, pairs.position)]
    if pairs is not None and assessment.given.labelled:
        sentences.append(systems_finding(judge, pairs))
    if 0 < assessment.prevalence.labelled < assessment.prevalence.answered and assessment.prevalence.positive:
        sentences.append(prevalence_table(assessment.prevalence, source).finding)
    if any(flow.p_adjusted is not None and flow.p_adjusted <= _ALPHA for flow in assessment.bias.flows):
        sentences.append(flows_finding(assessment.bias))
    if not assessment.alternative_annotator.reason:
        sentences.append(alternative_annotator_table(assessment.alternative_annotator, source).finding)
    elif assessment.ceiling.n:
        sentences.append(ceiling_table(assessment.ceiling, source).finding)
    if any(field.p_adjusted is not None and field.p_adjusted <= _ALPHA for field in assessment.slices):
        sentences.append(slices_table(assessment.slices, source).finding)
    overconfidence = assessment.reliability.overconfidence
    low, high, n = overconfidence.low, overconfidence.high, overconfidence.n
    if low is not None and high is not None and n is not None and n >= FEWEST_ITEMS and low * high > 0:
        sentences.append(reliability_table(assessment.reliability, source).finding)
    return sentences[:_MOST_FINDINGS]
