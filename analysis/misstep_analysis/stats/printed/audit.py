"""Whole counts, denominators and kappas that printed figures allow (GRIM).

Printed figures are strings, since trailing zeros carry information: "49.0" allows fewer counts than "49". Nobody prints
the rounding rule, so half-up and half-even are both accepted; and, of a tie that is not a
binary number, both neighbours: 115 of 200 is 57.5%, and prints as 58% or, where 0.575 is multiplied by 100, as 57%.

With n items of which `agree` are labelled alike, Cohen's kappa depends only on the product of the raters' margins, the
sum of r_i c_i over the labels.

Brown and Heathers, "The GRIM test", Social Psychological and Personality Science 8 (2017).
"""

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import ceil

from misstep_harness.errors import UsageError

Products = tuple[int, int]
"""The least and the greatest product of margins, both included."""


def kappa_of(n: int, agree: int, product: int) -> Fraction:
    """Cohen's kappa of n items, the agreements among them and the product of the margins, which is less than n²."""
    return Fraction(n * agree - product, n * n - product)


def possible_products(n: int, agree: int, labels: int) -> Products:
    """Bounds of the products of margins of all tables; the greatest is reached, the least nearly.

    The greatest has all agreements on one label and half of the disagreements in either direction of one pair. The
    least has all disagreements in one direction of one pair of labels, and the agreements spread evenly otherwise.
    """
    apart = n - agree
    # That table has u = (2 n - apart, apart), and v = 0 or, if the disagreements are odd, v = (1, -1).
    greatest = ((2 * n - apart) ** 2 + apart**2 - 2 * (apart % 2)) // 4
    few = labels * apart <= 2 * n
    least = Fraction(n * n, labels) - Fraction(apart**2, 2) if few else Fraction(agree**2, labels - 2)
    return max(0, ceil(least)), greatest


def kappa_limits(agreement: Fraction, labels: int) -> tuple[Fraction | None, Fraction | None]:
    """Below and above which no kappa lies that goes with a share of agreement, whatever the number of items.

    `None` where all agree and kappa is 1 or 0/0.
    """
    if agreement == 1:
        return None, None
    apart = 1 - agreement
    few = labels * apart <= 2
    least = Fraction(1, labels) - apart**2 / 2 if few else agreement**2 / Fraction(labels - 2)
    return -apart / (2 - apart), 1 - apart / (1 - least)


def counts_that_print(percentage: str, n: int) -> range:
    """Return the counts k for which 100 k / n prints as `percentage`: neighbours, so that only the ends are tried.

    Parameters
    ----------
    percentage
        The digits as printed, without a sign: "5.21".
    n
        The denominator, a whole number above 0.

    Raises
    ------
    UsageError
        The percentage is not a number or outside 0 to 100, or n is not positive.
    """
    if not 0 <= _number(percentage) <= 100:
        raise UsageError(f"a percentage outside 0 to 100: {percentage}")
    if n <= 0:
        raise UsageError(f"a percentage needs a positive number of cases, not {n}")
    steps = steps_that_print(percentage, Fraction(100, n), 100)
    return steps[max(0, -steps.start) : max(0, n + 1 - steps.start)]


def steps_that_print(printed: str, step: Fraction, times: int = 1) -> range:
    """Return the whole numbers k for which k x step prints as `printed`: neighbours, so that only the ends are tried.

    Parameters
    ----------
    printed
        The digits as printed, with a sign where it is negative.
    step
        What one more is worth, above 0.

    Raises
    ------
    UsageError
        `printed` is not a number.
    """
    low, high = rounding_interval(printed)
    first, last = math.ceil(low / step), math.floor(high / step)
    if first <= last and not value_prints_as(first * step, printed, times):
        first += 1
    if first <= last and not value_prints_as(last * step, printed, times):
        last -= 1
    return range(first, last + 1)


def prints_as(count: int, n: int, percentage: str) -> bool:
    """Return whether 100 count / n prints as `percentage`."""
    return value_prints_as(Fraction(100 * count, n), percentage, 100)


def denominators_that_print(percentage: str, n_max: int, n_min: int = 1) -> dict[int, range]:
    """Return every denominator up to `n_max` out of which a percentage can come, with its counts.

    Parameters
    ----------
    percentage
        The digits as printed.
    n_max, n_min
        The largest and the smallest denominator tried.

    Raises
    ------
    UsageError
        The percentage is not a number or outside 0 to 100, or the denominators are not positive.
    """
    fitting = {n: counts_that_print(percentage, n) for n in range(n_min, n_max + 1)}
    return {n: counts for n, counts in fitting.items() if counts}


def rounding_interval(printed: str) -> tuple[Fraction, Fraction]:
    """Return the lowest and the highest value that could print like this, both ends included.

    Raises
    ------
    UsageError
        It is not a number.
    """
    number, half_step = Fraction(_number(printed)), Fraction(1, 2 * 10 ** decimals(printed))
    return number - half_step, number + half_step


def value_prints_as(value: Fraction, printed: str, times: int = 1) -> bool:
    """Return whether an exact value, rounded to as many digits as are printed, prints as `printed`.

    Parameters
    ----------
    value, printed
        The value, and the digits as printed.
    times
        What the value was multiplied by before it was rounded: 100 for a percentage.
    """
    steps = 10 ** decimals(printed)
    exact, shown = value * steps, Fraction(_number(printed)) * steps
    apart = abs(exact - shown)
    if apart != Fraction(1, 2):
        return bool(apart < Fraction(1, 2))
    # Software rounds the nearest binary number, and of a tie that has none of its own that may lie on either side.
    before = (value / times).denominator
    is_binary = before & (before - 1) == 0
    # Rounded away from 0 (half-up) or to the even neighbour (half-even).
    return not is_binary or abs(shown) > abs(exact) or shown % 2 == 0


def decimals(printed: str) -> int:
    """Return how many digits stand behind the point."""
    return len(printed.partition(".")[2])


def _number(printed: str) -> Decimal:
    try:
        number = Decimal(printed)
    except InvalidOperation:
        raise UsageError(f"no number: {printed!r}", "Give the digits as printed, without a sign or unit.") from None
    if not number.is_finite():
        raise UsageError(f"no finite number: {printed!r}")
    return number
