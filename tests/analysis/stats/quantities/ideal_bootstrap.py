"""The ideal bootstrap: all resamples at once, by counting instead of drawing.

n rows drawn with replacement from n rows have sums that are few enough to be counted where the rows are small whole
numbers: outcomes compared in pairs (-1, 0, 1), successes and trials of a cluster, points on a scale. The distribution
then has no Monte-Carlo error (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 5 and 6).
"""

import numpy as np
from msgspec import Struct
from scipy.special import ndtr, ndtri

from misstep.analysis.stats.checked import whole_numbers
from misstep.analysis.stats.raters.patterns import FloatArray, IntArray, distinct_rows
from misstep.harness.errors import UsageError

_MOST_STATES = 2_000_000


class ResampledSums(Struct, frozen=True):
    """Every sum that a resample can have, in order, with its probability: `sums` is sums x columns."""

    sums: IntArray
    probabilities: FloatArray

    def mean_and_error(self, values: FloatArray) -> tuple[float, float]:
        """Mean and standard deviation of a statistic over all resamples, from its value for each sum."""
        mean = float(self.probabilities @ values)
        return mean, float(np.sqrt(self.probabilities @ (values - mean) ** 2))


class IdealMean(Struct, frozen=True):
    """The bootstrap of a mean of whole numbers, with percentile and BCa limits.

    `bias_correction` (z0) and `acceleration` are what BCa adds to the percentiles (Efron 1987, J. Am. Stat. Assoc.
    82:171-185); z0 counts half of the resamples that equal the mean. Both and BCa are `None` where they are 0/0.
    """

    mean: float
    se: float
    percentile: tuple[float, float]
    bca: tuple[float, float] | None = None
    bias_correction: float | None = None
    acceleration: float | None = None


def resampled_sums(rows: IntArray) -> ResampledSums:
    """The distribution of the column sums of n rows drawn with replacement from n rows.

    Parameters
    ----------
    rows
        Rows x columns of whole numbers.

    Raises
    ------
    UsageError
        There are no rows, or more different sums than can be held at once.
    """
    matrix = whole_numbers(rows, "a value")
    if not len(matrix):
        raise UsageError("no rows to draw from")
    patterns = distinct_rows(matrix)
    weights = patterns.items / len(matrix)
    sums: IntArray = np.zeros((1, matrix.shape[1]), dtype=np.int64)
    probabilities: FloatArray = np.ones(1)
    for _ in matrix:
        if len(sums) * len(weights) > _MOST_STATES:
            raise UsageError("too many different sums to count", "Draw resamples instead.")
        reached = distinct_rows((sums[:, None, :] + patterns.rows[None, :, :]).reshape(-1, matrix.shape[1]))
        steps = np.outer(probabilities, weights).ravel()
        probabilities = np.bincount(reached.of_item, weights=steps, minlength=len(reached.rows)).astype(np.float64)
        sums = reached.rows
    return ResampledSums(sums, probabilities)


def ideal_mean(values: IntArray, confidence: float = 0.95) -> IdealMean:
    """The mean of whole numbers with the limits of its ideal bootstrap."""
    whole = whole_numbers(values, "a value")
    distribution = resampled_sums(whole[:, None])
    means, probabilities = distribution.sums[:, 0] / len(whole), distribution.probabilities
    mean, total = float(whole.mean()), int(whole.sum())
    se = distribution.mean_and_error(means)[1]
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    percentile = _quantiles(means, probabilities, tails)
    deviations = whole - mean
    spread = float((deviations**2).sum())
    if spread == 0:
        return IdealMean(mean, se, percentile)
    below, at = (
        float(probabilities[mask].sum()) for mask in (distribution.sums[:, 0] < total, distribution.sums[:, 0] == total)
    )
    bias = float(ndtri(below + at / 2))
    acceleration = float((deviations**3).sum()) / (6 * spread**1.5)
    shifted = bias + ndtri(tails)
    bca = _quantiles(means, probabilities, ndtr(bias + shifted / (1 - acceleration * shifted)))
    return IdealMean(mean, se, percentile, bca, bias, acceleration)


def _quantiles(values: FloatArray, probabilities: FloatArray, levels: FloatArray) -> tuple[float, float]:
    """The smallest values whose cumulated probability reaches each of two levels."""
    # A cumulated sum may fall short of a level by its own rounding.
    reached = np.searchsorted(np.cumsum(probabilities), levels - 1e-12)
    low, high = values[np.minimum(reached, len(values) - 1)]
    return float(low), float(high)
