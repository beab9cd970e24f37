"""Arithmetic of printed figures: which whole counts a printed percentage allows (GRIM).

Printed figures are strings, since trailing zeros carry information: "49.0" allows fewer counts than "49".
"""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

from harness.errors import UsageError


def counts_that_print(percentage: str, n: int) -> tuple[int, ...]:
    """The counts k for which 100 k / n prints as `percentage`, under half-up or half-even rounding, in order.

    Parameters
    ----------
    percentage
        The digits as printed, without a sign: "5.21".
    n
        The denominator, a whole number above 0.

    Raises
    ------
    UsageError
        The percentage is outside 0 to 100, or n is not positive.

    Notes
    -----
    Brown and Heathers, "The GRIM test", Social Psychological and Personality Science 8 (2017).
    """
    printed = Decimal(percentage)
    if not 0 <= printed <= 100:
        raise UsageError(f"a percentage outside 0 to 100: {percentage}")
    if n <= 0:
        raise UsageError(f"a percentage needs a positive number of cases, not {n}")
    half_step = Fraction(1, 2 * 10 ** decimals(percentage))
    lowest = -(-(Fraction(printed) - half_step) * n // 100)
    highest = (Fraction(printed) + half_step) * n // 100
    return tuple(
        count for count in range(max(0, int(lowest)), min(n, int(highest)) + 1) if prints_as(count, n, percentage)
    )


def prints_as(count: int, n: int, percentage: str) -> bool:
    """Whether 100 count / n prints as `percentage`, under half-up or half-even rounding."""
    step = Decimal(1).scaleb(-decimals(percentage))
    share = Decimal(100 * count) / Decimal(n)
    return Decimal(percentage) in (share.quantize(step, ROUND_HALF_UP), share.quantize(step, ROUND_HALF_EVEN))


def decimals(printed: str) -> int:
    """How many digits stand behind the point."""
    return len(printed.partition(".")[2])
