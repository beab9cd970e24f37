"""Ratio metrics: a sum over units divided by another, such as failed calls per call or cost per solved task.

Units (trajectories, tasks) are the sample; numerator and denominator of one unit belong together, so the variance is
that of the linearised ratio (the delta method; Deng, Knoblich and Lu 2018, Applying the Delta Method in Metric
Analytics, KDD). It is not the variance of a proportion, whose items would be independent.
"""

import numpy as np
import numpy.typing as npt

from misstep.analysis.stats.checked import finite
from misstep.analysis.stats.estimate import Estimate
from misstep.harness.errors import UsageError

_ROUNDING = 1e-12
"""The standard error of units that are all alike, as a share of their ratio: what rounding leaves of 0."""


def ratio_of_sums(numerators: npt.ArrayLike, denominators: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Return the sum of the numerators over the sum of the denominators, with the delta-method interval by Student's t.

    Parameters
    ----------
    numerators, denominators
        Units: what each adds to either sum, none missing.

    Raises
    ------
    UsageError
        The lengths differ, there are no units, a value is missing, or a denominator is negative.
    """
    value, error, n = linearised_ratio(numerators, denominators)
    if value is None or error is None:
        return Estimate(
            value, n=n, reason="the denominators sum to 0: 0/0" if value is None else "one unit has no variance"
        )
    if is_flat(error, value):
        return Estimate(value, n=n, reason="all units have the same ratio: standard error 0")
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    return Estimate(value, value - half, value + half, n, f"ratio of sums, delta method, {100 * confidence:g}%")


def linearised_ratio(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> tuple[float | None, float | None, int]:
    """The ratio, its delta-method standard error, and the number of units; arguments and errors as `ratio_of_sums`.

    The ratio is `None` where it is 0/0, the error with a single unit as well.
    """
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


def is_flat(error: float, value: float) -> bool:
    """Return whether a standard error is what rounding leaves of 0."""
    return error <= _ROUNDING * abs(value)


def unit_variation(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> float | None:
    """The coefficient of variation of a unit in a ratio of sums: its part of the error over the ratio, for planning.

    With denominators of 1 it is the standard deviation over the mean. `None` where it is 0/0, or all units are alike.
    Arguments and errors as `ratio_of_sums`.

    Examples
    --------
    >>> round(unit_variation([1, 2, 3], [1, 1, 1]), 3)
    0.5
    """
    ratio, error, n = linearised_ratio(numerators, denominators)
    if not ratio or error is None or is_flat(error, ratio):
        return None
    return float(np.sqrt(n) * error / abs(ratio))
