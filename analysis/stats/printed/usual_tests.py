"""The tests of two proportions that papers use, by the names that sentences call them: the most usual ones first.

Quick tests take arrays of counts and give NaN where they are undefined, exact ones take one pair of counts.
"""

from collections.abc import Callable, Mapping

import numpy.typing as npt

from misstep.analysis.stats.printed.exact_two_by_two import (
    LARGEST,
    MOST_PAIRS,
    barnard,
    boschloo,
    fisher_doubled,
    fisher_doubled_mid_p,
    fisher_mid_p,
    fisher_one_sided,
    fisher_two_sided,
)
from misstep.analysis.stats.printed.two_by_two import (
    arcsine_p_values,
    g_test_p_values,
    less_one_p_values,
    log_odds_p_values,
    pooled_p_values,
    unpooled_p_values,
    yates_p_values,
)
from misstep.analysis.stats.raters.patterns import FloatArray

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
