"""A number with its uncertainty: what every statistic returns."""

import math

from msgspec import Struct, structs


class Estimate(Struct, frozen=True):
    """A value with its interval, or the reason why there is none.

    `low` and `high` bound the 95% interval unless `method` says otherwise; `n` is the number of units behind it;
    what cannot be computed is `None`, never 0, and `reason` says why.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    method: str = ""
    reason: str = ""

    @classmethod
    def of(
        cls,
        value: float,
        low: float = math.nan,
        high: float = math.nan,
        *,
        n: int | None = None,
        method: str = "",
        reason: str = "",
    ) -> "Estimate":
        """An estimate from floats, NaN turned into `None`."""
        return cls(_or_none(value), _or_none(low), _or_none(high), n, method, reason)

    def negated(self) -> "Estimate":
        """A difference seen from the other side."""
        value, low, high = (None if end is None else -end for end in (self.value, self.high, self.low))
        return structs.replace(self, value=value, low=low, high=high)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
