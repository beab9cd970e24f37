"""The tests of two proportions that papers use, by the names that sentences call them: the most usual ones first.

Quick tests take arrays of counts, which broadcast, and give the p-value alone, NaN if it is undefined. Exact
 ones take how many of how many in either
sample, whole numbers with 0 <= x <= n and n > 0. Fisher's test fixes both margins, and has more than one two-sided
p-value. Barnard's and Boschloo's fix the samples alone and take the worst share; they are for small samples.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from misstep_analysis.stats.printed.two_proportions import fisher_exact
from misstep_analysis.stats.raters.patterns import FloatArray


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
    a, m1, b, m2 = (np.asarray(counts, dtype=np.float64) for counts in (x1, n1, x2, n2))
    return a / m1, b / m2, m1, m2


def _normal(squared: FloatArray, variance: FloatArray) -> FloatArray:
    """The two-sided p-value of a normal statistic, given as its square's two parts; NaN where the variance is 0."""
    from scipy.special import erfc

    known = variance > 0
    ratio = np.divide(squared, variance, out=np.full(np.shape(variance), np.nan), where=known)
    return np.asarray(erfc(np.sqrt(ratio / 2)))


LARGEST = 10**8
"""Up to how many cases in both samples together the probabilities of Fisher's test are exact enough."""

MOST_PAIRS = 40_000
"""The most pairs of counts for which Barnard's and Boschloo's tests run: a third of a second each."""


def fisher_two_sided(x1: int, n1: int, x2: int, n2: int) -> float | None:
    """Fisher's exact test: the probability of all tables that are no more probable."""
    return fisher_exact(x1, n1, x2, n2).p_value


def fisher_one_sided(x1: int, n1: int, x2: int, n2: int) -> float:
    """Fisher's exact test in the direction in which the shares differ."""
    return min(_tails(x1, n1, x2, n2)[:2])


def fisher_doubled(x1: int, n1: int, x2: int, n2: int) -> float:
    """Twice the smaller one-sided p-value of Fisher's exact test, 1 at most (the central one)."""
    return min(1.0, 2 * fisher_one_sided(x1, n1, x2, n2))


def fisher_mid_p(x1: int, n1: int, x2: int, n2: int) -> float | None:
    """Fisher's two-sided p-value less half of the table's own probability.

    Hirji, Tan and Elashoff (1991), Statistics in Medicine 10:1137-1153.
    """
    p_value = fisher_two_sided(x1, n1, x2, n2)
    return None if p_value is None else p_value - _tails(x1, n1, x2, n2)[2] / 2


def fisher_doubled_mid_p(x1: int, n1: int, x2: int, n2: int) -> float:
    """Twice the smaller one-sided mid-p of Fisher's exact test, 1 at most."""
    below, above, own = _tails(x1, n1, x2, n2)
    return min(1.0, 2 * (min(below, above) - own / 2))


def barnard(x1: int, n1: int, x2: int, n2: int) -> float:
    """Barnard's exact test, two-sided, by the pooled z."""
    from scipy.stats import barnard_exact

    return float(barnard_exact([[x1, x2], [n1 - x1, n2 - x2]]).pvalue)


def boschloo(x1: int, n1: int, x2: int, n2: int) -> float:
    """Boschloo's exact test, two-sided."""
    from scipy.stats import boschloo_exact

    return float(boschloo_exact([[x1, x2], [n1 - x1, n2 - x2]]).pvalue)


def _tails(x1: int, n1: int, x2: int, n2: int) -> tuple[float, float, float]:
    """The probabilities, both margins fixed, of at most and of at least so many in the first sample, and of so many."""
    from scipy.stats import hypergeom

    margins = (n1 + n2, x1 + x2, n1)
    return float(hypergeom.cdf(x1, *margins)), float(hypergeom.sf(x1 - 1, *margins)), float(hypergeom.pmf(x1, *margins))


QuickTest = Callable[[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike, npt.ArrayLike], FloatArray]
ExactTest = Callable[[int, int, int, int], float | None]

POOLED, YATES = "two-proportion z, pooled", "chi-squared, Yates' correction"

USUAL: Mapping[str, QuickTest] = {
    POOLED: pooled_p_values,
    "two-proportion z, unpooled": unpooled_p_values,
    YATES: yates_p_values,
}
"""The pooled z test is Pearson's chi-squared test, and the score test of a logistic regression."""

FISHER: Mapping[str, ExactTest] = {"Fisher's exact, two-sided": fisher_two_sided}

ONE_SIDED: Mapping[str, ExactTest] = {"Fisher's exact, one-sided": fisher_one_sided}

RARER: Mapping[str, QuickTest] = {
    "chi-squared with N - 1": less_one_p_values,
    "G-test": g_test_p_values,
    "Wald test of the log odds ratio": log_odds_p_values,
    "arcsine test, Cohen's h": arcsine_p_values,
}

EXACT: Mapping[str, ExactTest] = {
    "Fisher's exact, mid-p": fisher_mid_p,
    "Fisher's exact, one-sided doubled": fisher_doubled,
    "Fisher's exact, one-sided mid-p doubled": fisher_doubled_mid_p,
}

UNCONDITIONAL: Mapping[str, ExactTest] = {
    "Barnard's exact": barnard,
    "Boschloo's exact": boschloo,
}

HOW_MANY = sum(map(len, (USUAL, RARER, FISHER, EXACT, UNCONDITIONAL)))


def is_feasible(name: str, x1: int, n1: int, x2: int, n2: int, most_pairs: int = MOST_PAIRS) -> bool:
    """Return whether an exact test of such samples is defined, exact enough and done in bounded time."""
    if n1 + n2 > LARGEST:
        return False
    return name not in UNCONDITIONAL or (n1 * n2 <= most_pairs and 0 < x1 + x2 < n1 + n2)
