"""A mean over all items from a judge's values, put right by the items that also carry gold labels.

Angelopoulos and others (2023), Prediction-powered inference, Science 382:669-674: the judge's mean plus its mean error
on the labelled items. For shares that is the share flagged, plus the share missed, less the share flagged wrongly.

The normal interval of that paper takes an error that was not seen for one that does not happen: of a judge that errs
on none of 20 to 40 labelled items it holds the truth far too seldom (`benchmarks/validity/RESULTS.md`). For shares the
bounds of the three shares are therefore put together: each is Clopper and Pearson's, over clusters Korn and Graubard's,
so that 20 items without an error leave room for one on 17% of all.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from analysis.stats.checked import finite
from analysis.stats.clustered import ONE_CLUSTER
from analysis.stats.clustered_bounds import korn_graubard
from analysis.stats.estimate import Estimate
from analysis.stats.patterns import FloatArray
from harness.errors import UsageError

OUTSIDE = "outside 0 to 1 before it was cut"
NO_SPREAD = "all errors are the same: a mean error that does not vary says nothing of how far it may be off"

Limits = tuple[float, float]


class PredictionPowered(Struct, frozen=True):
    """The prediction-powered mean beside the classical one of the labelled items alone: the narrower one is no given.

    `powered` has the interval that holds with few labels; `normal` are the limits of the paper, which need many, and
    `None` where there are none. Standard errors are (powered, classical), with divisor n as the paper has them, and
    with n - 1.
    """

    powered: Estimate
    classical: Estimate
    normal: Limits | None
    errors: tuple[float | None, float | None]
    unbiased_errors: tuple[float | None, float | None]


def prediction_powered_mean(
    labels: npt.ArrayLike, predictions: npt.ArrayLike, unlabelled: npt.ArrayLike, confidence: float = 0.95
) -> PredictionPowered:
    """A mean over all items from a judge's predictions, put right by the items that also carry gold labels.

    Where all values are 0 and 1 the interval is that of `powered_share`, else Welch's over labelled and unlabelled
    items.

    Parameters
    ----------
    labels, predictions
        Labelled items: gold values and the judge's, in the same order; they must be a random sample of all items.
    unlabelled
        The other items: the judge's values.
    confidence
        The coverage of the intervals.

    Raises
    ------
    UsageError
        Labels and predictions differ in length, a group is empty, or a value is missing.
    """
    gold, judged, others = (finite(given, "a label or prediction") for given in (labels, predictions, unlabelled))
    if len(gold) != len(judged):
        raise UsageError(f"{len(gold)} labels but {len(judged)} predictions of the same items")
    if not len(gold) or not len(others):
        raise UsageError("a prediction-powered mean needs labelled and unlabelled items")
    rectifier, n = gold - judged, len(gold)
    value = float(others.mean() + rectifier.mean())
    if n == 1 or len(others) == 1:
        which = "labelled" if n == 1 else "unlabelled"
        reason = f"one {which} item: the variance over these items cannot be estimated"
        alone = Estimate(float(gold.mean()), n=n, reason=reason)
        return PredictionPowered(Estimate(value, n=n, reason=reason), alone, None, (None, None), (None, None))
    errors, unbiased = ((_error(others, rectifier, ddof), sqrt(gold.var(ddof=ddof) / n)) for ddof in (0, 1))
    if all(np.isin(values, (0, 1)).all() for values in (gold, judged, others)):
        flagged, missed, wrong = (
            np.column_stack([counted, np.ones(len(counted))]) for counted in (others, rectifier > 0, rectifier < 0)
        )
        powered = powered_share(flagged, missed, wrong, confidence)
    else:
        powered = _welch(value, others, rectifier, confidence)
    classical = _normal(float(gold.mean()), errors[1], n, f"labelled items alone, {100 * confidence:g}%", confidence)
    limits = _normal(value, errors[0], n, "", confidence)
    normal = None if limits.low is None or limits.high is None else (limits.low, limits.high)
    return PredictionPowered(powered, classical, normal, errors, unbiased)


def powered_share(
    flagged: npt.ArrayLike, missed: npt.ArrayLike, wrong: npt.ArrayLike, confidence: float = 0.95
) -> Estimate:
    """The share flagged plus the share missed less the share flagged wrongly, with bounds that hold with few labels.

    Distances from each share to its own bound are squared and added (Zou and Donner 2008, Construction of confidence
    limits about effect measures, Statistics in Medicine 27:1693-1702), with the covariance of the shares missed and
    flagged wrongly, which are of the same items. That of the share flagged is not counted on: it makes the interval
    narrower. Estimate and bounds are cut to 0..1.

    Parameters
    ----------
    flagged
        Clusters x (flagged, judged): items that stand for themselves are clusters of one.
    missed, wrong
        Clusters x (positive and not flagged, labelled), and x (flagged and not positive, labelled).
    confidence
        The coverage of the interval.

    Raises
    ------
    UsageError
        Nothing was judged or labelled, or a cluster has more of something than items.
    """
    shares = [korn_graubard(clusters, confidence) for clusters in (flagged, missed, wrong)]
    said, low_error, high_error = (float(one.value or 0.0) for one in shares)
    raw, labelled = said + low_error - high_error, shares[1].n
    value = min(1.0, max(0.0, raw))
    method = f"prediction-powered, {shares[1].method.removesuffix(f', {100 * confidence:g}%')} bounds of errors, "
    method += f"{100 * confidence:g}%"
    if any(one.low is None for one in shares):
        return Estimate(value, n=labelled, method=method, reason=ONE_CLUSTER)
    (below, above), (missed_below, missed_above), (wrong_below, wrong_above) = (
        (float(one.value or 0.0) - float(one.low or 0.0), float(one.high or 0.0) - float(one.value or 0.0))
        for one in shares
    )
    # A missed item raises the mean and a wrongly flagged one lowers it: the lower limit takes the lower bound of the
    # first and the upper bound of the second.
    together = _correlation(low_error, high_error)
    down = sqrt(below**2 + missed_below**2 + wrong_above**2 + 2 * together * missed_below * wrong_above)
    up = sqrt(above**2 + missed_above**2 + wrong_below**2 + 2 * together * missed_above * wrong_below)
    low, high = (min(1.0, max(0.0, limit)) for limit in (raw - down, raw + up))
    return Estimate(value, low, high, labelled, method, "" if value == raw else OUTSIDE)


def _correlation(missed: float, wrong: float) -> float:
    """How far the shares missed and flagged wrongly draw apart: an item can only be one of both."""
    rest = (1 - missed) * (1 - wrong)
    return sqrt(missed * wrong / rest) if rest else 0.0


def _error(others: FloatArray, rectifier: FloatArray, ddof: int) -> float:
    return sqrt(others.var(ddof=ddof) / len(others) + rectifier.var(ddof=ddof) / len(rectifier))


def _welch(value: float, others: FloatArray, rectifier: FloatArray, confidence: float) -> Estimate:
    """Student's t with Satterthwaite's degrees of freedom; none where the judge's errors do not vary."""
    from scipy.special import stdtrit

    parts = [float(values.var(ddof=1)) / len(values) for values in (others, rectifier)]
    method = f"prediction-powered, Welch, {100 * confidence:g}%"
    if np.ptp(rectifier) <= 1e-12 * max(1.0, float(np.abs(rectifier).max())):
        return Estimate(value, n=len(rectifier), method=method, reason=NO_SPREAD)
    degrees = sum(parts) ** 2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (others, rectifier), strict=True)
    )
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * sqrt(sum(parts))
    return Estimate(value, value - half, value + half, len(rectifier), method)


def _normal(value: float, error: float, n: int, method: str, confidence: float) -> Estimate:
    from scipy.special import ndtri

    if error == 0:
        return Estimate(value, n=n, method=method, reason="all values are the same: standard error 0")
    half = float(ndtri((1 + confidence) / 2)) * error
    return Estimate(value, value - half, value + half, n, method)
