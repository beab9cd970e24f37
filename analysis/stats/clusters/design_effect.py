"""How much clustering costs: design effects, and how large one may be before a finding is lost.

A design effect is the variance of an estimate over what it would be with as many independent items. Where a paper
prints no clusters it cannot be computed, but it can be said how strong the clustering would have to be.
"""

from math import isfinite

from misstep.harness.errors import UsageError


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
