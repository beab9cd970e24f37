"""How many items a comparison of two proportions needs, and what it can find with those it has.

The normal approximation of the pooled z test is that of Fleiss (1981, Statistical Methods for Rates and Proportions,
section 3.2) and of R's power.prop.test, without the far tail, which matters only where power is near alpha anyway;
statsmodels adds it, so the two agree to about 1e-4. Items must be independent: multiply by the design effect
(`analysis.stats.design_effect`) where they come in clusters.
"""

from math import asin, ceil, sqrt
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from harness.errors import UsageError

Sides = Literal[1, 2]

_NORMAL = NormalDist()


class SampleSize(Struct, frozen=True):
    """Items an arm, or pairs: as the formula gives it, and the whole number that is needed."""

    exact: float
    n_per_arm: int


def power_two_proportions(n_per_arm: int, p1: float, p2: float, alpha: float = 0.05, sides: Sides = 2) -> float:
    """The chance that the pooled z test finds a difference of two proportions.

    Parameters
    ----------
    n_per_arm
        Items in each arm.
    p1, p2
        The true proportions.
    alpha
        The level of the test, all of it also where it is two-sided.
    sides
        1 or 2.

    Raises
    ------
    UsageError
        A proportion is outside 0 to 1, the level not between, or an arm is empty; both proportions are 0 or both 1.
    """
    _check(p1, p2, alpha)
    if not n_per_arm >= 1:
        raise UsageError(f"{n_per_arm} items an arm")
    pooled, separate = _spreads(p1, p2)
    if separate == 0:
        if p1 == p2:
            raise UsageError(f"both proportions are {p1:g}: nothing can vary")
        return 1.0
    critical = _NORMAL.inv_cdf(1 - alpha / sides)
    return _NORMAL.cdf((sqrt(n_per_arm) * abs(p1 - p2) - critical * pooled) / separate)


def sample_size_two_proportions(
    p1: float, p2: float, power: float = 0.8, alpha: float = 0.05, sides: Sides = 2
) -> SampleSize:
    """The items an arm with which the pooled z test finds a difference with a given chance.

    Parameters
    ----------
    p1, p2
        The true proportions.
    power
        The chance wanted, above the level.
    alpha, sides
        As for `power_two_proportions`.

    Raises
    ------
    UsageError
        The proportions are equal, one is outside 0 to 1, or power or level cannot be.
    """
    _check(p1, p2, alpha)
    if not alpha < power < 1:
        raise UsageError(f"a power of {power:g} with a level of {alpha:g}", "It lies between the level and 1.")
    if p1 == p2:
        raise UsageError("no difference to detect: the sample size is infinite")
    pooled, separate = _spreads(p1, p2)
    quantiles = _NORMAL.inv_cdf(1 - alpha / sides), _NORMAL.inv_cdf(power)
    exact = ((quantiles[0] * pooled + quantiles[1] * separate) / (p1 - p2)) ** 2
    return SampleSize(exact, ceil(exact))


def sample_size_paired(discordant: float, difference: float, power: float = 0.8, alpha: float = 0.05) -> SampleSize:
    """The items on which McNemar's test finds a difference of two systems tried on the same ones, with a given chance.

    Connor (1987, Biometrics 43:207-211); two-sided.

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
    _check(discordant, abs(difference), alpha)
    if not alpha < power < 1:
        raise UsageError(f"a power of {power:g} with a level of {alpha:g}", "It lies between the level and 1.")
    if difference == 0:
        raise UsageError("no difference to detect: the sample size is infinite")
    if abs(difference) > discordant:
        raise UsageError(f"a difference of {difference:g} with only {discordant:g} discordant items")
    quantiles = _NORMAL.inv_cdf(1 - alpha / 2), _NORMAL.inv_cdf(power)
    spread = sqrt(discordant - difference**2)
    exact = ((quantiles[0] * sqrt(discordant) + quantiles[1] * spread) / difference) ** 2
    return SampleSize(exact, ceil(exact))


def cohen_h(p1: float, p2: float) -> float:
    """The difference of two proportions on the arcsine scale, 2 asin √p1 - 2 asin √p2 (Cohen 1988, section 6.2)."""
    _check(p1, p2, 0.5)
    return 2 * asin(sqrt(p1)) - 2 * asin(sqrt(p2))


def power_arcsine(h: float, n_per_arm: int, alpha: float = 0.05, sides: Sides = 2) -> float:
    """The chance that the test on the arcsine scale finds an effect h (Cohen 1988, section 6.5).

    Parameters
    ----------
    h
        Cohen's h; a one-sided test looks for a positive one.
    n_per_arm, alpha, sides
        As for `power_two_proportions`.

    Raises
    ------
    UsageError
        The level is not between 0 and 1, or an arm is empty.
    """
    _check(0.5, 0.5, alpha)
    if not n_per_arm >= 1:
        raise UsageError(f"{n_per_arm} items an arm")
    from statsmodels.stats.power import NormalIndPower

    alternative = "larger" if sides == 1 else "two-sided"
    return float(NormalIndPower().power(h, n_per_arm, alpha, ratio=1, alternative=alternative))


def _spreads(p1: float, p2: float) -> tuple[float, float]:
    """Root of the variance an item under equal proportions and under the given ones."""
    mean = (p1 + p2) / 2
    return sqrt(2 * mean * (1 - mean)), sqrt(p1 * (1 - p1) + p2 * (1 - p2))


def _check(p1: float, p2: float, alpha: float) -> None:
    for share in (p1, p2):
        if not 0 <= share <= 1:
            raise UsageError(f"a proportion outside 0 to 1: {share:g}")
    if not 0 < alpha < 1:
        raise UsageError(f"a level outside 0 to 1: {alpha:g}")
