"""Exact values printed by the rounding rules of common software."""

from fractions import Fraction
from typing import Literal

Rule = Literal["half_up", "half_even", "binary"]
SOUND_RULES: tuple[Rule, ...] = ("half_up", "half_even", "binary")
"""Ties away from zero or to even, or the format of the nearest binary number."""


def rounded(value: Fraction, digits: int, rule: Rule) -> str:
    """Return an exact value with so many digits behind the point."""
    if rule == "binary":
        text = format(float(value), f".{digits}f")
        return text if Fraction(text) else text.lstrip("-")
    scaled = abs(value) * 10**digits
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    twice = 2 * rest - scaled.denominator
    whole += twice > 0 or (twice == 0 and (rule == "half_up" or whole % 2 == 1))
    text = f"{whole:0{digits + 1}d}"
    sign = "-" if value < 0 and whole else ""
    return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)
