"""Two systems on the same items, where items come in clusters or tasks are tried several times: tests and intervals.

All that counts of a cluster is by how many items the first system beats the second there, and how many items it has.
Under the null hypothesis a cluster could as well have gone the other way, with all its items: the sum of the clusters'
differences is then a sum of known sizes with random signs, whose distribution is counted, not approximated
(`paired_means`). That supposes clusters that lean as far and as often either way, and says so where it matters. With
one item a cluster this is McNemar's test; with many clusters it comes to the tests of Obuchowski (1998, Statistics in
Medicine 17:1495-1507) as modified by Yang, Sun and Hardin (2010, Biometrical Journal 52:638-652), whose z is the sum of
the differences over the root of the sum of their squares.

Of tasks that each system tried several times, its rate is the mean over tasks of its share of solved attempts; a task
goes either way as a whole (`paired_rates`).

    cluster     first right alone   second right alone   items   difference
    run-1              2                    0               5         2
    run-2              1                    2               7        -1
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm, sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from misstep_analysis.stats.checked import whole_numbers
from misstep_analysis.stats.clusters.clustered import NO_SPREAD, ONE_CLUSTER, linearised_variance, small_sample
from misstep_analysis.stats.clusters.paired import NO_DISCORDANT, PairedTable, mcnemar_mid_p, paired_score_interval
from misstep_analysis.stats.clusters.paired_means import signed_sum_tails
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray, distinct_rows
from misstep_analysis.stats.resampling import bootstrap, bootstrapped
from misstep_analysis.stats.significance import Significance
from misstep_harness.errors import UsageError

SIGN_FLIPS = "McNemar over clusters, sign flips, mid-p"
NO_LEANING = "in no cluster is one of the two right more often than the other"
FEW_CLUSTERS = 40
"""With fewer the level of tests over clusters is not to be relied on (`benchmarks/validity/RESULTS.md`)."""

_EAGER = "sign flips find too often what is not there where a few clusters lean far to one side"
TOO_SHORT = "few clusters differ from the others, and by far: the interval is too short where more may be like these"
_MOST_SKEWED = 0.18
"""Beyond it a tail of 2.5% is off by more than a fifth."""

ALL_ALIKE = "every resample gives the same difference: the bootstrap has nothing to test with"


class PairedItems(Struct, frozen=True):
    """Two flags of each item: their table over items, and of each cluster the difference of the flags and its items.

    Where `clustered` is false the items stand for themselves: the difference has Tango's interval and McNemar's test.
    """

    table: PairedTable
    differences: IntArray
    sizes: IntArray
    clustered: bool

    @classmethod
    def of(
        cls, first: npt.ArrayLike, second: npt.ArrayLike, clusters: npt.ArrayLike, clustered: bool | None = None
    ) -> "PairedItems":
        """Return the flags of some items; they are clustered if two share a cluster, unless `clustered` says."""
        one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
        _, places, sizes = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)
        both = int((one * other).sum())
        first_only, second_only = int(one.sum()) - both, int(other.sum()) - both
        table = PairedTable(both, first_only, second_only, len(one) - both - first_only - second_only)
        differences = np.bincount(places, one - other).astype(np.int64)
        return cls(table, differences, sizes, len(sizes) < table.n if clustered is None else clustered)

    @property
    def difference(self) -> Estimate:
        """Return the share of the first flag less that of the second."""
        if self.clustered:
            return clustered_paired_difference(self.differences, self.sizes)
        return paired_score_interval(self.table)

    @property
    def test(self) -> Significance:
        """Return the test that both flags are as frequent."""
        return sign_flip_mcnemar(self.differences) if self.clustered else mcnemar_mid_p(self.table)


class ResampledPairs(Struct, frozen=True):
    """The difference of two systems' shares with its percentile interval, and the test that inverts it."""

    difference: Estimate
    test: Significance


def sign_flip_mcnemar(differences: npt.ArrayLike) -> Significance:
    """McNemar's mid-p test with clusters that go either way as a whole; the statistic is the sum of the differences.

    Parameters
    ----------
    differences
        Clusters: the items that the first system alone got right less those that the second alone did.
    """
    each = whole_numbers(differences, "a difference")
    leaning, total = each[each != 0], int(each.sum())
    if not len(leaning):
        return Significance(0.0, 1.0, len(each), SIGN_FLIPS, NO_LEANING)
    further, as_far = signed_sum_tails(np.abs(leaning), total)
    return Significance(float(total), min(1.0, further + as_far / 2), len(each), SIGN_FLIPS, _doubt(leaning))


def _doubt(leaning: IntArray) -> str:
    """What a reader is told where clusters that lean as far, but not as often, either way would be called a difference.

    Where a few clusters lean far to one side and many a little to the other, samples without the few look one-sided:
    few clusters cannot show that, more show it by their skewness, which shifts a tail of the normal distribution by
    skewness (z² - 1) φ(z) / 6 (Edgeworth's first term).
    """
    if len(leaning) < FEW_CLUSTERS:
        return f"only {len(leaning)} cluster{'' if len(leaning) == 1 else 's'} with a difference: {_EAGER}"
    skewed = _skewness(leaning.astype(np.float64)) > _MOST_SKEWED
    return f"the clusters' differences are skewed: {_EAGER}" if skewed else ""


def _skewness(values: FloatArray) -> float:
    squares = float((values**2).sum())
    return abs(float((values**3).sum())) / (squares * sqrt(squares))


def clustered_paired_difference(differences: npt.ArrayLike, items: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """The difference of two systems' shares, with the interval by Student's t over the clusters' own differences.

    The variance is that of a ratio of sums (`clustered.linearised_variance`), with as many degrees of freedom as the
    clusters' sizes leave it (`clustered.small_sample`).
    Where it is 0 because no cluster leans to either side, or all do wholly to one, each cluster counts as one pair and
    the interval is Tango's. Where clusters are skewed, as near -1 and 1 or where one system alone is ever ahead, the
    interval is too short and says so.

    Parameters
    ----------
    differences, items
        Clusters: as for `sign_flip_mcnemar`, and how many items each has.
    confidence
        The coverage of the interval, which is cut at -1 and 1.

    Raises
    ------
    UsageError
        A cluster has no item, or more difference than items.
    """
    each, sizes = _checked(differences, items)
    n, clusters = int(sizes.sum()), len(sizes)
    value = float(each.sum() / n)
    method = f"clustered pairs, t, {100 * confidence:g}%"
    if clusters < 2:
        return Estimate(value, n=n, method=method, reason=ONE_CLUSTER)
    factor, degrees = small_sample(sizes)
    variance = float(linearised_variance(each, sizes)) * factor
    if variance == 0 and value in (-1, 0, 1):
        level, ahead, behind = (clusters * (value == one) for one in (0, 1, -1))
        alike = paired_score_interval(PairedTable(level, ahead, behind, 0))
        return Estimate(value, alike.low, alike.high, n, f"{alike.method}, over {clusters:,} clusters all alike")
    if variance == 0:
        return Estimate(value, n=n, method=method, reason=NO_SPREAD)
    from scipy.special import stdtrit

    half = float(stdtrit(degrees, (1 + confidence) / 2)) * sqrt(variance)
    doubt = TOO_SHORT if _skewness(each - value * sizes) > _MOST_SKEWED else ""
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), n, method, doubt)


def paired_design_effect(differences: npt.ArrayLike, items: npt.ArrayLike, discordant: int) -> float | None:
    """By how much clustering widens the variance of the difference of two systems' shares; `None` where that is 0/0.

    Parameters
    ----------
    discordant
        How many items only one of the two got right.
    """
    each, sizes = _checked(differences, items)
    n, clusters, more = int(sizes.sum()), len(sizes), int(each.sum())
    independent = (discordant - more**2 / n) / n**2
    if clusters < 2 or independent <= 0:
        return None
    return float(linearised_variance(each, sizes)) * small_sample(sizes)[0] / independent


def resampled_pairs(
    differences: npt.ArrayLike, items: npt.ArrayLike, rng: np.random.Generator, resamples: int = 10_000
) -> ResampledPairs:
    """Return the paired bootstrap over clusters: the difference of two systems' shares with interval and p-value.

    The p-value is twice the smaller tail of the resamples on either side of 0, each counted with the sample itself, so
    that it is never 0 (Davison and Hinkley 1997, Bootstrap Methods and their Application, section 4.2). With few
    clusters it is too small: McNemar's test is not.

    Parameters
    ----------
    differences, items
        As for `clustered_paired_difference`; items that stand for themselves are clusters of one.
    """
    each, sizes = _checked(differences, items)
    n, total = int(sizes.sum()), int(each.sum())
    # The draws are those of the system that is ahead, so that which one is named first changes nothing but the sign.
    sign = -1 if total < 0 else 1
    kinds = distinct_rows(np.column_stack([sign * each, sizes]))
    drawn = bootstrap(lambda sets: _share(sets @ kinds.rows), kinds.items, resamples, rng)
    unit = "items" if (sizes == 1).all() else f"{len(sizes):,} cluster{'' if len(sizes) == 1 else 's'}"
    ahead = bootstrapped(sign * total / n, drawn, n)
    test = f"paired bootstrap, {len(drawn):,} resamples of {unit}"
    method = f"percentile bootstrap, {len(drawn):,} resamples of {unit}"
    if np.ptp(drawn) == 0:
        difference = Estimate(total / n, n=n, method=method, reason=ALL_ALIKE)
        level = Significance(0.0, 1.0, n, test, NO_DISCORDANT if unit == "items" else NO_LEANING)
        return ResampledPairs(difference, level if total == 0 else Significance(None, None, n, test, ALL_ALIKE))
    ends = [None if end is None else sign * end for end in (ahead.low, ahead.high)]
    low, high = ends if sign > 0 else reversed(ends)
    difference = Estimate(total / n, low, high, n, method, ahead.reason)
    return ResampledPairs(difference, Significance(total / n, _two_tails(drawn, total), n, test))


def _share(sums: FloatArray) -> FloatArray:
    return np.asarray(sums[:, 0] / sums[:, 1])


def _two_tails(drawn: FloatArray, total: int) -> float:
    if total == 0:
        return 1.0
    tail = min(int(np.count_nonzero(drawn <= 0)), int(np.count_nonzero(drawn >= 0)))
    return min(1.0, 2 * (tail + 1) / (len(drawn) + 1))


def _checked(differences: npt.ArrayLike, items: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    each, sizes = whole_numbers(differences, "a difference"), whole_numbers(items, "a number of items")
    if each.shape != sizes.shape or each.ndim != 1 or not len(each):
        raise UsageError(f"{each.size} differences of {sizes.size} clusters", "Give one of each a cluster.")
    if (sizes < 1).any() or (np.abs(each) > sizes).any():
        raise UsageError("a cluster without items, or with more difference than items")
    return each, sizes


PairedCounts = tuple[int, int, int, int]
"""One task: attempts of the first system, how many solved it, and the same of the second."""

_LARGEST_SUM = 2_000_000
"""Steps of all tasks together, at most: counting their sums takes a tenth of a second."""
_COARSEST, _FINEST = 100, 27_720
"""Steps in which differences are counted where numbers of attempts have no small common multiple."""


class PairedRates(Struct, frozen=True):
    """The rate of the first system less that of the second, its test, and on how many tasks which of them is ahead."""

    difference: Estimate
    test: Significance
    ahead: int
    behind: int
    level: int

    @property
    def reason(self) -> str:
        """Return what to beware of, of interval and test."""
        return "; ".join(dict.fromkeys(filter(None, (self.difference.reason, self.test.reason))))


def paired_rates(counts: Sequence[PairedCounts]) -> PairedRates:
    """Return the comparison of two systems on the same tasks; a task that was tried more often weighs no more.

    Parameters
    ----------
    counts
        One a task.

    Raises
    ------
    UsageError
        There are no tasks, or a system has no attempt at one.

    Examples
    --------
    >>> paired_rates([(3, 2, 3, 1), (3, 2, 3, 1), (3, 3, 3, 3)]).ahead
    2
    """
    if not counts or any(min(tried, others) < 1 for tried, _, others, _ in counts):
        raise UsageError("a task that one of the two systems did not attempt, or no task at all")
    differences = [Fraction(solved, tried) - Fraction(also, others) for tried, solved, others, also in counts]
    ahead, behind = (
        sum(each_difference > 0 for each_difference in differences),
        sum(each_difference < 0 for each_difference in differences),
    )
    scale = lcm(*{number for tried, _, others, _ in counts for number in (tried, others)})
    if scale == 1:
        table = PairedTable.of([count[1] == 1 for count in counts], [count[3] == 1 for count in counts])
        difference, test = paired_score_interval(table), mcnemar_mid_p(table)
        return PairedRates(difference, test, ahead, behind, len(counts) - ahead - behind)
    # On one scale differences are whole numbers whatever the numbers of attempts, so that their sums can be counted.
    finest = max(_COARSEST, min(_FINEST, _LARGEST_SUM // len(counts)))
    steps = min(scale, finest)
    leaning = [round(each_difference * steps) for each_difference in differences]
    difference, test = clustered_paired_difference(leaning, [steps] * len(counts)), sign_flip_mcnemar(leaning)
    difference = structs.replace(difference, n=len(counts))
    if steps < scale:
        rounded = f", differences of tasks rounded to 1/{steps:,}"
        difference = structs.replace(difference, method=difference.method + rounded)
        test = structs.replace(test, test=test.test + rounded)
    return PairedRates(difference, test, ahead, behind, len(counts) - ahead - behind)
