"""How well a score ranks positives above negatives, and how far two orders of the same things agree.

The area under the ROC curve is the chance that a positive drawn at random has a higher score than a negative, equal
scores counting half; average precision is the area under the steps of precision against recall. scikit-learn and scipy
have average precision and Kendall's tau-b for one sample; a bootstrap asks about thousands. A test compares them.
"""

from math import exp, log, sqrt

import numpy as np
import numpy.typing as npt
from msgspec import structs

from misstep_analysis.stats.checked import numbers, yes_or_no
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_harness.errors import UsageError

ONE_KIND = "all items are of one kind: nothing can be ranked above anything"
NO_SPREAD = "no spread: standard error 0"


def area_under_curve(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    of_item: IntArray | None = None,
) -> Estimate:
    """Return the area under the ROC curve with its interval, made on the logit scale so that it stays within 0..1.

    The variance is that of DeLong, DeLong and Clarke-Pearson (1988, Biometrics 44:837-845) over items, and its
    counterpart of Obuchowski (1997, Biometrics 53:567-578) over clusters, which is the same where each has one item.

    Parameters
    ----------
    scores, positive
        Items: the score, and whether the item is a positive.
    of_item
        Items: the number of each one's cluster from 0; by default every item stands for itself.

    Raises
    ------
    UsageError
        Scores and labels differ in length, a score is missing or no number, or a label is neither yes nor no.
    """
    values, positives = numbers(scores, "a score"), yes_or_no(positive, "a gold label")
    if values.shape != positives.shape:
        raise UsageError(f"{values.size} scores but {positives.size} labels")
    n, n_found = len(values), int(positives.sum())
    if n_found in (0, n):
        return Estimate(None, n=n, reason=ONE_KIND)
    with_found, without = values[positives], values[~positives]
    above, below = _placements(with_found, without), 1 - _placements(without, with_found)
    area = float(np.average(above))
    clusters = np.arange(n) if of_item is None else np.asarray(of_item)
    variance = _variance(above - area, below - area, clusters[positives], clusters[~positives])
    kind = "DeLong" if of_item is None else "Obuchowski, over clusters"
    method = f"{kind}, logit, 95%"
    if not variance > 0 or area in (0.0, 1.0):
        return Estimate(area, n=n, method=method, reason=NO_SPREAD)
    from scipy.special import ndtri

    half = float(ndtri(0.975)) * sqrt(variance) / (area * (1 - area))
    low, high = (1 / (1 + exp(-(log(area / (1 - area)) + side * half))) for side in (-1, 1))
    return Estimate(area, low, high, n, method)


def _placements(each: FloatArray, others: FloatArray) -> FloatArray:
    """For each value the share of the others below it, equal ones by half."""
    ordered = np.sort(others)
    below, not_above = (np.searchsorted(ordered, each, side) for side in ("left", "right"))
    return np.asarray((below + not_above) / (2 * len(others)))


def _variance(above: FloatArray, below: FloatArray, of_above: IntArray, of_below: IntArray) -> float:
    """Return the variance of the area, from each item's placement less the area, summed by cluster."""
    count = int(max(of_above.max(), of_below.max())) + 1
    first, second = np.bincount(of_above, above, minlength=count), np.bincount(of_below, below, minlength=count)
    with_first, with_second = len(np.unique(of_above)), len(np.unique(of_below))
    if min(with_first, with_second) < 2:
        return 0.0
    n_first, n_second = len(above), len(below)
    clusters = len(np.union1d(of_above, of_below))
    return float(
        with_first / (with_first - 1) * (first**2).sum() / n_first**2
        + with_second / (with_second - 1) * (second**2).sum() / n_second**2
        + 2 * clusters / (clusters - 1) * (first * second).sum() / (n_first * n_second)
    )


NO_POSITIVES = "no item is a positive: there is nothing to find"


def average_precision(scores: npt.ArrayLike, positive: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """The mean of the precision at each score, weighted by the positives that have it; equal scores come together.

    A score that says nothing has the share of positives.

    Parameters
    ----------
    weights
        Sets x items: how often each item is in a set.

    Returns
    -------
    FloatArray
        Sets; NaN where a set has no positive.

    Raises
    ------
    UsageError
        Scores, labels and weights differ in length, a score is missing or no number, or a label is neither yes nor no.

    Examples
    --------
    >>> average_precision([0.9, 0.8, 0.7], [True, False, True], [[1, 1, 1]]).round(3)
    array([0.833])
    """
    values, positives = numbers(scores, "a score"), yes_or_no(positive, "a gold label")
    sets = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    if not values.shape == positives.shape == sets.shape[1:]:
        raise UsageError(f"{values.size} scores but {positives.size} labels and {sets.shape[1]} weights")
    order = np.argsort(-values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[order])), len(values) - 1)
    drawn = sets[:, order]
    flags, right = (np.cumsum(part, axis=1)[:, ends] for part in (drawn, drawn * positives[order]))
    steps = np.diff(right, axis=1, prepend=0.0)
    precision = right / np.where(flags > 0, flags, 1.0)
    total = right[:, -1]
    area = (steps * precision).sum(axis=1) / np.where(total > 0, total, 1.0)
    return np.asarray(np.where(total > 0, area, np.nan))


_FEW_FOR_PRECISION = 100
"""With fewer units the resamples of average precision are too near to 1 and too much alike."""

FEW_FOR_PRECISION = "of fewer than 100 units the interval holds the truth in 87 to 92%, not 95%"


def doubted_precision(resampled: Estimate, units: int) -> Estimate:
    """Return an average precision with its resampled interval, and the doubt of it where units are few.

    Parameters
    ----------
    units
        The items, or clusters of them, that were resampled.

    Examples
    --------
    >>> doubted_precision(Estimate(0.8, 0.6, 0.9, 40), 40).reason
    'of fewer than 100 units the interval holds the truth in 87 to 92%, not 95%'
    """
    doubtful = resampled.low is not None and units < _FEW_FOR_PRECISION
    return structs.replace(resampled, reason=FEW_FOR_PRECISION) if doubtful else resampled
