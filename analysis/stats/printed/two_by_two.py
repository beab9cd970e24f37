"""P-values of many pairs of counts at once: the tests of two proportions over arrays.

`two_proportions` gives one test with its statistic and its reason; these give the p-value alone, for
questions that ask for thousands (which counts print this p-value, how often a test errs). Both agree. NaN where a test
is undefined. Arrays broadcast against each other.
"""

import numpy as np
import numpy.typing as npt

from misstep.analysis.stats.raters.patterns import FloatArray


def pooled_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """Return two-sided p-values of the pooled z test, which is the chi-squared test without correction.

    Parameters
    ----------
    x1, n1, x2, n2
        How many of how many, in either sample; whole numbers, 0 <= x <= n and n > 0.
    """
    p1, p2, m1, m2 = _shares(x1, n1, x2, n2)
    mean = (p1 * m1 + p2 * m2) / (m1 + m2)
    return _normal((p1 - p2) ** 2, mean * (1 - mean) * (1 / m1 + 1 / m2))


def unpooled_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """Return two-sided p-values of the unpooled z test (Wald); arguments as `pooled_p_values`."""
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


def less_one_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """P-values of the chi-squared test with N - 1 in the place of N; arguments as `pooled_p_values`.

    Campbell (2007), Statistics in Medicine 26:3661-3675.
    """
    p1, p2, m1, m2 = _shares(x1, n1, x2, n2)
    cases, mean = m1 + m2, (p1 * m1 + p2 * m2) / (m1 + m2)
    return _normal((p1 - p2) ** 2 * (cases - 1) / cases, mean * (1 - mean) * (1 / m1 + 1 / m2))


def g_test_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """P-values of the G-test, which is the likelihood ratio test of a logistic regression on the sample.

    Arguments as `pooled_p_values`.
    """
    from scipy.special import xlogy

    p1, p2, m1, m2 = _shares(x1, n1, x2, n2)
    mean = (p1 * m1 + p2 * m2) / (m1 + m2)
    known = (mean > 0) & (mean < 1)
    inside = np.where(known, mean, 0.5)
    logs = sum(m * (xlogy(p, p / inside) + xlogy(1 - p, (1 - p) / (1 - inside))) for p, m in ((p1, m1), (p2, m2)))
    return _normal(np.maximum(2 * logs, 0), np.where(known, 1.0, 0.0))


def arcsine_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """Two-sided p-values of the difference of the shares' arcsines (Cohen's h); arguments as `pooled_p_values`."""
    p1, p2, m1, m2 = _shares(x1, n1, x2, n2)
    mean = (p1 * m1 + p2 * m2) / (m1 + m2)
    h = 2 * (np.arcsin(np.sqrt(p1)) - np.arcsin(np.sqrt(p2)))
    return _normal(h**2, np.where((mean > 0) & (mean < 1), 1 / m1 + 1 / m2, 0.0))


def log_odds_p_values(x1: npt.ArrayLike, n1: npt.ArrayLike, x2: npt.ArrayLike, n2: npt.ArrayLike) -> FloatArray:
    """Return two-sided Wald p-values of the log odds ratio, as a logistic regression prints them.

    Arguments as `pooled_p_values`; NaN where a cell is 0.
    """
    p1, p2, m1, m2 = _shares(x1, n1, x2, n2)
    known = (np.minimum(p1, p2) > 0) & (np.maximum(p1, p2) < 1)
    one, other = np.where(known, p1, 0.5), np.where(known, p2, 0.5)
    log_ratio = np.log(one / (1 - one)) - np.log(other / (1 - other))
    variance = 1 / (one * (1 - one) * m1) + 1 / (other * (1 - other) * m2)
    return _normal(log_ratio**2, np.where(known, variance, 0.0))


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
