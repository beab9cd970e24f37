"""Differences of two means measured on the same items: paired t intervals, many columns at once, and a test.

`signed_sum_tails` counts how far a sum of known sizes comes when each has a sign that is + or - like a coin. Equal
sizes are counted together: how many of them have a + is binomial. The distributions of unlike sizes are folded together
by fast Fourier transforms, the shortest first, in n log² n for a sum n of sizes. A transform is exact to a share of the
greatest chance, not of the smallest: chances are therefore tilted beforehand so that the sum in question is the mean,
and tilted back (Esscher 1932; Barndorff-Nielsen and Cox 1979, J. R. Stat. Soc. B 41:279-312).
"""

from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from misstep_analysis.stats.checked import whole_numbers
from misstep_analysis.stats.estimate import NO_WIDTH, Estimate
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.stats.significance import Significance

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


_SHORT = 64
"""Up to this length distributions are folded together term by term, which is exact and no slower."""


def signed_sum_tails(sizes: IntArray, total: int) -> tuple[float, float]:
    """Return the chance that the sum of the signed sizes is further from 0 than `total`, and that it is as far.

    Parameters
    ----------
    sizes
        Whole numbers above 0, at least one.
    total
        A sum that the sizes can have.
    """
    step = int(np.gcd.reduce(sizes))
    distinct, times = np.unique(sizes // step, return_counts=True)
    most, far = int(distinct @ times), abs(total) // step
    # With h as the sum of the sizes that have a +, the sum of all is 2 h - most.
    least = (most + far + 1) // 2
    tilt = _tilt(distinct, times, least)
    chances = _folded([_plus_sums(int(size), int(count), tilt) for size, count in zip(distinct, times, strict=True)])
    # log of the mean of exp(tilt h) under fair coins: what undoes the tilt.
    scale = float(times @ (np.logaddexp(0, tilt * distinct) - np.log(2)))
    tail = chances[least:] * np.exp(scale - tilt * np.arange(least, most + 1))
    as_far, further = float(tail[0]), float(tail[1:].sum())
    if total == 0:
        return 2 * further, as_far
    return 2 * further, 2 * as_far


def _tilt(distinct: IntArray, times: IntArray, least: int) -> float:
    """The tilt under which the mean of the sums is the one asked about, or half a smallest size short of the most."""
    from scipy.special import expit

    most = int(distinct @ times)
    # The mean reaches the greatest sum only with an infinite tilt: stop half a smallest size before it.
    wanted = min(float(least), most - float(distinct[0]) / 2)
    low, high = 0.0, 1.0
    while times @ (distinct * expit(high * distinct)) < wanted:
        high *= 2
    for _ in range(60):  # each halving gives one more binary digit; a float has 53
        middle = (low + high) / 2
        low, high = (middle, high) if times @ (distinct * expit(middle * distinct)) < wanted else (low, middle)
    return high


def _plus_sums(size: int, count: int, tilt: float) -> FloatArray:
    """Return the tilted chances of each sum of those of `count` equal sizes that have a +."""
    from scipy.special import gammaln

    plus = np.arange(count + 1)
    chances = np.zeros(size * count + 1)
    chances[::size] = np.exp(
        gammaln(count + 1)
        - gammaln(plus + 1)
        - gammaln(count - plus + 1)
        + plus * tilt * size
        - count * np.logaddexp(0, tilt * size)
    )
    return chances


def _folded(parts: list[FloatArray]) -> FloatArray:
    """Return the distribution of a sum of independent parts, the two shortest folded together until one is left."""
    queue = [(len(part), place, part) for place, part in enumerate(parts)]
    heapify(queue)
    place = len(parts)
    while len(queue) > 1:
        (_, _, one), (_, _, other) = heappop(queue), heappop(queue)
        both = np.convolve(one, other) if len(one) <= _SHORT else _transformed(one, other)
        heappush(queue, (len(both), place, both))
        place += 1
    return queue[0][2]


def _transformed(array: FloatArray, other: FloatArray) -> FloatArray:
    length = len(array) + len(other) - 1
    padded = 1 << (length - 1).bit_length()
    both = np.fft.irfft(np.fft.rfft(array, padded) * np.fft.rfft(other, padded), padded)[:length]
    # What rounding leaves of chances of nearly 0 may lie below it.
    return np.maximum(both, 0.0)
