"""Bounds of a share of clustered items that hold near 0 and 1: Clopper and Pearson's with an effective number of items.

Student's t over clusters has no width where all clusters are alike, as they are when nearly every item succeeds. Korn
and Graubard (1998, Survey Methodology 24:193-201) put into Clopper and Pearson's bounds as many independent items as
would leave the share as uncertain as the clusters do. Two things are added, without which the bounds hold 75 to 93%
where a few clusters have many of the items (`benchmarks/validity`): degrees of freedom follow from the clusters' sizes,
and an item that fails never moves a bound away from it.

A matrix of clusters has one row a cluster: how many of its items succeeded, and how many it has.
"""

from typing import get_args

import numpy as np
import numpy.typing as npt

from misstep_analysis.stats.checked import known
from misstep_analysis.stats.clusters.clustered import ONE_CLUSTER, cluster_columns, linearised_variance, small_sample
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import Side, clopper_pearson


def effective_clusters(sizes: npt.ArrayLike) -> float:
    """As many clusters of equal size as weigh their items as these do: the sum of the sizes squared, over of squares.

    Kish (1965, Survey Sampling, section 8.2).

    Examples
    --------
    >>> effective_clusters([5, 5, 5, 5]), round(effective_clusters([100, 5, 5, 5]), 2)
    (4.0, 1.31)
    """
    each = np.asarray(sizes, dtype=np.float64)
    return float(each.sum() ** 2 / (each**2).sum())


def effective_items(clusters: npt.ArrayLike) -> float:
    """As many independent items as say of the share what the clusters say; never more than there are items.

    Where all items succeed, or none, the clusters show no spread that could be put against that of items: each counts
    once (`effective_clusters`). So does a single cluster.

    Parameters
    ----------
    clusters
        Clusters x (successes, trials); clusters without trials are left out.

    Raises
    ------
    UsageError
        There is no item, or a cluster has more successes than trials.
    """
    x, n = cluster_columns(clusters)
    total = int(n.sum())
    share = float(x.sum() / total)
    if len(n) == 1 or share in (0.0, 1.0):
        return effective_clusters(n)
    variance = float(linearised_variance(x, n)) * small_sample(n)[0]
    independent = share * (1 - share)
    return float(total) if variance * total <= independent else independent / variance


def korn_graubard(clusters: npt.ArrayLike, confidence: float = 0.95, side: Side = "both") -> Estimate:
    """A share of clustered items with Korn and Graubard's interval; with one item a cluster, Clopper and Pearson's.

    The effective number of items is lessened by the squared ratio of Student's t quantiles for items and for clusters
    (`clustered.small_sample`), after it is cut at the number of items: clusters that seem to help are not counted on.
    A few failures in one cluster look like independent items, so that the lower bound is at most the one that these
    clusters would have without any failure, and the upper one at least that without any success.

    Parameters
    ----------
    confidence
        The coverage of the interval, or of the bound.
    """
    known(side, get_args(Side), "side")
    x, n = cluster_columns(clusters)
    right, total, count = int(x.sum()), int(n.sum()), len(n)
    if count == total:
        return clopper_pearson(right, total, confidence, side)
    kind = "" if side == "both" else f", {side} bound"
    share = right / total
    if count == 1:
        return Estimate(share, n=total, method=f"Korn-Graubard{kind}, {100 * confidence:g}%", reason=ONE_CLUSTER)
    method = f"Korn-Graubard over {count:,} clusters{kind}, {100 * confidence:g}%"
    tail = (1 - confidence) / (2 if side == "both" else 1)
    low, high = _beta_bounds(share, items_for_bounds(clusters, tail), tail, side)
    furthest = tail ** (1 / effective_clusters(n))
    return Estimate(share, min(low, furthest), max(high, 1 - furthest), total, method)


def items_for_bounds(clusters: npt.ArrayLike, tail: float) -> float:
    """The effective number of items lessened for what few clusters leave unknown of it, as `korn_graubard` takes it.

    Parameters
    ----------
    tail
        The chance that is left outside at either end.
    """
    from scipy.special import stdtrit

    x, n = cluster_columns(clusters)
    right, total, count = int(x.sum()), int(n.sum()), len(n)
    if count == total:
        return float(total)
    effective = effective_items(clusters)
    if count == 1 or right in (0, total):
        return effective
    degrees = small_sample(n)[1]
    return effective * float((stdtrit(total - 1, 1 - tail) / stdtrit(degrees, 1 - tail)) ** 2)


def _beta_bounds(share: float, n: float, tail: float, side: Side) -> tuple[float, float]:
    from scipy.special import betainccinv, betaincinv

    # Binomial tails are beta integrals, which have a value for a number of items that is not whole.
    low = 0.0 if share == 0 or side == "upper" else float(betaincinv(share * n, n - share * n + 1, tail))
    high = 1.0 if share == 1 or side == "lower" else float(betainccinv(share * n + 1, n - share * n, tail))
    return low, high
