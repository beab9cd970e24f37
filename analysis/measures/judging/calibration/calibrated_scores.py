"""A judge's scores made into probabilities of a label, fitted on some of the items and tested on the others.

A score ranks: the area under the ROC curve and the average precision say how well, over all items. To be read as a
probability it has to be calibrated: by a step function that only rises (isotonic regression) or by a logistic curve
(Platt 1999, Probabilistic outputs for support vector machines), both fitted by scikit-learn on items of other runs than
those on which the Brier score and the calibration error are then measured.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.judging.calibration.reliability import NO_PROBABILITIES, calibration_error
from misstep.analysis.measures.judging.calibration.splits import held_out as split_off
from misstep.analysis.measures.judging.reference import majority
from misstep.analysis.measures.judging.units import (
    BoolArray,
    JudgedUnits,
    drawn_sets,
    resampled_estimate,
    resamples_within,
    units_of,
)
from misstep.analysis.stats.average_precision import NO_POSITIVES, average_precision
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.ranking import area_under_curve
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.harness.errors import UsageError
from misstep.harness.verdict import Verdict

Method = Literal["isotonic", "logistic"]

ScoreOf = Literal["given", "label"]
"""What a score is of: how sure the judge is of the label it gave, or how likely the label in question is."""

AS_GIVEN = "as given"
ONE_KIND = "the items to fit on are all of one kind"

_SMALLEST = 1e-6
"""Scores are kept so far from 0 and 1 where their log odds are taken."""


class CalibratedBy(Struct, frozen=True):
    """Probabilities by one method on the held-out items.

    - `method`: `as given`, `isotonic` or `logistic`.
    - `brier`: The mean squared distance of the probability from 1 where the gold label is the label, and from 0
      elsewhere.
    - `calibration_error`: The mean distance between the probability of about equal items and the share of them that has
      the label.
    - `gain`: The Brier score less that of the scores as given: below 0 the method is better.
    """

    method: str
    brier: Estimate
    calibration_error: Estimate
    gain: Estimate


class CalibratedScores(Struct, frozen=True):
    """A judge's scores for a label, as a ranking and as probabilities.

    - `label`, `score_of`: What was asked for.
    - `n`, `without_score`: The items with a gold label and a score, and those without a score, which no figure counts.
    - `positives`: The share of `n` with the label as gold label.
    - `ranking`: The area under the ROC curve over `n`.
    - `average_precision`: Over `n`; a score that says nothing has the share of positives.
    - `fitted`, `held_out`: How many items the methods were fitted on, and tested on.
    - `clustered`: Whether items hang together: those tested on are then of other runs.
    - `methods`: The scores as given, and each method.
    - `probabilities`: Method → held-out item → the probability of the label.
    """

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
    known: dict[str, Method] = {"isotonic": "isotonic", "logistic": "logistic"}
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
    held_out: float = 0.5,
    clusters: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> CalibratedScores:
    """Return how well a judge's scores rank items by a label, and what calibration makes of them on items held out."""
    label_of = majority(gold).label_of
    asked = [one for one in verdicts if one.item in label_of]
    scored = [one for one in asked if one.label is not None and one.score is not None]
    if not scored:
        raise UsageError(
            "no verdict on an item with a gold label has a score", "Calibrate a run whose judge gives scores."
        )
    scores = np.array([score_for(label, one.label, one.score or 0.0, len(labels), score_of) for one in scored])
    positive = np.array([label_of[one.item] == label for one in scored], dtype=np.bool_)
    items = [one.item for one in scored]
    units = units_of(items, clusters)
    later = split_off(np.array([(clusters or {}).get(item, f"item {item}") for item in items]), held_out, seed)
    fits: dict[str, Callable[[FloatArray], FloatArray] | str] = {AS_GIVEN: _as_given(scores)}
    fits |= {method: _fitted(method, scores[~later], positive[~later]) for method in methods}
    tested = {name: fit if isinstance(fit, str) else fit(scores[later]) for name, fit in fits.items()}
    of_later = [item for item, is_later in zip(items, later, strict=True) if is_later]
    return CalibratedScores(
        label=label,
        score_of=score_of,
        n=len(scored),
        without_score=len(asked) - len(scored),
        positives=units.share(positive, np.ones(len(scored), dtype=np.bool_), ""),
        ranking=area_under_curve(scores, positive, units.of_item if units.clustered else None),
        average_precision=_average_precision(scores, positive, units, resamples, seed),
        fitted=int((~later).sum()),
        held_out=int(later.sum()),
        clustered=units.clustered,
        methods=tuple(
            _tested(name, found, tested[AS_GIVEN], positive[later], units.only(later), resamples, seed)
            for name, found in tested.items()
        ),
        probabilities={
            name: dict(zip(of_later, found.tolist(), strict=True))
            for name, found in tested.items()
            if not isinstance(found, str)
        },
    )


def score_for(label: str, given: str | None, score: float, labels: int, score_of: ScoreOf = "given") -> float:
    """Return the score of a label, from the score that came with the label given; of so many labels."""
    if score_of == "label" or given == label:
        return score
    return (1 - score) / (max(2, labels) - 1)


def _as_given(scores: FloatArray) -> Callable[[FloatArray], FloatArray] | str:
    return NO_PROBABILITIES if scores.min() < 0 or scores.max() > 1 else lambda values: values


def _fitted(method: Method, scores: FloatArray, positive: BoolArray) -> Callable[[FloatArray], FloatArray] | str:
    """Return what makes probabilities of scores; why there is nothing to fit, where that is so."""
    if positive.all() or not positive.any():
        return ONE_KIND
    if method == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        rising = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, positive.astype(np.float64))
        return lambda values: np.asarray(rising.predict(values), dtype=np.float64)
    return _logistic(scores, positive)


def _logistic(scores: FloatArray, positive: BoolArray) -> Callable[[FloatArray], FloatArray]:
    """Platt's curve over the log odds of the scores, or over the scores where they are not probabilities.

    His targets (N+1)/(N+2) and 1/(N+2) keep the curve finite where a score tells the kinds apart without error.
    """
    from sklearn.linear_model import LogisticRegression

    within = scores.min() >= 0 and scores.max() <= 1
    found = int(positive.sum())
    target = np.where(positive, (found + 1) / (found + 2), 1 / (len(positive) - found + 2))

    def feature(values: FloatArray) -> npt.NDArray[np.float64]:
        kept = np.clip(values, _SMALLEST, 1 - _SMALLEST)
        return np.asarray(np.log(kept / (1 - kept)) if within else values)[:, None]

    curve = LogisticRegression(C=np.inf, max_iter=1000).fit(
        np.concatenate([feature(scores), feature(scores)]),
        np.concatenate([np.ones(len(scores)), np.zeros(len(scores))]),
        np.concatenate([target, 1 - target]),
    )
    return lambda values: np.asarray(curve.predict_proba(feature(values))[:, 1], dtype=np.float64)


def _tested(
    name: str,
    found: FloatArray | str,
    given: FloatArray | str,
    positive: BoolArray,
    units: JudgedUnits,
    resamples: int,
    seed: int,
) -> CalibratedBy:
    if isinstance(found, str):
        nothing = Estimate(None, n=len(positive), reason=found)
        return CalibratedBy(name, nothing, nothing, nothing)
    squared = (found - positive) ** 2
    if isinstance(given, str):
        gain = Estimate(None, n=len(positive), reason=given)
    elif name == AS_GIVEN:
        gain = Estimate(None, n=len(positive), reason="this is what the methods are compared with")
    else:
        gain = _within(units.mean(squared - (given - positive) ** 2, ""), -1.0, 1.0)
    error = calibration_error(found, positive, units, resamples, seed)
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
    return resampled_estimate(float(whole[0]), drawn, len(scores), units.name)
