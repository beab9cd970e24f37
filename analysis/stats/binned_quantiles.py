"""Quantiles of values of which only the bins are known: the bin that holds the quantile, and that of its interval.

The quantile of a share p is the smallest value that at least the share p of all values does not exceed. Its interval
needs no form of distribution: it lies between two values of the sample whose ranks are quantiles of the binomial
distribution of n and p (Conover 1999, Practical Nonparametric Statistics, section 3.2).
"""

import numpy as np
from msgspec import Struct

from misstep.analysis.stats.raters.patterns import IntArray
from misstep.harness.errors import UsageError


class BinnedQuantile(Struct, frozen=True):
    """Places of bins, from 0: the one that holds the quantile, and the first and last that its interval reaches."""

    bin: int
    first: int
    last: int


def binned_quantile(counts: IntArray, share: float) -> BinnedQuantile:
    """Return the bin of a quantile, with the bins that its 95% interval reaches.

    Parameters
    ----------
    counts
        Bins, from the lowest: how many values each holds.
    share
        Of the values that the quantile is not exceeded by, above 0 and below 1.

    Raises
    ------
    UsageError
        No bin holds a value, or the share is none.

    Examples
    --------
    >>> binned_quantile(np.array([0, 40, 50, 10]), 0.5)
    BinnedQuantile(bin=2, first=1, last=2)
    """
    ranks = np.cumsum(counts)
    n = int(ranks[-1]) if len(ranks) else 0
    if not n:
        raise UsageError("no values in any bin")
    if not 0 < share < 1:
        raise UsageError(f"the quantile of a share of {share:g}", "It lies between 0 and 1.")
    tail = (1 - 0.95) / 2
    # The r-th value lies below the quantile if r or more of n do: ranks count from 1.
    low, high = _binomial_quantile(tail, n, share), _binomial_quantile(1 - tail, n, share) + 1
    wanted = (int(np.ceil(share * n)), max(low, 1), min(high, n))
    middle, first, last = (int(np.searchsorted(ranks, max(rank, 1))) for rank in wanted)
    return BinnedQuantile(middle, first, last)


def _binomial_quantile(chance: float, n: int, share: float) -> int:
    """Return the fewest successes of n trials that are reached or fallen short of with this chance or a higher one.

    Written out, since importing `scipy.stats` takes longer than all else that is done with counts; a test compares.
    """
    from scipy.special import bdtr, bdtrik

    quantile = int(np.ceil(bdtrik(chance, n, share)))
    return quantile - 1 if quantile and bdtr(quantile - 1, n, share) >= chance else quantile
