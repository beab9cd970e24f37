"""A judge's scores made into probabilities of a label, fitted on some of the items and tested on the others.

Isotonic regression and the logistic curve (Platt 1999, Probabilistic outputs for support vector machines) are fitted
by scikit-learn on items of other runs than those that they are tested on.

Calibration: whether a judge that gives its label a score of 0.9 is right nine times out of ten.

A bin is one score if there are at most ten, else one of ten with about equally many items: judges give few different
scores, and bins of equal width would leave most of them empty.
"""

from collections.abc import Callable, Mapping, Sequence
from math import pi, sqrt
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.sample import JudgedSample, majority
from misstep_analysis.judging.units import (
    BoolArray,
    JudgedUnits,
    cluster_names,
    drawn_sets,
    held_out_items,
    judging_table,
    resampled_estimate,
    resamples_within,
    units_of,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.ranking import NO_POSITIVES, area_under_curve, average_precision, doubted_precision
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.tables import Fields, Row, Table, estimate_row, made_by_this, rows_from
from misstep_analysis.tables.wording import counted_text, number_text, points_text, with_interval
from misstep_harness.errors import UsageError
from misstep_harness.verdict import Verdict

NO_SCORES = "no verdict on an item with a gold label has a score"
NO_PROBABILITIES = "scores outside 0 to 1 are not probabilities"
BY_CHANCE = "no interval: chance only adds to this error, and a perfectly calibrated judge would by chance have {}"

_MOST_BINS = 10
_COIN = 0.5

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
    way = "high" if apart.value > 0 else "low"
    sentence = f"Confidence is {points_text(apart.value)} too {way} on average"
    if apart.low is None or apart.high is None or apart.low <= 0 <= apart.high:
        sentence = "Confidence is not clearly too high or too low on average"
    if ranking.value is None:
        return f"{sentence}."
    tells = "tells" if ranking.low is not None and ranking.low > _COIN else "is not shown to tell"
    return f"{sentence} and {tells} right answers from wrong ones (AUC {number_text(ranking.value, 'coefficient')})."


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


Method = Literal["isotonic", "logistic"]

ScoreOf = Literal["given", "label"]
"""What a score is of: how sure the judge is of the label it gave, or how likely the label in question is."""

_Fit = Callable[[FloatArray], FloatArray]

AS_GIVEN = "as given"
ONE_KIND = "the items to fit on are all of one kind"

_RANKING_FIELDS: Fields = (
    ("Area under the ROC curve", "ranking", "coefficient"),
    ("Average precision", "average_precision", "coefficient"),
)
_METHOD_FIELDS: Fields = (
    ("Brier score", "brier", "coefficient"),
    ("Calibration error", "calibration_error", "coefficient"),
    ("Brier score less that of the scores as given", "gain", "coefficient"),
)
_SMALLEST = 1e-6
"""Scores are kept so far from 0 and 1 where their log odds are taken."""


class CalibratedBy(Struct, frozen=True):
    """Probabilities by one method on the held-out items; `gain` is the Brier score less that of the scores as given."""

    method: str
    brier: Estimate
    calibration_error: Estimate
    gain: Estimate


class CalibratedScores(Struct, frozen=True):
    """A judge's scores for a label, as a ranking over `n` items and as probabilities."""

    label: str
    score_of: ScoreOf
    n: int
    without_score: int
    positives: Estimate
    ranking: Estimate
    average_precision: Estimate
    fitted: int
    held_out: int
    clustered: bool
    methods: tuple[CalibratedBy, ...]
    probabilities: dict[str, dict[str, float]]


def methods_named(names: str) -> tuple[Method, ...]:
    """Return the methods of a list such as `isotonic,logistic`."""
    known = {name: name for name in get_args(Method)}
    wanted = [name.strip() for name in names.split(",")] if names else []
    for name in wanted:
        if name not in known:
            raise UsageError(f"no method {name!r}", f"There are {' and '.join(known)}.")
    return tuple(known[name] for name in dict.fromkeys(wanted))


def calibrated_scores(
    verdicts: Sequence[Verdict],
    gold: Sequence[GoldLabel],
    label: str,
    labels: Sequence[str],
    methods: Sequence[Method] = ("isotonic", "logistic"),
    *,
    score_of: ScoreOf = "given",
    clusters: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> CalibratedScores:
    """Return how well a judge's scores rank items by a label, and what calibration makes of them on items held out."""
    label_of = majority(gold).label_of
    with_gold = [one for one in verdicts if one.item in label_of]
    # How sure a judge is of an answer that is none of the labels says nothing of any of them.
    readable = {one.label for one in with_gold} if score_of == "label" or not labels else {*labels}
    scored = [one for one in with_gold if one.label in readable - {None} and one.score is not None]
    if not scored:
        raise UsageError(
            "no verdict on an item with a gold label has a score", "Calibrate a run whose judge gives scores."
        )
    scores = np.array([score_for(label, one.label, one.score or 0.0, len(labels), score_of) for one in scored])
    positive = np.array([label_of[one.item] == label for one in scored], dtype=np.bool_)
    items = [one.item for one in scored]
    units = units_of(items, clusters)
    later = held_out_items(np.array(cluster_names(items, clusters)), seed)
    fits: dict[str, _Fit | str] = {AS_GIVEN: _as_given(scores)}
    fits |= {method: _fitted(method, scores[~later], positive[~later]) for method in methods}
    tested = {name: fit if isinstance(fit, str) else fit(scores[later]) for name, fit in fits.items()}
    of_later = [item for item, is_later in zip(items, later, strict=True) if is_later]
    return CalibratedScores(
        label=label,
        score_of=score_of,
        n=len(scored),
        without_score=len(with_gold) - len(scored),
        positives=units.share(positive, None, ""),
        ranking=area_under_curve(scores, positive, units.of_item if units.clustered else None),
        average_precision=_average_precision(scores, positive, units, resamples, seed),
        fitted=int((~later).sum()),
        held_out=int(later.sum()),
        clustered=units.clustered,
        methods=tuple(
            _tested(name, chances, tested[AS_GIVEN], positive[later], units.only(later))
            for name, chances in tested.items()
        ),
        probabilities={
            name: dict(zip(of_later, chances.tolist(), strict=True))
            for name, chances in tested.items()
            if not isinstance(chances, str)
        },
    )


def score_for(label: str, given: str | None, score: float, labels: int, score_of: ScoreOf = "given") -> float:
    """Return the score of a label, from the score that came with the label given; of so many labels."""
    if score_of == "label" or given == label:
        return score
    return (1 - score) / (max(2, labels) - 1)


def _as_given(scores: FloatArray) -> _Fit | str:
    return NO_PROBABILITIES if scores.min() < 0 or scores.max() > 1 else lambda values: values


def _fitted(method: Method, scores: FloatArray, positive: BoolArray) -> _Fit | str:
    if positive.all() or not positive.any():
        return ONE_KIND
    if method == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        rising = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, positive.astype(np.float64))
        return lambda values: np.asarray(rising.predict(values), dtype=np.float64)
    return _logistic(scores, positive)


def _logistic(scores: FloatArray, positive: BoolArray) -> _Fit:
    """Platt's curve over the log odds of the scores, or over the scores where they are not probabilities.

    His targets (N+1)/(N+2) and 1/(N+2) keep the curve finite where a score tells the kinds apart without error.
    """
    from sklearn.linear_model import LogisticRegression

    within = scores.min() >= 0 and scores.max() <= 1
    positives = int(positive.sum())
    target = np.where(positive, (positives + 1) / (positives + 2), 1 / (len(positive) - positives + 2))

    def feature(values: FloatArray) -> npt.NDArray[np.float64]:
        clipped = np.clip(values, _SMALLEST, 1 - _SMALLEST)
        return np.asarray(np.log(clipped / (1 - clipped)) if within else values)[:, None]

    curve = LogisticRegression(C=np.inf, max_iter=1000).fit(
        np.concatenate([feature(scores), feature(scores)]),
        np.concatenate([np.ones(len(scores)), np.zeros(len(scores))]),
        np.concatenate([target, 1 - target]),
    )
    return lambda values: np.asarray(curve.predict_proba(feature(values))[:, 1], dtype=np.float64)


def _tested(
    name: str,
    probabilities: FloatArray | str,
    as_given: FloatArray | str,
    positive: BoolArray,
    units: JudgedUnits,
) -> CalibratedBy:
    def nothing(reason: str) -> Estimate:
        return Estimate(None, n=len(positive), reason=reason)

    if isinstance(probabilities, str):
        return CalibratedBy(name, nothing(probabilities), nothing(probabilities), nothing(probabilities))
    squared = (probabilities - positive) ** 2
    if isinstance(as_given, str):
        gain = nothing(as_given)
    elif name == AS_GIVEN:
        gain = nothing("this is what the methods are compared with")
    else:
        gain = _within(units.mean(squared - (as_given - positive) ** 2, ""), -1.0, 1.0)
    error = calibration_error(probabilities, positive)
    return CalibratedBy(name, _within(units.mean(squared, ""), 0.0, 1.0), error, gain)


def _within(estimate: Estimate, least: float, most: float) -> Estimate:
    """Return an estimate whose interval ends where its values do: Student's t knows no bounds."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return structs.replace(estimate, low=max(estimate.low, least), high=min(estimate.high, most))


def _average_precision(
    scores: FloatArray, positive: BoolArray, units: JudgedUnits, resamples: int, seed: int
) -> Estimate:
    if not positive.any():
        return Estimate(None, n=len(scores), reason=NO_POSITIVES)
    times = resamples_within(resamples, len(scores))
    whole = average_precision(scores, positive, np.ones((1, len(scores))))
    drawn = drawn_sets(
        lambda sets: average_precision(scores, positive, sets[:, units.of_item]),
        np.ones(units.count, dtype=np.int64),
        times,
        np.random.default_rng(seed),
    )
    return doubted_precision(resampled_estimate(float(whole[0]), drawn, len(scores), units.name), units.count)


def calibrated_finding(scores: CalibratedScores, judge: str) -> str:
    """Return how well the scores rank, and which method brings the Brier score down most."""
    ranking = f"{judge}'s scores rank items by “{scores.label}”"
    if scores.ranking.value is None:
        return f"Nothing says how well {ranking}; {scores.ranking.reason}."
    opening = f"{ranking} with an area under the ROC curve of {with_interval(scores.ranking, 'coefficient')}"
    better = [one for one in scores.methods if one.gain.value is not None]
    if not better:
        return f"{opening}."
    best = min(better, key=lambda one: one.gain.value or 0.0)
    raw = next(one for one in scores.methods if one.method == AS_GIVEN)
    return (
        f"{opening}; {best.method} calibration changes the Brier score from "
        f"{number_text(raw.brier.value, 'coefficient')} to {number_text(best.brier.value, 'coefficient')} on items "
        f"held out, by {with_interval(best.gain, 'coefficient')}."
    )


@made_by_this
def calibrated_scores_table(scores: CalibratedScores, judge: str, source: str) -> Table:
    """Return the ranking of all items by a judge's scores, and the probabilities on those held out."""
    ranked = "As a ranking, all items with a score"
    rows = rows_from(scores, _RANKING_FIELDS, ranked, source)
    rows.append(estimate_row(f"Share of “{scores.label}”", scores.positives, "share", ranked, source))
    for one in scores.methods:
        fields = _METHOD_FIELDS[:-1] if one.method == AS_GIVEN else _METHOD_FIELDS
        rows += rows_from(one, fields, f"As probabilities, {one.method}, items held out", source)
    meaning = "how sure the judge is of the label it gave" if scores.score_of == "given" else f"of “{scores.label}”"
    tested = f"{counted_text(scores.held_out, 'item')}{' of other runs' if scores.clustered else ' held out'}"
    left_out = f"{counted_text(scores.without_score, 'item')} without a score left out."
    return judging_table(
        "calibrated_scores",
        f"{judge}'s scores for “{scores.label}”",
        calibrated_finding(scores, judge),
        rows,
        (
            f"A score is taken as {meaning}. The methods are fitted on {counted_text(scores.fitted, 'item')} and "
            f"tested on {tested}.",
            "The Brier score is 0 for probabilities that are always right; always giving the share of the label p has "
            "p(1-p).",
            left_out if scores.without_score else "",
        ),
    )
