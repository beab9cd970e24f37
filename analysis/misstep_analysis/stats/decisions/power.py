"""How many items or units a comparison needs, how small a change it can find, and how much clustering costs.

The power for the change that was observed says nothing that its p-value does not (Hoenig and Heisey 2001, The American
Statistician 55:19-24). Items must be independent: multiply by the design effect where they come in clusters. That is
the variance of an estimate over what it would be with as many independent items; where a paper prints no clusters it
can be said how strong the clustering would have to be.
"""

from math import ceil, expm1, isfinite, log1p, sqrt
from statistics import NormalDist

from misstep_analysis.stats.estimate import Estimate
from misstep_harness.errors import UsageError

_NORMAL = NormalDist()


def sample_size_paired(discordant: float, difference: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The items on which McNemar's test finds a difference of two systems tried on the same ones, with a given chance.

    Connor (1987, Biometrics 43:207-211); two-sided. The number is that of the formula, not yet rounded up.

    Parameters
    ----------
    discordant
        The share of items that only one of the two gets right.
    difference
        The first system's share less the second's; no further from 0 than `discordant`.
    power
        The chance wanted, above the level.
    alpha
        The level of the test.

    Raises
    ------
    UsageError
        There is no difference, it is larger than the share of discordant items, or power or level cannot be.
    """
    for share in (discordant, abs(difference)):
        if not 0 <= share <= 1:
            raise UsageError(f"a proportion outside 0 to 1: {share:g}")
    _check_plan(power, alpha)
    if difference == 0:
        raise UsageError("no difference to detect: the sample size is infinite")
    if abs(difference) > discordant:
        raise UsageError(f"a difference of {difference:g} with only {discordant:g} discordant items")
    quantiles = _NORMAL.inv_cdf(1 - alpha / 2), _NORMAL.inv_cdf(power)
    spread = sqrt(discordant - difference**2)
    return ((quantiles[0] * sqrt(discordant) + quantiles[1] * spread) / difference) ** 2


def units_an_arm(
    variation: float, change: float, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0
) -> float:
    """Return the units that each of two arms needs to find a relative change of a mean or a ratio, with a given chance.

    2 (z + z)² v² / c², for the normal test of the log ratio (van Belle 2008, Statistical Rules of Thumb, section 2.3,
    with the variation of ratios as in `relative_change`). With skewed units the number is large, and the normal
    approximation holds by it. The number is that of the formula, not yet rounded up.

    Parameters
    ----------
    variation
        The coefficient of variation of a unit, from earlier data: `unit_variation`.
    change
        The first arm over the second less 1, such as -0.05; above -1 and not 0.
    design_effect
        By how much clusters of units widen the variance; 1 where units are what is assigned.

    Raises
    ------
    UsageError
        There is no change, or variation, design effect, power or level cannot be.

    Examples
    --------
    >>> round(units_an_arm(1.5, -0.05))
    13425
    """
    _check_plan(power, alpha)
    if change == 0 or change <= -1:
        raise UsageError(f"a relative change of {change:g}", "It is above -1 and not 0.")
    _check_spread(variation, design_effect)
    return 2 * design_effect * (_quantiles(power, alpha) * variation / log1p(change)) ** 2


def smallest_change(
    variations: tuple[float, float],
    units: tuple[int, int],
    power: float = 0.8,
    alpha: float = 0.05,
    design_effect: float = 1.0,
) -> float:
    """Return the smallest relative decrease of a mean or a ratio that arms of these sizes find with a given chance.

    The inverse of `units_an_arm`, for arms of unequal size as well: below 0 and above -1. Decreases are the harder to
    find on the scale of the log ratio as a percentage, so that an increase of as many percent is found less often.

    Parameters
    ----------
    variations
        The coefficients of variation of a unit in either arm, from earlier data or from the control.
    units
        The units of either arm.

    Raises
    ------
    UsageError
        An arm has no units, or variation, design effect, power or level cannot be.

    Examples
    --------
    >>> round(smallest_change((1.5, 1.5), (13425, 13425)), 3)
    -0.05
    """
    _check_plan(power, alpha)
    if min(units) < 1:
        raise UsageError(f"an arm of {min(units)} units")
    for variation in variations:
        _check_spread(variation, design_effect)
    variance = design_effect * sum(v**2 / n for v, n in zip(variations, units, strict=True))
    return expm1(-_quantiles(power, alpha) * sqrt(variance))


def _quantiles(power: float, alpha: float) -> float:
    return _NORMAL.inv_cdf(1 - alpha / 2) + _NORMAL.inv_cdf(power)


def _check_plan(power: float, alpha: float) -> None:
    if not 0 < alpha < 1:
        raise UsageError(f"a level outside 0 to 1: {alpha:g}")
    if not alpha < power < 1:
        raise UsageError(f"a power of {power:g} with a level of {alpha:g}", "It lies between the level and 1.")


def _check_spread(variation: float, design_effect: float) -> None:
    if not (variation > 0 and isfinite(variation) and design_effect > 0 and isfinite(design_effect)):
        raise UsageError(f"a variation of {variation:g} with a design effect of {design_effect:g}", "Both are above 0.")


def items_for_width(estimate: Estimate, width: float) -> int | None:
    """Return the number of items, like those available, with which the interval of an estimate is about so wide.

    An interval of n items that is w wide is w·sqrt(n/m) wide with m of them, so m = n·(w/width)². It is an
    approximation: bounds at 1, skewed resamples and the uncertainty of w itself are left aside.

    Parameters
    ----------
    estimate
        With its interval and its n.
    width
        From the lower to the upper bound, as it is wished for.

    Returns
    -------
    int or None
        `None` where the estimate has no interval.

    Raises
    ------
    UsageError
        The width is not above 0.

    Examples
    --------
    >>> items_for_width(Estimate(0.6, 0.4, 0.8, n=50), 0.2)
    200
    """
    if not width > 0:
        raise UsageError(f"an interval cannot be {width:g} wide", "Give a width above 0.")
    if estimate.low is None or estimate.high is None or not estimate.n:
        return None
    return ceil(round(estimate.n * ((estimate.high - estimate.low) / width) ** 2, 6))


def design_effect(mean_size: float, icc: float) -> float:
    """1 + (m - 1) icc for clusters of m items (Kish 1965, Survey Sampling, section 5.4).

    With unequal clusters the size-weighted mean, sum of m² over sum of m, is the right m; the plain mean understates.

    Parameters
    ----------
    mean_size
        Items a cluster, at least 1.
    icc
        The intraclass correlation; where it is negative the effect is below 1.

    Raises
    ------
    UsageError
        A mean size below 1.
    """
    if not (mean_size >= 1 and isfinite(mean_size) and isfinite(icc)):
        raise UsageError(f"clusters of {mean_size:g} items with a correlation of {icc:g}: a cluster has at least one")
    return 1 + (mean_size - 1) * icc


def tolerated_design_effect(z: float, alpha: float) -> float:
    """Return the design effect at which a test of independent items with this z has p = alpha, two-sided.

    The corrected statistic is z over the root of the design effect. Below 1 the finding never reached alpha.
    """
    from scipy.special import ndtri

    if not 0 < alpha < 1:
        raise UsageError(f"a level outside 0 to 1: {alpha:g}")
    return float((z / ndtri(1 - alpha / 2)) ** 2)


def tolerated_icc(z: float, alpha: float, mean_size: float) -> float:
    """Return the intraclass correlation at which a test of independent items has p = alpha, for clusters of m items.

    Raises
    ------
    UsageError
        Clusters of one item, on which no correlation acts, or a level outside 0 to 1.
    """
    if not mean_size > 1:
        raise UsageError(f"clusters of {mean_size:g} items: no correlation within them can act")
    return (tolerated_design_effect(z, alpha) - 1) / (mean_size - 1)
