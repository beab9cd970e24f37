"""The sample sizes behind a printed p-value: two shares and a p-value imply the size of equal arms.

n = z² · 2 · p̄ (1 - p̄) / d², with p̄ the mean share and d their difference: the pooled two-sided z test, solved for n.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from statistics import NormalDist

from msgspec import Struct

from misstep.analysis.audit.rounding_boxes import input_box, limit, printed_value, rounding_box
from misstep.analysis.published import Figure

_NORMAL = NormalDist()


class ArmSize(Struct, frozen=True):
    """The size of either of two equal arms at the figures as printed, and the range that their rounding leaves open.

    `at_printed` is `None` if the p-value is printed as a limit or the shares as equal; `high` may be infinite.
    """

    at_printed: float | None
    low: float
    high: float

    @property
    def words(self) -> str:
        """Return the range in words: "5,300 to 6,100", "at least 700"."""
        low = max(1, math.ceil(self.low))
        if math.isinf(self.high):
            return f"at least {low:,}"
        high = math.floor(self.high)
        return f"{low:,} to {high:,}" if low < high else f"about {high:,}"


def implied_arm_size(p_value: Figure, shares: Sequence[Figure | None]) -> ArmSize | None:
    """Return the size of equal arms at which a pooled two-sided z test of two shares gives a printed p-value.

    `None` if a share is not printed as a number, or is not one, or if the shares may be equal.
    """
    boxes = [None if share is None else input_box(share) for share in shares]
    first, second = boxes
    if first is None or second is None or (first.low <= second.high and second.low <= first.high):
        return None
    if any(box.high < 0 or box.low > 1 for box in (first, second)):
        return None
    ends = [(max(Fraction(0), box.low), min(Fraction(1), box.high)) for box in (first, second)]
    least, most = _p_values(p_value)
    # For one p-value the size falls as the shares move apart, and for one pair of shares as the p-value grows.
    sizes = [_size(float(a), float(b), p) for a, b in product(*ends) for p in (least, most)]
    exact = limit(p_value) is None and 0 < printed_value(p_value) < 1
    at_printed = _size(float(first.middle), float(second.middle), float(printed_value(p_value))) if exact else None
    return ArmSize(at_printed, min(sizes), max(sizes))


def _p_values(figure: Figure) -> tuple[float, float]:
    value, box = float(printed_value(figure)), rounding_box(figure)
    match limit(figure):
        case "below":
            return 0.0, value
        case "above":
            return value, 1.0
        case _:
            return max(0.0, float(box.low)), min(1.0, float(box.high))


def _size(first: float, second: float, p_value: float) -> float:
    if p_value <= 0:
        return math.inf
    mean = (first + second) / 2
    z = _NORMAL.inv_cdf(p_value / 2)
    return 2 * mean * (1 - mean) * z**2 / (first - second) ** 2
