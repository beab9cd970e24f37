"""What a judge is worth: its scores, and beyond them what errors it makes, whom it agrees with, and what it costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.bias import Bias, bias, bias_table, flows_finding, flows_table
from misstep_analysis.judging.calibration.reliability import (
    Reliability,
    bins_table,
    reliability,
    reliability_table,
)
from misstep_analysis.judging.grades import Grades, graded, with_grades
from misstep_analysis.judging.judged_prevalence import (
    JudgedPrevalence,
    LabelShares,
    judged_prevalence,
    label_shares,
    label_shares_table,
    prevalence_table,
)
from misstep_analysis.judging.pairs.preferences import (
    Preferences,
    position_finding,
    position_table,
    preferences,
    systems_finding,
    systems_of,
    systems_table,
)
from misstep_analysis.judging.pairs.stability import Votes, votes_table, votes_within
from misstep_analysis.judging.people.alternative_annotator import (
    FEWEST_ITEMS,
    AlternativeAnnotator,
    alternative_annotator,
    alternative_annotator_table,
    stand_in_by_rater_table,
)
from misstep_analysis.judging.people.ceiling import Ceiling, ceiling, ceiling_table, raters_table
from misstep_analysis.judging.rows import judging_table
from misstep_analysis.judging.sample import JudgedSample, Level, judged_sample
from misstep_analysis.judging.score_tables import ALL_LABELS, scores_table
from misstep_analysis.judging.scores import Scores, score
from misstep_analysis.judging.slices import Lengths, SlicedField, sliced, slices_table
from misstep_analysis.judging.units import BoolArray
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Row, Table, Unit, estimate_row, made_by_this, of_evidence, rows_in
from misstep_analysis.tables.wording import counted_text, with_interval
from misstep_harness.evidence import Evidence
from misstep_harness.pair import PairVerdict
from misstep_harness.verdict import Verdict

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
