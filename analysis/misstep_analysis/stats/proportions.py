"""One proportion with its uncertainty.

The Wilson interval is written out here rather than taken from statsmodels, whose import takes longer than classifying
some thousand trajectories; a test compares the two. The others are quantiles of the beta distribution, from scipy,
imported when they are asked for.

Which to take: Wilson covers 95% on average and is this project's own choice; Clopper-Pearson never covers less, at the
price of width, and is right for a guarantee; Jeffreys lies between (Brown, Cai and DasGupta 2001, Statistical Science
16:101-133).
"""

import math
from statistics import NormalDist
from typing import Literal, get_args

from misstep_analysis.stats.estimate import Estimate

Side = Literal["both", "lower", "upper"]


def wilson(x: int, n: int, confidence: float = 0.95) -> Estimate:
    """Return the share `x / n` with the score interval of Wilson (1927, J. Am. Stat. Assoc. 22:209-212).

    Parameters
    ----------
    x
        How many of the `n` have the property.
    n
        How many there are; with 0 the share is undefined, and `reason` says so.
    confidence
        The coverage of the interval, above 0 and below 1.

    Raises
    ------
    ValueError
        The count is outside 0..n, or the confidence outside 0..1.

    Examples
    --------
    >>> share = wilson(8, 10)
    >>> round(share.low, 3), round(share.high, 3)
    (0.49, 0.943)
    """
    _check(x, n, confidence)
    method = f"Wilson, {100 * confidence:g}%"
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if n == 0:
        return Estimate(None, n=0, method=method, reason="no trials")
    share = x / n
    shrink = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if x == 0 else centre - half
    high = 1.0 if x == n else centre + half
    return Estimate(share, low, high, n, method)


def clopper_pearson(x: int, n: int, confidence: float = 0.95, side: Side = "both") -> Estimate:
    """Return the share `x / n` with the exact interval of Clopper and Pearson (1934, Biometrika 26:404-413).

    With no trials the share is undefined and the interval is all of 0 to 1.

    Parameters
    ----------
    side
        `lower` or `upper` puts the whole error on one side: a bound that holds with the given confidence, with the
        other end at 1 or 0.

    Examples
    --------
    >>> round(clopper_pearson(14, 14, 0.95, "lower").low, 3)
    0.807
    """
    _check(x, n, confidence)
    if side not in get_args(Side):
        raise ValueError(f"no side {side!r}: there are {', '.join(get_args(Side))}")
    from scipy.special import betainccinv, betaincinv

    kind = "" if side == "both" else f", {side} bound"
    method = f"Clopper-Pearson{kind}, {100 * confidence:g}%"
    tail = (1 - confidence) / (2 if side == "both" else 1)
    low = 0.0 if x == 0 or side == "upper" else float(betaincinv(x, n - x + 1, tail))
    high = 1.0 if x == n or side == "lower" else float(betainccinv(x + 1, n - x, tail))
    if n == 0:
        return Estimate(None, low, high, 0, method, "no trials")
    return Estimate(x / n, low, high, n, method)


def _check(x: int, n: int, confidence: float) -> None:
    if not 0 <= x <= n:
        raise ValueError(f"count outside 0..n: {x} of {n}")
    if x != int(x) or n != int(n):
        raise ValueError(f"no whole counts: {x} of {n}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence outside 0..1: {confidence:g}")
