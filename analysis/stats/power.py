"""How many items a comparison of two systems tried on the same ones needs.

Items must be independent: multiply by the design effect (`analysis.stats.design_effect`) where they come in clusters.
"""

from math import sqrt
from statistics import NormalDist

from harness.errors import UsageError

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
    if not 0 < alpha < 1:
        raise UsageError(f"a level outside 0 to 1: {alpha:g}")
    if not alpha < power < 1:
        raise UsageError(f"a power of {power:g} with a level of {alpha:g}", "It lies between the level and 1.")
    if difference == 0:
        raise UsageError("no difference to detect: the sample size is infinite")
    if abs(difference) > discordant:
        raise UsageError(f"a difference of {difference:g} with only {discordant:g} discordant items")
    quantiles = _NORMAL.inv_cdf(1 - alpha / 2), _NORMAL.inv_cdf(power)
    spread = sqrt(discordant - difference**2)
    return ((quantiles[0] * sqrt(discordant) + quantiles[1] * spread) / difference) ** 2
