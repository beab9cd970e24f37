"""How far two orders of the same things agree: Kendall's tau-b, for many pairs of orders at once.

scipy has it for one pair of orders; a bootstrap asks about ten thousand. A test compares the two.
"""

import numpy as np

from misstep.analysis.stats.raters.patterns import FloatArray


def kendall_tau_b(first: FloatArray, second: FloatArray) -> FloatArray:
    """Kendall's tau-b: pairs that both put in one order less those that they do not, over those that each tells apart.

    Kendall (1945), The treatment of ties in ranking problems, Biometrika 33:239-251.

    Parameters
    ----------
    first, second
        Sets x things: the value by which each orders the things.

    Returns
    -------
    FloatArray
        Sets; NaN where a value is missing or one of the two orders has all things alike.

    Examples
    --------
    >>> kendall_tau_b(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])).round(3)
    array([0.333])
    """
    one, other = np.triu_indices(first.shape[1], 1)
    left, right = (np.sign(values[:, one] - values[:, other]) for values in (first, second))
    told = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(told == 0, np.nan, (left * right).sum(axis=1) / np.where(told == 0, 1, told)))
