"""A difference that may be looked at as often as one likes while the data come in: always-valid intervals and p-values.

A p-value below 0.05 holds for one look, at an end that was fixed beforehand. Whoever looks daily and stops at the first
one below 0.05 is wrong far more often. The mixture sequential probability ratio test holds its level over all looks
together, however many there are and whenever one stops; its price is a wider interval at each.
"""

from math import exp, isfinite, log, sqrt

from msgspec import Struct

from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.significance import Significance
from misstep.harness.errors import UsageError


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
