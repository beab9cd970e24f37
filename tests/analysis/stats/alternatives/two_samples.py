"""Two independent samples of numbers: Welch's test, Mann-Whitney, and Cliff's delta.

Welch's test compares means and does not suppose equal variances. Mann-Whitney compares ranks: with few values or ties
its p-value is exact, by the distribution of the rank sum over every split of the pooled midranks, which scipy's exact
method does not give with ties. Cliff's delta is how much more often a value of the first sample is the larger one.
"""

import math
import warnings

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep.analysis.stats.checked import finite
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.raters.patterns import FloatArray, IntArray
from misstep.analysis.stats.significance import Significance
from misstep.harness.errors import UsageError

ALL_TIED = "all values tied: variance 0"

_MOST_STEPS = 300_000_000
"""Steps of the exact distribution that take about a second: some 80 values in either sample."""


class Welch(Struct, frozen=True):
    """The difference of means with its interval, and the test with its degrees of freedom."""

    difference: Estimate
    test: Significance
    degrees: float | None


class MannWhitney(Struct, frozen=True):
    """U of the first sample (ties count half), exact p-values in each direction, and the normal approximation.

    The exact two-sided p-value is the chance of a U at least as far from its mean; exact ones are `None` where the
    samples are too large to count every split.
    """

    u: float
    two_sided: Significance
    greater: Significance
    less: Significance
    asymptotic: Significance


def welch(first: npt.ArrayLike, second: npt.ArrayLike, confidence: float = 0.95) -> Welch:
    """The first mean less the second, by Welch's t (1947, Biometrika 34:28-35)."""
    x, y = _sample(first), _sample(second)
    if min(len(x), len(y)) < 2:
        raise UsageError("a sample of one has no variance", "Welch's test needs two values in each.")
    n, difference = len(x) + len(y), float(x.mean() - y.mean())
    if np.ptp(x) == 0 and np.ptp(y) == 0:
        reason = "both variances 0" + (" and equal means: 0/0" if difference == 0 else ": t is infinite")
        return Welch(Estimate(difference, n=n, reason=reason), Significance(None, None, n, "Welch", reason), None)
    from scipy.stats import ttest_ind

    with warnings.catch_warnings():
        if np.ptp(x) == 0 or np.ptp(y) == 0:  # scipy doubts a variance that is 0 because all values are the same
            warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        found = ttest_ind(x, y, equal_var=False)
    low, high = found.confidence_interval(confidence)
    return Welch(
        Estimate(difference, float(low), float(high), n, f"Welch, {100 * confidence:g}%"),
        Significance(float(found.statistic), float(found.pvalue), n, "Welch"),
        float(found.df),
    )


def mann_whitney(first: npt.ArrayLike, second: npt.ArrayLike) -> MannWhitney:
    """The rank-sum test of two samples (Mann and Whitney 1947, Annals of Mathematical Statistics 18:50-60)."""
    from scipy.stats import mannwhitneyu, rankdata

    x, y = _sample(first), _sample(second)
    n = len(x) + len(y)
    doubled = np.rint(2 * rankdata(np.concatenate([x, y]))).astype(np.int64)
    least = len(x) * (len(x) + 1)
    u = float(doubled[: len(x)].sum() - least) / 2
    if np.ptp(doubled) == 0:
        asymptotic = Significance(None, None, n, "Mann-Whitney, asymptotic", ALL_TIED)
    else:
        found = mannwhitneyu(x, y, method="asymptotic", use_continuity=True)
        asymptotic = Significance(u, float(found.pvalue), n, "Mann-Whitney, asymptotic, continuity-corrected")
    centre, two_sided, greater, less = len(x) * len(y) / 2, None, None, None
    if n * len(x) * int(doubled.sum()) <= _MOST_STEPS:
        chances = _rank_sum_distribution(doubled, len(x))
        us = (np.arange(len(chances)) - least) / 2
        two_sided = float(chances[np.abs(us - centre) >= abs(u - centre)].sum())
        greater, less = float(chances[us >= u].sum()), float(chances[us <= u].sum())
    return MannWhitney(
        u,
        _exact(u, two_sided, n, "two-sided"),
        _exact(u, greater, n, "greater"),
        _exact(u, less, n, "less"),
        asymptotic,
    )


def cliffs_delta(first: npt.ArrayLike, second: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """P(first > second) - P(first < second), with Cliff's interval from the unbiased variance.

    Cliff (1993), Psychological Bulletin 114:494-509; the interval is made asymmetric so that it stays within -1 and 1
    (Feng and Cliff 2004, Journal of Modern Applied Statistical Methods 3:322-332). The probability of superiority is
    (delta + 1) / 2.
    """
    x, y = _sample(first), _sample(second)
    rows, columns = _dominance(x, y), -_dominance(y, x)
    m, n, delta = len(x), len(y), float(rows.mean())
    method = f"Cliff, {100 * confidence:g}%"
    if min(m, n) < 2:
        return Estimate(delta, n=m + n, method=method, reason="a sample of one has no variance")
    if abs(delta) == 1:
        return Estimate(delta, n=m + n, method=method, reason="the samples do not overlap: no interval by this formula")
    ties = _ties(x, y)
    over_all = m * n - ties - m * n * delta**2
    across = n**2 * float(((rows - delta) ** 2).sum()) + m**2 * float(((columns - delta) ** 2).sum())
    variance = max((across - over_all) / (m * n * (m - 1) * (n - 1)), (1 - delta**2) / (m * n - 1))
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    half = z * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + z**2 * variance)
    low, high = ((delta - delta**3 + side * half) / (1 - delta**2 + z**2 * variance) for side in (-1, 1))
    return Estimate(delta, max(-1.0, low), min(1.0, high), m + n, method)


def _exact(u: float, p_value: float | None, n: int, side: str) -> Significance:
    reason = "" if p_value is not None else "too many splits to count: take the asymptotic p-value"
    return Significance(u, None if p_value is None else min(1.0, p_value), n, f"Mann-Whitney, exact, {side}", reason)


def _rank_sum_distribution(doubled: IntArray, size: int) -> FloatArray:
    """The chance of each sum of `size` of the given doubled midranks, all choices being equally likely.

    One rank after another is left out or taken; `chances[taken, total]` are of the ranks seen so far, divided as it
    goes along by the number of choices, so that no count outgrows a float.
    """
    n = len(doubled)
    most = int(np.sort(doubled)[n - size :].sum())
    chances = np.zeros((size + 1, most + 1))
    chances[0, 0] = 1.0
    for seen, rank in enumerate(doubled.tolist()):
        taken = np.arange(size + 1)[:, None]
        take = np.clip((size - taken) / (n - seen), 0, 1)
        shifted = np.zeros_like(chances)
        shifted[1:, rank:] = (chances * take)[:-1, : most + 1 - rank]
        chances = chances * (1 - take) + shifted
    return np.asarray(chances[size])


def _dominance(x: FloatArray, y: FloatArray) -> FloatArray:
    """For each value of x the share of y below it less the share above it."""
    ordered = np.sort(y)
    below, not_above = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    return np.asarray((below - (len(y) - not_above)) / len(y))


def _ties(x: FloatArray, y: FloatArray) -> int:
    """How many pairs of a value of either sample are equal."""
    ordered = np.sort(y)
    return int((np.searchsorted(ordered, x, "right") - np.searchsorted(ordered, x, "left")).sum())


def _sample(values: npt.ArrayLike) -> FloatArray:
    sample = finite(values, "a value of a sample")
    if sample.ndim != 1 or not len(sample):
        raise UsageError("an empty sample")
    return sample
