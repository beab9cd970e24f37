"""The tests of two proportions that papers use, by the names that sentences call them: the most usual ones first.

Quick tests take arrays of counts and give NaN where they are undefined; exact ones take how many of how many in either
sample, whole numbers with 0 <= x <= n and n > 0. Fisher's test fixes both margins, and has more than one two-sided
p-value. Barnard's and Boschloo's fix the samples alone and take the worst share; they are for small samples.
"""

from collections.abc import Callable, Mapping

import numpy.typing as npt

from misstep.analysis.stats.printed.two_by_two import (
    arcsine_p_values,
    g_test_p_values,
    less_one_p_values,
    log_odds_p_values,
    pooled_p_values,
    unpooled_p_values,
    yates_p_values,
)
from misstep.analysis.stats.printed.two_proportions import fisher_exact
from misstep.analysis.stats.raters.patterns import FloatArray

LARGEST = 10**8
"""Up to how many cases in both samples together the probabilities of Fisher's test are exact enough."""

MOST_PAIRS = 40_000
"""Of how many pairs of counts at most Barnard's and Boschloo's tests are asked: a third of a second each."""


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
"""How many two-sided tests there are."""


def is_feasible(name: str, x1: int, n1: int, x2: int, n2: int, most_pairs: int = MOST_PAIRS) -> bool:
    """Return whether an exact test of such samples is defined, exact enough and done in bounded time."""
    if n1 + n2 > LARGEST:
        return False
    return name not in UNCONDITIONAL or (n1 * n2 <= most_pairs and 0 < x1 + x2 < n1 + n2)
