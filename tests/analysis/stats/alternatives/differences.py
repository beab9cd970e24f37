"""Tests and intervals of the difference of two proportions, of separate samples and of the same items.

The unpooled z test goes with the Wald interval and rejects too often with small samples. McNemar's exact test is too
careful, and the asymptotic one goes wrong with few discordant pairs (Fagerland, Lydersen and Laake 2013, BMC Medical
Research Methodology 13:91): mid-p is shown.
"""

import math

from misstep.analysis.stats.clusters.paired import NO_DISCORDANT, PairedTable
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.printed.two_proportions import NO_VARIATION, pooled_z
from misstep.analysis.stats.significance import Significance, normal_p_value

BOTH_EXTREME = "both observed proportions are 0 or 1: unpooled standard error 0"


def unpooled_z(x1: int, n1: int, x2: int, n2: int) -> Significance:
    """The z test of two proportions with the unpooled standard error (Wald)."""
    n, test = _items(x1, n1, x2, n2), "two-proportion z, unpooled"
    error = _wald_error(x1, n1, x2, n2)
    if error == 0:
        return Significance(None, None, n, test, BOTH_EXTREME)
    z = (x1 / n1 - x2 / n2) / error
    return Significance(z, normal_p_value(z), n, test)


def chi_squared(x1: int, n1: int, x2: int, n2: int, *, yates: bool = False) -> Significance:
    """Pearson's chi-squared test of two proportions, with one degree of freedom."""
    n, test = _items(x1, n1, x2, n2), "chi-squared, Yates' correction" if yates else "chi-squared"
    if x1 + x2 in (0, n1 + n2):
        return Significance(None, None, n, test, NO_VARIATION)
    from scipy.stats import chi2_contingency

    found = chi2_contingency([[x1, n1 - x1], [x2, n2 - x2]], correction=yates)
    return Significance(float(found.statistic), float(found.pvalue), n, test)


def wald(x1: int, n1: int, x2: int, n2: int, confidence: float = 0.95) -> Estimate:
    """The difference of two proportions with the Wald interval; none where its width would be 0."""
    n = _items(x1, n1, x2, n2)
    method = f"Wald, {100 * confidence:g}%"
    difference = x1 / n1 - x2 / n2
    if _wald_error(x1, n1, x2, n2) == 0:
        return Estimate(difference, n=n, method=method, reason=BOTH_EXTREME)
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(x1, n1, x2, n2, method="wald", compare="diff", alpha=1 - confidence)
    return Estimate(difference, float(low), float(high), n, method)


def _wald_error(x1: int, n1: int, x2: int, n2: int) -> float:
    return math.sqrt(x1 * (n1 - x1) / n1**3 + x2 * (n2 - x2) / n2**3)


def mcnemar_exact(table: PairedTable) -> Significance:
    """McNemar's exact conditional test: each discordant pair goes either way like a coin.

    The statistic is the smaller count of discordant pairs; with none of them p is 1.
    """
    from statsmodels.stats.contingency_tables import mcnemar

    test = "McNemar, exact"
    if table.discordant == 0:
        return Significance(0.0, 1.0, table.n, test, NO_DISCORDANT)
    found = mcnemar(_cells(table), exact=True)
    return Significance(float(found.statistic), float(found.pvalue), table.n, test)


def mcnemar_asymptotic(table: PairedTable, *, corrected: bool = False) -> Significance:
    """McNemar's test by the normal distribution; the statistic is z, positive where the first system is better."""
    test = "McNemar, continuity-corrected" if corrected else "McNemar, asymptotic"
    if table.discordant == 0:
        return Significance(None, None, table.n, test, NO_DISCORDANT + ": 0/0")
    more = table.first_only - table.second_only
    size = max(0, abs(more) - 1) if corrected else abs(more)
    z = math.copysign(size, more) / math.sqrt(table.discordant)
    return Significance(z, normal_p_value(z), table.n, test)


def _items(x1: int, n1: int, x2: int, n2: int) -> int:
    """How many items both samples have; raises as the pooled test does where the counts cannot be."""
    return pooled_z(x1, n1, x2, n2).n


def _cells(table: PairedTable) -> list[list[int]]:
    return [[table.both, table.first_only], [table.second_only, table.neither]]
