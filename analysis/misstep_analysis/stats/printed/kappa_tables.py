"""Cohen's kappa of two raters, and its limits by the number of items that both label alike.

With n items of which `agree` are labelled alike, kappa depends only on the product of the raters' margins, the sum of
r_i c_i over the labels.
"""

from fractions import Fraction
from math import ceil

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
