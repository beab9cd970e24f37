"""An experiment while it runs: arms as large as their shares say, and differences that one may look at at any time.

Arms that are larger or smaller than chance explains were not assigned as planned, or lost units on the way; a
comparison of them does not show the effect of the treatment (Fabijan and others 2019, Diagnosing Sample Ratio Mismatch
in Online Controlled Experiments, KDD).

A p-value below 0.05 holds for one look, at an end that was fixed beforehand. Whoever looks daily and stops at the first
one below 0.05 is wrong far more often. The mixture sequential probability ratio test holds its level over all looks
together, however many there are and whenever one stops; its price is a wider interval at each.
"""

from collections.abc import Sequence
from math import exp, isfinite, log, sqrt

import numpy as np
from msgspec import Struct

from misstep_analysis.stats.checked import counts, finite
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import Significance
from misstep_harness.errors import UsageError

ALARM = 0.0005
"""Below this the arms do not fit their shares: the level that Fabijan and others use."""


def sample_ratio(units: Sequence[int], shares: Sequence[float]) -> Significance:
    """Return the test that units were assigned to the arms by their shares: exact for two arms, Pearson's for more.

    Parameters
    ----------
    units
        Arms: how many units each has.
    shares
        Arms: what part of all units each should have; their sum need not be 1.

    Raises
    ------
    UsageError
        There are fewer than two arms, lengths differ, or a share is not above 0.

    Examples
    --------
    >>> round(sample_ratio([821, 935], [1, 1]).p_value, 4)
    0.007
    """
    observed, wanted = counts(list(units)), finite(list(shares), "a share")
    if len(observed) < 2 or len(observed) != len(wanted):
        message = f"{len(observed)} arms and {len(wanted)} shares"
        raise UsageError(message, "Give two arms or more, and a share for each.")
    if (wanted <= 0).any():
        raise UsageError(f"a share of {wanted.min():g}", "Every arm has a share above 0.")
    total, wanted = int(observed.sum()), wanted / wanted.sum()
    if total == 0:
        return Significance(None, None, 0, "sample ratio", "no unit was assigned")
    if len(observed) == 2:
        from scipy.stats import binomtest

        exact = binomtest(int(observed[0]), total, float(wanted[0]))
        return Significance(int(observed[0]), float(exact.pvalue), total, "sample ratio, exact binomial")
    from scipy.stats import chisquare

    test = chisquare(observed, np.asarray(wanted * total))
    return Significance(float(test.statistic), float(test.pvalue), total, "sample ratio, chi-squared")


class AlwaysValid(Struct, frozen=True):
    """An interval that holds at all looks together, and a p-value of which the smallest so far may be taken."""

    difference: Estimate
    test: Significance


def always_valid(
    difference: float, se: float, planned_se: float, n: int | None = None, confidence: float = 0.95
) -> AlwaysValid:
    """Return the normal mixture of a difference whose estimate is near to normal.

    Lambda = sqrt(s² / (s² + t²)) · exp(t² d² / (2 s² (s² + t²))) for a difference d with standard error s and a mixture
    with variance t²; p is 1 / Lambda, and the interval holds the differences with p of at least alpha (Johari, Koomen,
    Pekelis and Walsh 2022, Operations Research 70:1806-1821; with estimated errors it holds for large
    samples: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, Ann. Stat. 52:2613-2640).

    Parameters
    ----------
    difference, se
        The estimate at this look and its standard error.
    planned_se
        The standard error expected at the planned end, fixed before the first look: there the interval is about the
        narrowest that it can be (t² = s² (-2 log alpha + log(1 - 2 log alpha)), as the latter chooses it).
    n
        The units behind the estimate.
    confidence
        The coverage of the interval at all looks together.

    Raises
    ------
    UsageError
        A standard error is not above 0, or the confidence outside 0 to 1.

    Examples
    --------
    >>> found = always_valid(0.5, 0.1, planned_se=0.1)
    >>> round(found.difference.low, 3), round(found.difference.high, 3), round(found.test.p_value, 4)
    (0.196, 0.804, 0.0)
    """
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence outside 0 to 1: {confidence:g}")
    for error in (se, planned_se):
        if not (error > 0 and isfinite(error)):
            raise UsageError(f"a standard error of {error:g}", "It is above 0.")
    alpha = 1 - confidence
    mixture = planned_se**2 * (-2 * log(alpha) + log(1 - 2 * log(alpha)))
    variance = se**2
    half = sqrt(variance * (variance + mixture) / mixture * (log((variance + mixture) / variance) - 2 * log(alpha)))
    exponent = mixture * difference**2 / (2 * variance * (variance + mixture))
    # Far from 0 the ratio itself is beyond the largest float.
    log_ratio = exponent - log((variance + mixture) / variance) / 2
    test = "mixture sequential probability ratio"
    return AlwaysValid(
        Estimate(difference, difference - half, difference + half, n, f"{test}, {100 * confidence:g}% at all looks"),
        Significance(difference / se, min(1.0, exp(-log_ratio)), n, f"{test}, at all looks"),
    )
