"""Items that are not independent: shares of clusters, such as the calls of a run or the runs of a task.

Items of one cluster stand or fall together, so the clusters are the sample and each brings all its items. An interval
or a test over items that ignores this is too narrow and too eager. There are two remedies: resample whole clusters, or
take the spread of the clusters' own totals (the sandwich, here of a ratio of sums). Both need enough clusters: with
fewer than about 40 an arm take the figures marked `small_sample`, and with very few in one arm trust neither
(`benchmarks/validity/RESULTS.md` has the error rates).

A matrix of clusters has one row a cluster: how many of its items succeeded, and how many it has.
"""

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep_analysis.stats.checked import whole_numbers
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.stats.resampling import bootstrap
from misstep_analysis.stats.significance import Significance, normal_p_value
from misstep_harness.errors import UsageError

ONE_CLUSTER = "one cluster in an arm: the spread between clusters cannot be estimated"
NO_SPREAD = "no spread between clusters: standard error 0"


class ClusteredDifference(Struct, frozen=True):
    """The first arm's share less the second's, over clusters.

    `difference` and `test` go by the normal distribution and `se`. `small_sample` and `small_sample_test` go by
    Student's t as Welch's test does: each arm's variance times G/(G-1) for its G clusters, and Satterthwaite's degrees
    of freedom, fewer where clusters are of unequal size (the function `small_sample`). In simulation that rejects less
    falsely than the way of regression packages, whose error is `se_regression`: the sandwich times
    sqrt(G/(G-1) · (n-1)/(n-2)) for G clusters in all and n items. Where clusters are in both arms, `small_sample` has
    at most the degrees of freedom of all clusters together, which are those of pairs if all are.
    `design_effects` say by how much clustering widens either arm's variance, `None` where all items are alike.
    """

    shares: tuple[float, float]
    difference: Estimate
    test: Significance
    small_sample: Estimate
    small_sample_test: Significance
    se: float | None
    se_regression: float | None
    clusters: tuple[int, int]
    design_effects: tuple[float | None, float | None]


def cluster_bootstrap(
    statistic: Callable[[FloatArray], FloatArray],
    clusters: IntArray | FloatArray,
    resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return a statistic of each of many resamples of clusters (Davison and Hinkley 1997, section 3.8).

    Parameters
    ----------
    statistic
        Sets x patterns → sets, or sets x figures: the statistic of each set of pattern counts.
    clusters
        Clusters x patterns: how many items of each pattern a cluster has, or what it adds to sums.
    resamples
        How many resamples are drawn.
    rng
        The source of chance.

    Returns
    -------
    FloatArray
        Resamples, or resamples x figures; NaN where the statistic is undefined.

    Examples
    --------
    >>> runs, rng = np.array([[3, 1], [1, 3]]), np.random.default_rng(0)
    >>> shares = cluster_bootstrap(lambda sets: sets[:, 0] / sets.sum(axis=1), runs, 1000, rng)
    >>> float(shares.min()), float(shares.max())
    (0.25, 0.75)
    """
    once_each = np.ones(len(clusters), dtype=np.int64)
    return bootstrap(lambda times: statistic(times @ clusters), once_each, resamples, rng)


def linearised_variance(successes: npt.ArrayLike, trials: npt.ArrayLike) -> FloatArray:
    """Return the variance of a share of clustered items: sum of (x - p n)² over the clusters, over the items squared.

    The linearised variance of a ratio of sums (Cochran 1977, Sampling Techniques, section 9A.3), which is the cluster
    sandwich of a model with this share alone. It is 0, and no estimate, with one cluster.

    Parameters
    ----------
    successes, trials
        ... x clusters: the last axis is summed over; all others are samples, each for itself.

    Examples
    --------
    >>> float(linearised_variance([3, 1], [4, 4]))
    0.03125
    """
    x, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    total = n.sum(axis=-1, keepdims=True)
    # Whole numbers until the last: clusters that are all alike give exactly 0.
    residuals = (x * total - x.sum(axis=-1, keepdims=True) * n) / total
    return np.asarray((residuals**2).sum(axis=-1) / total[..., 0] ** 2)


def small_sample(sizes: npt.ArrayLike) -> tuple[float, float]:
    """Return by what to multiply a linearised variance over clusters of some sizes, and its degrees of freedom.

    Bell and McCaffrey's (2002, Survey Methodology 28:169-181) for clusters whose items stand or fall together, so that
    a cluster's total varies as its size. Of G clusters alike it is G/(G-1) and G-1; one that holds half of the items
    leaves hardly more than one degree of freedom, however many others there are.

    Parameters
    ----------
    sizes
        Clusters: how many items each has, or its denominator; those of 0 are left out.

    Raises
    ------
    UsageError
        Fewer than two clusters have items.

    Examples
    --------
    >>> small_sample([5, 5, 5, 5])
    (1.3333333333333333, 3.0)
    >>> round(small_sample([100, 5, 5, 5])[1], 2)
    1.34
    """
    each = np.asarray(sizes, dtype=np.float64)
    each = each[each > 0]
    if len(each) < 2:
        raise UsageError("the spread of a single cluster", "It takes two clusters with items.")
    weights = each / each.sum()
    squares, cubes, fourths, fifths = (float((weights**power).sum()) for power in (2, 3, 4, 5))
    # The expectation of the linearised variance and, but for a factor of 2, its variance, where a cluster's total has
    # the variance of its squared weight.
    mean = float((weights**2 * ((1 - weights) ** 2 + squares - weights**2)).sum())
    spread = squares**4 + 4 * squares * fourths + 2 * cubes**2 - 4 * squares**2 * cubes + fourths - 4 * fifths
    degrees = mean**2 / spread if spread > 0 else 1.0
    return squares / mean, min(max(degrees, 1.0), len(each) - 1.0)


def clustered_difference(
    first: npt.ArrayLike, second: npt.ArrayLike, confidence: float = 0.95, *, shared: int = 0
) -> ClusteredDifference:
    """Return two arms' shares of clustered items compared.

    The standard error is the cluster sandwich (Liang and Zeger 1986, Biometrika 73:13-22) of a regression on the arm: a
    cluster that is in both arms adds what its two residuals come to together.

    Parameters
    ----------
    first, second
        Clusters x (successes, trials) of either arm; clusters without trials are left out.
    confidence
        The coverage of the intervals.
    shared
        How many clusters are in both arms: the first rows of either, in one order, all with trials.

    Raises
    ------
    UsageError
        An arm has no item, a cluster has more successes than trials, or a shared one has no trials.

    Examples
    --------
    >>> found = clustered_difference([[8, 10], [6, 10], [9, 10]], [[3, 10], [5, 10], [2, 10]])
    >>> round(found.difference.value, 3), round(found.small_sample_test.p_value, 3)
    (0.433, 0.025)
    """
    (x1, n1), (x2, n2) = cluster_columns(first), cluster_columns(second)
    if any(np.count_nonzero(np.asarray(arm)[:shared, 1]) < shared for arm in (first, second)):
        raise UsageError("a shared cluster has no items in one arm", "Give clusters of both arms first in either.")
    shares = float(x1.sum() / n1.sum()), float(x2.sum() / n2.sum())
    residuals = _residuals(x1, n1), _residuals(x2, n2)
    variances = float(linearised_variance(x1, n1)), float(linearised_variance(x2, n2))
    clusters, total, items = (len(n1), len(n2)), len(n1) + len(n2) - shared, int(n1.sum() + n2.sum())
    difference, se = shares[0] - shares[1], sqrt(_joint_variance(*residuals, shared))
    reason = ONE_CLUSTER if min(clusters) < 2 else NO_SPREAD if se == 0 else ""
    if reason:
        unknown, untested = Estimate(difference, n=items, reason=reason), Significance(None, None, items, reason=reason)
        return ClusteredDifference(shares, unknown, untested, unknown, untested, None, None, clusters, (None, None))
    from scipy.special import ndtri, stdtr

    factors, degrees_of = zip(*(small_sample(sizes) for sizes in (n1, n2)), strict=True)
    corrected = [variance * factor for variance, factor in zip(variances, factors, strict=True)]
    widened = [one * sqrt(factor) for one, factor in zip(residuals, factors, strict=True)]
    larger, z = sqrt(_joint_variance(widened[0], widened[1], shared)), difference / se
    t, degrees = difference / larger, satterthwaite(corrected, degrees_of)
    if shared and total > 1:
        together = np.concatenate([n1[:shared] + n2[:shared], n1[shared:], n2[shared:]])
        degrees = min(degrees, small_sample(together)[1])
    shown = f"{100 * confidence:g}%"
    from scipy.special import stdtrit

    half, larger_half = float(ndtri((1 + confidence) / 2)) * se, float(stdtrit(degrees, (1 + confidence) / 2)) * larger
    by_t = f"cluster sandwich, t with {degrees:.1f} degrees of freedom"
    return ClusteredDifference(
        shares,
        _interval(difference, half, items, f"cluster sandwich, {shown}"),
        Significance(z, normal_p_value(z), items, "cluster sandwich, z"),
        _interval(difference, larger_half, items, f"{by_t}, {shown}"),
        Significance(t, float(2 * stdtr(degrees, -abs(t))), items, by_t),
        se,
        se * sqrt(total / (total - 1) * (items - 1) / (items - 2)),
        clusters,
        (_effect(shares[0], variances[0], n1), _effect(shares[1], variances[1], n2)),
    )


def _residuals(successes: IntArray, trials: IntArray) -> FloatArray:
    """Return what each cluster adds to the error of its arm's share."""
    total = float(trials.sum())
    return np.asarray((successes * total - float(successes.sum()) * trials) / total**2)


def _joint_variance(first: FloatArray, second: FloatArray, shared: int) -> float:
    """Return the variance of a difference, whose first residuals in either arm are of the same clusters."""
    together = first[:shared] - second[:shared]
    return float((together**2).sum() + (first[shared:] ** 2).sum() + (second[shared:] ** 2).sum())


def satterthwaite(variances: Sequence[float], degrees: Sequence[float]) -> float:
    """The degrees of freedom of a sum of two variances, each with its own (Satterthwaite 1946).

    Examples
    --------
    >>> satterthwaite([2.0, 2.0], [5, 5])
    10.0
    """
    each = zip(variances, degrees, strict=True)
    return sum(variances) ** 2 / sum(variance**2 / own for variance, own in each)


def _effect(share: float, variance: float, trials: IntArray) -> float | None:
    """Return the design effect of an arm: its variance over that of as many independent items."""
    return variance / (share * (1 - share) / int(trials.sum())) if 0 < share < 1 else None


def _interval(difference: float, half: float, items: int, method: str) -> Estimate:
    return Estimate(difference, max(-1.0, difference - half), min(1.0, difference + half), items, method)


def cluster_columns(clusters: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Successes and trials of the clusters that have trials.

    Raises
    ------
    UsageError
        There is no item, or a cluster has more successes than trials.

    Examples
    --------
    >>> cluster_columns([[8, 10], [0, 0], [3, 10]])
    (array([8, 3]), array([10, 10]))
    """
    matrix = whole_numbers(clusters, "a count")
    if matrix.ndim != 2 or matrix.shape[1] != 2 or not matrix[:, 1].any():
        raise UsageError("no clusters with items", "Give one row a cluster: its successes and its trials.")
    wrong = np.flatnonzero((matrix[:, 0] < 0) | (matrix[:, 0] > matrix[:, 1]))
    if len(wrong):
        x, n = matrix[wrong[0]]
        raise UsageError(f"a cluster with {x} successes in {n} trials (row {wrong[0]})")
    rows = matrix[matrix[:, 1] > 0]
    return rows[:, 0], rows[:, 1]
