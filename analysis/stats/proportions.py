"""One proportion with its uncertainty.

The Wilson interval is written out here rather than taken from statsmodels, whose import takes longer than classifying
some thousand trajectories; a test compares the two.
"""

import math
from statistics import NormalDist

from analysis.stats.estimate import Estimate


def wilson(x: int, n: int, confidence: float = 0.95) -> Estimate:
    """The share `x / n` with the score interval of Wilson (1927, J. Am. Stat. Assoc. 22:209-212).

    Parameters
    ----------
    x
        How many of the `n` have the property.
    n
        How many there are; with none there is no share, and `reason` says so.
    confidence
        The coverage of the interval, above 0 and below 1.

    Raises
    ------
    ValueError
        The count is outside 0..n, or the confidence outside 0..1.
    """
    if not 0 <= x <= n:
        raise ValueError(f"count outside 0..n: {x} of {n}")
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
