"""Calibration: whether a judge that gives its label a score of 0.9 is right nine times out of ten.

A bin is one score if there are at most ten, else one of ten with about equally many items: judges give few different
scores, and bins of equal width would leave most of them empty.
"""

from math import pi, sqrt

import numpy as np
from msgspec import Struct

from misstep_analysis.judging.rows import judging_table
from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.units import BoolArray, JudgedUnits
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.ranking import area_under_curve
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.tables import Fields, Row, Table, estimate_row, made_by_this, rows_from
from misstep_analysis.tables.wording import counted_text, number_text, with_interval

NO_SCORES = "no verdict on an item with a gold label has a score"
NO_PROBABILITIES = "scores outside 0 to 1 are not probabilities"
BY_CHANCE = "no interval: chance only adds to this error, and a perfectly calibrated judge would by chance have {}"

_MOST_BINS = 10

_FIELDS: Fields = (
    ("Answers with a score", "scored", "share"),
    ("Mean score less share right", "overconfidence", "difference"),
    ("Expected calibration error", "expected_calibration_error", "coefficient"),
    ("Brier score", "brier", "coefficient"),
    ("Area under the ROC curve, right above wrong", "ranking", "coefficient"),
)


class Bin(Struct, frozen=True):
    """Verdicts of about one score, from `lowest` to `highest`: the mean score, and the share that is right."""

    n: int
    lowest: float
    highest: float
    mean_score: float
    right: Estimate


class Reliability(Struct, frozen=True):
    """What a judge's scores say.

    - `expected_calibration_error`: The mean distance of a bin's mean score from its share right; never below 0, and
      `calibrated_error` is what a perfectly calibrated judge with these scores would get by chance. It has no interval:
      resamples add to the error, so that theirs never holds 0, whatever the judge.
    - `brier`: The mean squared distance of the score from 1 where right and 0 where wrong.
    - `ranking`: The area under the ROC curve: the chance that a right answer has a higher score than a wrong one.
    """

    scored: Estimate
    bins: tuple[Bin, ...]
    expected_calibration_error: Estimate
    calibrated_error: float | None
    overconfidence: Estimate
    brier: Estimate
    ranking: Estimate


def reliability(sample: JudgedSample) -> Reliability:
    """Return how far a judge's scores can be taken at their word."""
    answered = sample.answered & sample.known
    has_score = np.array([verdict.score is not None for verdict in sample.verdicts], dtype=np.bool_)
    chosen = answered & has_score
    scores = np.array([verdict.score for verdict in sample.verdicts if verdict.score is not None], dtype=np.float64)
    scores = scores[answered[has_score]]
    right, units = sample.right[chosen], sample.units.only(chosen)
    share_scored = sample.units.share(has_score, answered, "no item with a gold label was answered")
    if not len(scores):
        nothing = Estimate(None, n=0, reason=NO_SCORES)
        return Reliability(share_scored, (), nothing, None, nothing, nothing, nothing)
    ranking = area_under_curve(scores, right, units.of_item if units.clustered else None)
    if scores.min() < 0 or scores.max() > 1:
        unknown = Estimate(None, n=len(scores), reason=NO_PROBABILITIES)
        return Reliability(share_scored, (), unknown, None, unknown, unknown, ranking)
    of_bin = _bins(scores)
    distances = scores - right
    return Reliability(
        share_scored,
        tuple(_bin(scores, right, of_bin == place, units) for place in range(int(of_bin.max()) + 1)),
        calibration_error(scores, right),
        _error_by_chance(scores, of_bin),
        units.mean(distances, NO_SCORES),
        units.mean(distances**2, NO_SCORES),
        ranking,
    )


def _bins(scores: FloatArray) -> IntArray:
    distinct, of_score, counts = np.unique(scores, return_inverse=True, return_counts=True)
    if len(distinct) <= _MOST_BINS:
        return of_score.astype(np.int64)
    middle = (np.cumsum(counts) - counts / 2) / len(scores)
    _, dense = np.unique((middle * _MOST_BINS).astype(np.int64), return_inverse=True)
    return dense[of_score].astype(np.int64)


def _bin(scores: FloatArray, right: BoolArray, inside: BoolArray, units: JudgedUnits) -> Bin:
    held = scores[inside]
    share = units.share(right, inside, NO_SCORES)
    return Bin(len(held), float(held.min()), float(held.max()), float(held.mean()), share)


def calibration_error(scores: FloatArray, right: BoolArray) -> Estimate:
    """Return the mean distance of a bin's mean score from its share right, and what chance alone gives."""
    of_bin = _bins(scores)
    error = float(np.abs(np.bincount(of_bin, scores - right)).sum()) / len(scores)
    by_chance = number_text(_error_by_chance(scores, of_bin), "coefficient")
    return Estimate(error, n=len(scores), reason=BY_CHANCE.format(by_chance))


def _error_by_chance(scores: FloatArray, of_bin: IntArray) -> float:
    """Return the expected calibration error of independent verdicts that are right as often as their scores say.

    In each bin the sum of distances is then about normal with mean 0, whose mean absolute value is sqrt(2/π) times its
    standard deviation.
    """
    variances = np.bincount(of_bin, scores * (1 - scores))
    return float(np.sqrt(variances).sum()) * sqrt(2 / pi) / len(scores)


@made_by_this
def reliability_table(reliability: Reliability, source: str) -> Table:
    """Return how often answers of about one score are right, and how far scores and that are apart."""
    by_chance = number_text(reliability.calibrated_error, "coefficient")
    note = f"A perfectly calibrated judge with these scores would by chance get a calibration error of {by_chance}."
    return judging_table(
        "reliability",
        "Calibration of the judge's scores",
        _finding(reliability),
        rows_from(reliability, _FIELDS, "All answers", source),
        ("The score is of the label given.", "" if reliability.calibrated_error is None else note),
    )


def _finding(reliability: Reliability) -> str:
    apart, ranking = reliability.overconfidence, reliability.ranking
    if apart.value is None:
        return f"The scores say nothing of how often answers are right: {apart.reason}."
    answers = counted_text(apart.n or 0, "answer")
    sentence = f"The mean score less the share right is {with_interval(apart, 'difference')} of {answers}"
    if ranking.value is None:
        return f"{sentence}."
    ranked = with_interval(ranking, "coefficient")
    return f"{sentence}; a right answer outscores a wrong one with a chance of {ranked}."


@made_by_this
def bins_table(reliability: Reliability, source: str) -> Table:
    """Return how often answers of about one score are right."""
    furthest = max(reliability.bins, key=lambda one: abs(one.mean_score - (one.right.value or 0.0)))
    answers = f"{counted_text(furthest.n, 'answer')} with {_range(furthest)}"
    right = f"{with_interval(furthest.right, 'share')} {'is' if furthest.n == 1 else 'are'} right"
    rows: list[Row] = []
    for one in reliability.bins:
        group = _range(one)
        rows.append(Row("Mean score", one.mean_score, n=one.n, unit="share", group=group, source=source))
        rows.append(estimate_row("Share right", one.right, "share", group, source))
    return judging_table(
        "reliability_bins",
        "How often answers of about one score are right",
        f"Of {answers}, the furthest apart, {right}.",
        rows,
        ("A bin is one score, or some with about as many answers as any other.",),
    )


def _range(one: Bin) -> str:
    low, high = number_text(one.lowest), number_text(one.highest)
    return f"score {low}" if low == high else f"scores {low} to {high}"
