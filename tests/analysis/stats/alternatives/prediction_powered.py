"""The prediction-powered mean of any values, beside the classical one, with the normal limits of its paper.

Angelopoulos and others (2023), Prediction-powered inference, Science 382:669-674. Of shares `powered_share` is shown,
whose bounds hold with few labels.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep.analysis.stats.checked import finite
from misstep.analysis.stats.correction import powered_share
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.harness.errors import UsageError

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
