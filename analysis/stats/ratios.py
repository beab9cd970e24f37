"""Ratio metrics: a sum over units divided by another, such as failed calls per call or cost per solved task.

Units (trajectories, tasks) are the sample; numerator and denominator of one unit belong together, so the variance is
that of the linearised ratio (the delta method; Deng, Knoblich and Lu 2018, Applying the Delta Method in Metric
Analytics, KDD). It is not the variance of a proportion, whose items would be independent.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from analysis.stats.checked import finite
from analysis.stats.estimate import Estimate
from analysis.stats.significance import Significance, normal_p_value
from harness.errors import UsageError

_ROUNDING = 1e-12
"""The standard error of units that are all alike, as a share of their ratio: what rounding leaves of 0."""


class RatioDifference(Struct, frozen=True):
    """The first arm's ratio less the second's, each arm's own ratio, and the test that there is no difference."""

    difference: Estimate
    ratios: tuple[Estimate, Estimate]
    test: Significance


def ratio_of_sums(numerators: npt.ArrayLike, denominators: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """The sum of the numerators over the sum of the denominators, with the delta-method interval by Student's t.

    Parameters
    ----------
    numerators, denominators
        Units: what each adds to either sum, none missing.
    confidence
        The coverage of the interval.

    Raises
    ------
    UsageError
        The lengths differ, there are no units, a value is missing, or a denominator is negative.
    """
    value, error, n = _ratio(numerators, denominators)
    if value is None or error is None:
        return Estimate(
            value, n=n, reason="the denominators sum to 0: 0/0" if value is None else "one unit has no variance"
        )
    if error <= _ROUNDING * abs(value):
        return Estimate(value, n=n, reason="all units have the same ratio: standard error 0")
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    return Estimate(value, value - half, value + half, n, f"ratio of sums, delta method, {100 * confidence:g}%")


def ratio_difference(
    first: tuple[npt.ArrayLike, npt.ArrayLike], second: tuple[npt.ArrayLike, npt.ArrayLike], confidence: float = 0.95
) -> RatioDifference:
    """Two arms' ratios of sums compared, by the delta method and the normal distribution.

    Parameters
    ----------
    first, second
        Numerators and denominators of each arm's units.
    confidence
        The coverage of the intervals.

    Raises
    ------
    UsageError
        As for `ratio_of_sums`.
    """
    ratios = ratio_of_sums(*first, confidence), ratio_of_sums(*second, confidence)
    (one, one_error, n1), (other, other_error, n2) = _ratio(*first), _ratio(*second)
    n, test = n1 + n2, "difference of ratios, delta method"
    if one is None or other is None:
        undefined = "an arm's denominators sum to 0: 0/0"
        return RatioDifference(
            Estimate(None, n=n, reason=undefined), ratios, Significance(None, None, n, test, undefined)
        )
    difference = one - other
    error = None if one_error is None or other_error is None else sqrt(one_error**2 + other_error**2)
    if not error:
        unknown = (
            "an arm with one unit has no variance" if error is None else "all units have their arm's ratio: error 0"
        )
        return RatioDifference(
            Estimate(difference, n=n, reason=unknown), ratios, Significance(None, None, n, test, unknown)
        )
    from scipy.special import ndtri

    half, z = float(ndtri((1 + confidence) / 2)) * error, difference / error
    return RatioDifference(
        Estimate(difference, difference - half, difference + half, n, f"{test}, {100 * confidence:g}%"),
        ratios,
        Significance(z, normal_p_value(z), n, test),
    )


def _ratio(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> tuple[float | None, float | None, int]:
    """The ratio, its delta-method standard error, and the number of units."""
    y, x = finite(numerators, "a numerator"), finite(denominators, "a denominator")
    if y.shape != x.shape or y.ndim != 1 or not len(y):
        raise UsageError(f"{y.size} numerators and {x.size} denominators", "Give one of each a unit.")
    if (x < 0).any():
        raise UsageError(f"a denominator of {x.min():g}", "Denominators are not negative.")
    n = len(y)
    if x.sum() == 0:
        return None, None, n
    ratio = float(y.sum() / x.sum())
    if n == 1:
        return ratio, None, n
    residuals = y - ratio * x
    return ratio, float(np.sqrt((residuals**2).sum() / (n * (n - 1)))) / float(x.mean()), n
