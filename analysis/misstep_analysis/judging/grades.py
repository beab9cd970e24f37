"""How near a judge's grades are to people's, where labels have an order: a near miss is no miss of a name."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.scores import NOTHING_ANSWERED
from misstep_analysis.judging.units import BoolArray
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.coefficients import ONE_CATEGORY
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray, distinct_rows
from misstep_analysis.tables import Fields, Table, rows_from
from misstep_analysis.tables.wording import counted_text, interval_words, number_text, with_interval

_FIELDS: Fields = (
    ("Weighted kappa (quadratic)", "weighted_kappa", "coefficient"),
    ("Within one grade", "within_one", "share"),
    ("Rank correlation (Kendall's tau-b)", "rank_correlation", "coefficient"),
    ("Mean distance in grades", "mean_distance", "number"),
)
GRADES = ("weighted_kappa", "within_one", "rank_correlation")
"""The figures that limits can be set for."""

_ALL_ALIKE = "people's grades or the judge's are all alike: there is no order to compare"
_ONE = 1 + 1e-9
"""Grades one apart, with room for what decimals cost."""


class Grades(Struct, frozen=True):
    """How near the answered grades are to people's.

    - `weighted_kappa`: Cohen's kappa with quadratic weights.
    - `within_one`: The share at most one grade away.
    - `rank_correlation`: Kendall's tau-b.
    """

    weighted_kappa: Estimate
    within_one: Estimate
    rank_correlation: Estimate
    mean_distance: Estimate


def scale_values(labels: Sequence[str]) -> FloatArray:
    """Return the numbers that labels are, or their places in the order where one is a word."""
    from misstep_analysis.labels.records import number  # with it come the readers of all labelling tools

    numbers = [number(label) for label in labels]
    return np.array(range(len(labels)) if None in numbers else numbers, dtype=np.float64)


def graded(sample: JudgedSample, resamples: int = 10_000, seed: int = 0) -> Grades:
    """Return how near a judge's grades are to people's."""
    items = _graded_items(sample)
    values, units = scale_values(sample.labels), sample.units.only(items)
    pairs = distinct_rows(np.column_stack([sample.gold[items], sample.answers[items]]))
    figures = partial(_kappa_and_tau, gold=pairs.rows[:, 0], answers=pairs.rows[:, 1], values=values)
    reasons = [ONE_CATEGORY, _ALL_ALIKE] if items.any() else [NOTHING_ANSWERED] * 2
    kappa, tau = units.resampled_counts(figures, pairs, reasons, resamples, seed)
    distances = _distances(sample)[items]
    within = units.share(distances <= _ONE, None, NOTHING_ANSWERED)
    return Grades(kappa, within, tau, units.mean(distances, NOTHING_ANSWERED))


def _graded_items(sample: JudgedSample) -> BoolArray:
    return np.asarray(sample.known & (sample.answers < sample.codes.unknown))


def _distances(sample: JudgedSample) -> FloatArray:
    """Return how far each answer is from people's grade; NaN where there is no such pair."""
    items, values = _graded_items(sample), scale_values(sample.labels)
    distances = np.full(len(items), np.nan)
    distances[items] = np.abs(values[sample.gold[items]] - values[sample.answers[items]])
    return distances


def _kappa_and_tau(sets: FloatArray, gold: IntArray, answers: IntArray, values: FloatArray) -> FloatArray:
    """Return weighted kappa and Kendall's tau-b for each set of counts of pairs of codes: sets x 2."""
    apart = values[:, None] - values[None, :]
    weights = 1 - apart**2 / max(float(np.ptp(values)) ** 2, 1.0)
    kappa = coefficients.cohen(sets, gold, answers, len(values), weights)
    orders = [np.sign(apart)[np.ix_(of, of)] for of in (gold, answers)]

    def over_pairs(signs: FloatArray) -> FloatArray:
        return np.asarray(((sets @ signs) * sets).sum(axis=1))

    told_apart = np.sqrt(over_pairs(orders[0] ** 2) * over_pairs(orders[1] ** 2))
    return np.column_stack([kappa, coefficients.ratio(over_pairs(orders[0] * orders[1]), told_apart)])


def with_grades(table: Table, grades: Grades | None, judge: str, source: str, group: str = "") -> Table:
    """Return the table of a judge's scores, where labels are grades with what these come to before all else."""
    if grades is None:
        return table
    rows = rows_from(grades, _FIELDS, group, source)
    return structs.replace(table, finding=_finding(grades, judge), rows=(*rows, *table.rows))


def _finding(grades: Grades, judge: str) -> str:
    items = counted_text(grades.within_one.n or 0, "item")
    if grades.within_one.value is None:
        return f"{judge} has no grade beside people's: {grades.within_one.reason}."
    within = f"{judge} is within one grade of people's on {with_interval(grades.within_one, 'share')} of {items}"
    kappa = grades.weighted_kappa
    if kappa.value is None:
        return f"{within}; weighted kappa is undefined: {kappa.reason}."
    return f"{within}; weighted kappa (quadratic) is {with_interval(kappa, 'coefficient')}."


def nearer_sentences(samples: dict[str, JudgedSample]) -> list[str]:
    """Return for every two judges of the same items which of them is nearer to people's grades, and by how much."""
    sentences = []
    for (a, first), (b, second) in combinations(samples.items(), 2):
        differences = _distances(first) - _distances(second)
        both = ~np.isnan(differences)
        mean = first.units.only(both).mean(differences[both], "no item was graded by both")
        if mean.value is None:
            sentences.append(f"{a} and {b} cannot be compared: {mean.reason}.")
            continue
        near, far, by = (a, b, mean.negated()) if mean.value < 0 else (b, a, mean)
        on = f"on {counted_text(int(both.sum()), 'item')} ({interval_words(by.low, by.high, 'number')})"
        if mean.value == 0:
            sentences.append(f"{a} and {b} are equally near to people's grades {on}.")
        else:
            sentences.append(f"{near} is {number_text(by.value)} grades nearer to people's than {far} {on}.")
    return sentences
