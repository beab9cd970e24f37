"""Two independent proportions: tests of their equality and intervals of their difference.

The pooled z test is the chi-squared test without Yates' correction (z² = chi²). The unpooled one goes with the Wald
interval and is only given to recognise what a paper computed: with small samples it rejects too often. The interval to
show is Newcombe's, which never leaves -1..1 and has width where both shares are 0 or 1.

The difference is the first share less the second throughout. Items that hang together are not independent trials: see
`analysis.stats.clusters.clustered`.
"""

from math import hypot
from typing import Literal, get_args

from misstep_analysis.stats.checked import counts, known
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import Significance, normal_p_value
from misstep_harness.errors import UsageError

Alternative = Literal["two-sided", "less", "greater"]

NO_VARIATION = "no variation in the pooled sample: standard error 0"


def pooled_z(x1: int, n1: int, x2: int, n2: int) -> Significance:
    """Return the z test of two proportions with the pooled standard error.

    Parameters
    ----------
    x1, n1, x2, n2
        How many of how many, in either sample.

    Raises
    ------
    UsageError
        A sample is empty, or a count is outside it.

    Examples
    --------
    >>> found = pooled_z(45, 100, 30, 100)
    >>> round(found.statistic, 3), round(found.p_value, 4)
    (2.191, 0.0285)
    """
    _check(x1, n1, x2, n2)
    test = "two-proportion z, pooled"
    if x1 + x2 in (0, n1 + n2):
        return Significance(None, None, n1 + n2, test, NO_VARIATION)
    from statsmodels.stats.proportion import proportions_ztest

    z, _ = proportions_ztest([x1, x2], [n1, n2])
    return Significance(float(z), normal_p_value(z), n1 + n2, test)


def fisher_exact(x1: int, n1: int, x2: int, n2: int, alternative: Alternative = "two-sided") -> Significance:
    """Fisher's exact test; the statistic is the sample odds ratio, `None` where it is 0/0 or infinite.

    The two-sided p-value sums the tables that are no more probable than the observed one.

    Parameters
    ----------
    alternative
        Whether the first share is taken to be different, less or greater.

    Examples
    --------
    >>> round(fisher_exact(8, 10, 1, 10).p_value, 4)
    0.0055
    """
    _check(x1, n1, x2, n2)
    known(alternative, get_args(Alternative), "alternative")
    from scipy.stats import fisher_exact as fisher

    p_value = float(fisher([[x1, n1 - x1], [x2, n2 - x2]], alternative).pvalue)
    above, below = x1 * (n2 - x2), x2 * (n1 - x1)
    reason = "" if below else "the odds ratio is 0/0" if above == 0 else "the odds ratio is infinite"
    return Significance(above / below if below else None, p_value, n1 + n2, f"Fisher's exact, {alternative}", reason)


def newcombe(x1: int, n1: int, x2: int, n2: int, confidence: float = 0.95) -> Estimate:
    """Return the difference of two proportions with Newcombe's hybrid score interval.

    Newcombe (1998), Statistics in Medicine 17:873-890, method 10: the distances of the two Wilson limits, squared and
    added.

    Examples
    --------
    >>> found = newcombe(45, 100, 30, 100)
    >>> round(found.low, 3), round(found.high, 3)
    (0.016, 0.277)
    """
    _check(x1, n1, x2, n2)
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(x1, n1, x2, n2, method="newcomb", compare="diff", alpha=1 - confidence)
    method = f"Newcombe, {100 * confidence:g}%"
    return Estimate(x1 / n1 - x2 / n2, max(-1.0, float(low)), min(1.0, float(high)), n1 + n2, method)


def difference_of_shares(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two shares from their own intervals: the distances of the limits, squared and added.

    Zou and Donner (2008), Statistics in Medicine 27:1693-1702 ("MOVER"). With Wilson's intervals it is Newcombe's; with
    intervals over clusters the difference is over clusters too. It takes the two shares as independent.

    Parameters
    ----------
    first, second
        The shares with their intervals.

    Examples
    --------
    >>> from misstep_analysis.stats.proportions import wilson
    >>> found = difference_of_shares(wilson(45, 100), wilson(30, 100))
    >>> round(found.low, 3), round(found.high, 3)
    (0.016, 0.277)
    """
    n = (first.n or 0) + (second.n or 0)
    if first.value is None or second.value is None:
        return Estimate(None, n=n, reason=first.reason or second.reason)
    value = first.value - second.value
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Estimate(value, n=n, reason="a share has no interval")
    below = hypot(first.value - first.low, second.high - second.value)
    above = hypot(first.high - first.value, second.value - second.low)
    method = f"limits squared and added: {first.method}"
    return Estimate(value, max(-1.0, value - below), min(1.0, value + above), n, method)


def _check(x1: int, n1: int, x2: int, n2: int) -> None:
    for which, x, n in (("first", x1, n1), ("second", x2, n2)):
        counts([x, n])
        if n <= 0:
            raise UsageError(f"the {which} sample has {n} items", "Two proportions need an item in either sample.")
        if not 0 <= x <= n:
            raise UsageError(
                f"the {which} sample has {x} of {n} items", "A count lies between 0 and the sample's size."
            )
