"""Intraclass correlation: how alike the items of a cluster are, and how well judges agree on a numeric scale.

The one-way estimator takes clusters of any sizes (Donner 1986, International Statistical Review 54:67-82). The six
forms of Shrout and Fleiss (1979, Psychological Bulletin 86:420-428) take subjects x judges without gaps: the first
number is the design (1: each subject has its own judges; 2: judges are a sample of judges; 3: these judges are all
there are), the second says whether one rating is meant or the mean of all k. A negative value is kept: it says that
items of one cluster are less alike than items of different ones.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from analysis.stats.checked import finite
from analysis.stats.estimate import Estimate
from analysis.stats.patterns import FloatArray
from harness.errors import UsageError

NO_VARIANCE = "no variance at all"
NO_ERROR = "no variance is left for error: an interval cannot be given"

_NOISE = 1e-12
"""A denominator below this is 0 and a rounding error."""


class ClusterCorrelation(Struct, frozen=True):
    """The one-way analysis of variance of clusters: mean squares between and within, and the correlation.

    `n0` is the cluster size that stands for unequal ones; `mean_size` and `weighted_size` (sum of m² over sum of m) go
    into `analysis.stats.design_effect`.
    """

    icc: Estimate
    between: float
    within: float | None
    n0: float
    mean_size: float
    weighted_size: float


class ShroutFleiss(Struct, frozen=True):
    """The six intraclass correlations with their intervals by the F distribution (McGraw and Wong 1996)."""

    one_way: Estimate
    two_way_random: Estimate
    two_way_fixed: Estimate
    one_way_mean: Estimate
    two_way_random_mean: Estimate
    two_way_fixed_mean: Estimate


def cluster_correlation(clusters: Sequence[npt.ArrayLike], confidence: float = 0.95) -> ClusterCorrelation:
    """The intraclass correlation of clusters, with Searle's interval, which is approximate for unequal clusters.

    Parameters
    ----------
    clusters
        One sequence of numbers a cluster; empty ones are left out.
    confidence
        The coverage of the interval.

    Raises
    ------
    UsageError
        Fewer than two clusters, or a missing value.
    """
    groups = [values for cluster in clusters if len(values := finite(cluster, "a value"))]
    if len(groups) < 2:
        raise UsageError(f"{len(groups)} clusters: a correlation within clusters needs two")
    everything, sizes = np.concatenate(groups), np.array([len(group) for group in groups])
    n, k = len(everything), len(groups)
    means = np.array([group.mean() for group in groups])
    between = float(sizes @ (means - everything.mean()) ** 2) / (k - 1)
    squares = float(sum(((group - mean) ** 2).sum() for group, mean in zip(groups, means, strict=True)))
    within = squares / (n - k) if n > k else None
    n0 = float(n - (sizes**2).sum() / n) / (k - 1)
    icc = _one_way(between, within, n0, (k - 1, n - k), n, confidence)
    return ClusterCorrelation(icc, between, within, n0, n / k, float((sizes**2).sum() / n))


def _one_way(
    between: float, within: float | None, size: float, degrees: tuple[int, int], n: int, confidence: float
) -> Estimate:
    if within is None:
        return Estimate(None, n=n, reason="no cluster has two items")
    if between == within == 0:
        return Estimate(None, n=n, reason=NO_VARIANCE)
    value = (between - within) / (between + (size - 1) * within)
    if within == 0:
        return Estimate(value, n=n, reason=NO_ERROR)
    low, high = ((ratio - 1) / (ratio - 1 + size) for ratio in _ratios(between / within, degrees, confidence))
    return Estimate(value, low, high, n, f"one-way F, {100 * confidence:g}%")


def shrout_fleiss(ratings: npt.ArrayLike, confidence: float = 0.95) -> ShroutFleiss:
    """The six intraclass correlations of judges' numeric ratings.

    Parameters
    ----------
    ratings
        Subjects x judges, without missing ratings.
    confidence
        The coverage of the intervals.

    Raises
    ------
    UsageError
        Fewer than two subjects or judges, or a missing rating.
    """
    table = finite(ratings, "a rating, of which these forms need every one,")
    if table.ndim != 2 or min(table.shape) < 2:
        raise UsageError("an intraclass correlation needs two subjects and two judges")
    n, k = table.shape
    subjects, judges = _mean_squares(table)
    residuals = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    error = float((residuals**2).sum()) / ((n - 1) * (k - 1))
    within = (judges * (k - 1) + error * (n - 1) * (k - 1)) / (n * (k - 1))
    if subjects == within == 0:
        nothing = Estimate(None, n=n, reason=NO_VARIANCE)
        return ShroutFleiss(*[nothing] * 6)
    singles = (
        _one_way(subjects, within, k, (n - 1, n * (k - 1)), n, confidence),
        _two_way_random((subjects, judges, error), (n, k), confidence),
        _two_way_fixed(subjects, error, (n, k), confidence),
    )
    return ShroutFleiss(*singles, *(_of_means(single, k) for single in singles))


def _mean_squares(table: FloatArray) -> tuple[float, float]:
    """Mean squares between subjects and between judges."""
    n, k = table.shape
    subjects = k * float(table.mean(axis=1).var()) * n / (n - 1)
    judges = n * float(table.mean(axis=0).var()) * k / (k - 1)
    return subjects, judges


def _two_way_fixed(subjects: float, error: float, shape: tuple[int, int], confidence: float) -> Estimate:
    n, k = shape
    if subjects == error == 0:
        return Estimate(None, n=n, reason="subjects do not differ beyond the judges' own levels: 0/0")
    value = (subjects - error) / (subjects + (k - 1) * error)
    if error == 0:
        return Estimate(value, n=n, reason=NO_ERROR)
    low, high = (
        (ratio - 1) / (ratio - 1 + k) for ratio in _ratios(subjects / error, (n - 1, (n - 1) * (k - 1)), confidence)
    )
    return Estimate(value, low, high, n, f"two-way F, {100 * confidence:g}%")


def _two_way_random(mean_squares: tuple[float, float, float], shape: tuple[int, int], confidence: float) -> Estimate:
    """The limits go by Satterthwaite's degrees of freedom, as Shrout and Fleiss give them."""
    from scipy.special import fdtri

    (subjects, judges, error), (n, k) = mean_squares, shape
    below = subjects + (k - 1) * error + k * (judges - error) / n
    if below == 0:
        return Estimate(None, n=n, reason="no variance of subjects or judges is left: 0/0")
    value = (subjects - error) / below
    if error == 0:
        return Estimate(value, n=n, reason=NO_ERROR)
    ratio = k * value * judges / error
    spread = n * (1 + (k - 1) * value) - k * value
    degrees = (k - 1) * (n - 1) * (ratio + spread) ** 2 / ((n - 1) * ratio**2 + spread**2)
    tail = (1 + confidence) / 2
    upper, lower = float(fdtri(n - 1, degrees, tail)), float(fdtri(degrees, n - 1, tail))
    rest = k * judges + (k * n - k - n) * error
    low = n * (subjects - upper * error) / (upper * rest + n * subjects)
    high = n * (lower * subjects - error) / (rest + n * lower * subjects)
    return Estimate(value, low, high, n, f"two-way F, {100 * confidence:g}%")


def _ratios(f: float, degrees: tuple[int, int], confidence: float) -> tuple[float, float]:
    """An F ratio over its upper quantile and over its lower one."""
    from scipy.special import fdtri

    tail = (1 - confidence) / 2
    return f / float(fdtri(*degrees, 1 - tail)), f / float(fdtri(*degrees, tail))


def _of_means(single: Estimate, k: int) -> Estimate:
    """The reliability of the mean of k ratings, from that of one (Spearman and Brown)."""
    value = _stepped_up(single.value, k)
    if value is None:
        return Estimate(None, n=single.n, reason=single.reason or "the subjects' means do not differ: minus infinity")
    return Estimate(
        value, _stepped_up(single.low, k), _stepped_up(single.high, k), single.n, single.method, single.reason
    )


def _stepped_up(value: float | None, k: int) -> float | None:
    if value is None or 1 + (k - 1) * value < _NOISE:
        return None
    return k * value / (1 + (k - 1) * value)
