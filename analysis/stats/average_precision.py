"""How well a score finds positives first: average precision, the area under the steps of precision against recall.

scikit-learn has it for one set of weights; a bootstrap asks about thousands. A test compares the two.
"""

import numpy as np
import numpy.typing as npt

from misstep.analysis.stats.checked import numbers, yes_or_no
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.harness.errors import UsageError

NO_POSITIVES = "no item is a positive: there is nothing to find"


def average_precision(scores: npt.ArrayLike, positive: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """The mean of the precision at each score, weighted by the positives that have it; equal scores come together.

    A score that says nothing has the share of positives.

    Parameters
    ----------
    scores, positive
        Items: the score, and whether the item is a positive.
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
    given, found = numbers(scores, "a score"), yes_or_no(positive, "a gold label")
    sets = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    if not given.shape == found.shape == sets.shape[1:]:
        raise UsageError(f"{given.size} scores but {found.size} labels and {sets.shape[1]} weights")
    order = np.argsort(-given, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(given[order])), len(given) - 1)
    drawn = sets[:, order]
    taken, right = (np.cumsum(part, axis=1)[:, ends] for part in (drawn, drawn * found[order]))
    steps = np.diff(right, axis=1, prepend=0.0)
    precision = right / np.where(taken > 0, taken, 1.0)
    total = right[:, -1]
    area = (steps * precision).sum(axis=1) / np.where(total > 0, total, 1.0)
    return np.asarray(np.where(total > 0, area, np.nan))
