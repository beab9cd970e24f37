"""Differences of two means measured on the same items: paired t intervals, many columns at once, and a test."""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep.analysis.stats.checked import whole_numbers
from misstep.analysis.stats.clusters.signed_sums import signed_sum_tails
from misstep.analysis.stats.estimate import NO_WIDTH, Estimate
from misstep.analysis.stats.raters.patterns import FloatArray, IntArray
from misstep.analysis.stats.significance import Significance

PAIRED_T = "paired t interval over items"
SIGN_FLIPS = "Fisher's sign-flip test over pairs, two-sided"


class PairedMeans(Struct, frozen=True):
    """Two means of the same `n` items, and the first less the second with its interval."""

    first: float
    second: float
    difference: Estimate


def paired_means(first: FloatArray, second: FloatArray, items: IntArray) -> list[PairedMeans]:
    """Return the means of each column in two arrays, and their differences with 95% intervals by Student's t.

    Parameters
    ----------
    first, second
        Patterns x columns: what was measured, once and again.
    items
        Patterns: how many items have each; at least one item in all.

    Returns
    -------
    list of PairedMeans
        A column each.

    Examples
    --------
    >>> paired_means(np.array([[1.0], [0.0]]), np.array([[0.0], [0.0]]), np.array([2, 2]))[0].difference.value
    0.5
    """
    from scipy.special import stdtrit

    n = int(items.sum())
    means = [items @ values / n for values in (first, second)]
    differences = means[0] - means[1]
    if n < 2:
        reason = "one item has no standard error"
        unknown = [Estimate(float(value), n=n, reason=reason) for value in differences]
        return [PairedMeans(*row) for row in zip(*(mean.tolist() for mean in means), unknown, strict=True)]
    squares = items @ (first - second - differences) ** 2
    margins = float(stdtrit(n - 1, 0.975)) * np.sqrt(squares / (n - 1) / n)
    alike = "all items give the same difference"
    estimates = [
        Estimate(value, value - margin, value + margin, n, PAIRED_T, "" if 2 * margin > NO_WIDTH else alike)
        for value, margin in zip(differences.tolist(), margins.tolist(), strict=True)
    ]
    return [PairedMeans(*row) for row in zip(*(mean.tolist() for mean in means), estimates, strict=True)]


def sign_flip_test(differences: npt.ArrayLike) -> Significance:
    """Return whether paired differences lean to one side: each could as well have gone the other way (Fisher 1935).

    All ways are counted, none drawn; with n pairs the p-value is never below 2 / 2^n.

    Parameters
    ----------
    differences
        Pairs: whole numbers, such as counts or minutes.

    Examples
    --------
    >>> round(sign_flip_test([3, 1, 2]).p_value, 9)
    0.25
    """
    each = whole_numbers(differences, "a difference")
    leaning, total = each[each != 0], int(each.sum())
    if not len(leaning):
        return Significance(0.0, 1.0, len(each), SIGN_FLIPS, "all pairs are equal")
    further, as_far = signed_sum_tails(np.abs(leaning), total)
    return Significance(float(total), min(1.0, further + as_far), len(each), SIGN_FLIPS)
