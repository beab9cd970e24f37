"""P-values of many pairs of counts at once: the tests of two proportions over arrays.

`analysis.stats.two_proportions` gives one test with its statistic and its reason; these give the p-value alone, for
questions that ask for thousands (which counts print this p-value, how often a test errs). Both agree. NaN where a test
is undefined. Arrays broadcast against each other.
"""

import numpy as np
import numpy.typing as npt

from analysis.stats.patterns import FloatArray


def pooled_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """Two-sided p-values of the pooled z test, which is the chi-squared test without correction.

    Parameters
    ----------
    x1, n1, x2, n2
        How many of how many, in either sample; whole numbers, 0 <= x <= n and n > 0.
    """
    p1, p2, m1, m2 = _shares(x1, n1, x2, n2)
    mean = (p1 * m1 + p2 * m2) / (m1 + m2)
    return _normal((p1 - p2) ** 2, mean * (1 - mean) * (1 / m1 + 1 / m2))


def unpooled_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """Two-sided p-values of the unpooled z test (Wald); arguments as `pooled_p_values`."""
    p1, p2, m1, m2 = _shares(x1, n1, x2, n2)
    return _normal((p1 - p2) ** 2, p1 * (1 - p1) / m1 + p2 * (1 - p2) / m2)


def yates_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """P-values of the chi-squared test with Yates' correction; arguments as `pooled_p_values`.

    The correction brings each count half a case nearer to what is expected, and never beyond it.
    """
    p1, p2, m1, m2 = _shares(x1, n1, x2, n2)
    mean = (p1 * m1 + p2 * m2) / (m1 + m2)
    step = (1 / m1 + 1 / m2) / 2
    return _normal(np.maximum(abs(p1 - p2) - step, 0) ** 2, mean * (1 - mean) * (1 / m1 + 1 / m2))


def _shares(
    x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    a, m1, b, m2 = (np.asarray(given, dtype=np.float64) for given in (x1, n1, x2, n2))
    return a / m1, b / m2, m1, m2


def _normal(squared: FloatArray, variance: FloatArray) -> FloatArray:
    """The two-sided p-value of a normal statistic, given as its square's two parts; NaN where the variance is 0."""
    from scipy.special import erfc

    known = variance > 0
    ratio = np.divide(squared, variance, out=np.full(np.shape(variance), np.nan), where=known)
    return np.asarray(erfc(np.sqrt(ratio / 2)))
