"""The result of a test of a hypothesis: what every test returns."""

import math

from msgspec import Struct


class Significance(Struct, frozen=True):
    """A test statistic with its p-value, or the reason why there is none.

    `p_value` is two-sided unless `test` says otherwise; `n` is the number of units behind it; what is 0/0 is `None`,
    never 0 or 1, and `reason` says why. A p-value that is defined by convention has a reason, too.
    """

    statistic: float | None
    p_value: float | None
    n: int | None = None
    test: str = ""
    reason: str = ""


def normal_p_value(z: float) -> float:
    """Return the two-sided p-value of a normal statistic, exact to the last digits however small."""
    return math.erfc(abs(z) / math.sqrt(2))
