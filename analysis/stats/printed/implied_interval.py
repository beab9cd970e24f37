"""The interval that a printed change and its p-value imply, where a paper prints no interval.

Altman and Bland (2011), How to obtain the confidence interval from a P value, BMJ 343:d2090: the p-value gives z, and
the estimate over z its standard error. A relative change is taken on the log scale, as a ratio is.
"""

from math import expm1, inf, log, log1p
from sys import float_info

from msgspec import Struct

from misstep.analysis.stats.estimate import Estimate
from misstep.harness.errors import UsageError

_LARGEST = log(float_info.max)


class ImpliedChange(Struct, frozen=True):
    """A relative change with its implied interval, and the implied standard error of the log ratio."""

    estimate: Estimate
    log_error: float | None


def implied_change(change: float, p_value: float, confidence: float = 0.95) -> ImpliedChange:
    """Return the interval of a relative change from its two-sided p-value, if the test was a normal one.

    Parameters
    ----------
    change
        The treatment over the control less 1, above -1.
    p_value
        Above 0 and at most 1.
    confidence
        The coverage of the interval.

    Raises
    ------
    UsageError
        The change is not above -1, or the p-value outside 0 to 1.

    Examples
    --------
    >>> found = implied_change(-0.053, 0.003).estimate
    >>> round(found.low, 3), round(found.high, 3)
    (-0.086, -0.018)
    """
    from scipy.special import ndtri

    if not change > -1:
        raise UsageError(f"a relative change of {change:g}", "It is above -1.")
    if not 0 < p_value <= 1:
        raise UsageError(f"a p-value outside 0 to 1: {p_value:g}")
    z, log_ratio = float(-ndtri(p_value / 2)), log1p(change)
    method = f"implied by the p-value, normal on the log scale, {100 * confidence:g}%"
    if z == 0 or log_ratio == 0:
        reason = "no change, or a p-value of 1, implies no standard error"
        return ImpliedChange(Estimate(change, method=method, reason=reason), None)
    error = abs(log_ratio) / z
    half = float(ndtri((1 + confidence) / 2)) * error
    return ImpliedChange(
        Estimate(change, expm1(log_ratio - half), _change(log_ratio + half), method=method),
        error,
    )


def _change(log_ratio: float) -> float:
    """Return the relative change of a log ratio; infinite where a p-value near 1 leaves the change wide open."""
    return expm1(log_ratio) if log_ratio < _LARGEST else inf
