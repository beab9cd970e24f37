"""A number with its uncertainty: what every statistic returns.

How many clusters an interval over clusters takes: the one rule for all figures that are shown with one.

The spread of two or three clusters leaves everything between hardly any and nearly all open, and an interval that says
so reads as if it had been measured.
"""

import math
from statistics import NormalDist

from msgspec import Struct, structs

FEWEST_CLUSTERS = 5

TOO_FEW = "too few"


class Estimate(Struct, frozen=True):
    """A value with its interval, or the reason why there is none.

    `low` and `high` bound the 95% interval unless `method` says otherwise; `n` is the number of units behind it;
    what cannot be computed is `None`, never 0, and `reason` says why. An interval without width is none: resamples or
    items that are all alike leave the uncertainty unknown.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    method: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        """Take out an interval without width, however it came about."""
        if self.low is not None and self.high is not None and abs(self.high - self.low) < NO_WIDTH:
            structs.force_setattr(self, "low", None)
            structs.force_setattr(self, "high", None)
            structs.force_setattr(self, "reason", "; ".join(filter(None, (self.reason, FLAT))))

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
        """Return an estimate from floats, NaN turned into `None`."""
        return cls(or_none(value), or_none(low), or_none(high), n, method, reason)

    def negated(self) -> "Estimate":
        """Return a difference seen from the other side."""
        value, low, high = (None if end is None else -end for end in (self.value, self.high, self.low))
        return structs.replace(self, value=value, low=low, high=high)


def bounded(estimate: Estimate, clusters: int, noun: str = "cluster") -> Estimate:
    """Return an estimate over so many clusters without the interval that fewer than five cannot give.

    Examples
    --------
    >>> bounded(Estimate(0.5, 0.001, 0.999, 7), 2, "task").reason
    '2 tasks are too few'
    """
    if estimate.value is None or clusters >= FEWEST_CLUSTERS:
        return estimate
    few = f"{clusters} {noun}{' is' if clusters == 1 else 's are'} {TOO_FEW}"
    return structs.replace(estimate, low=None, high=None, reason=few)


NO_WIDTH = 1e-12
"""An interval narrower than this is a point and rounding errors."""

FLAT = "an interval without width says nothing of the uncertainty"

TELLS_NOTHING = "everything from 0% to 100% is left open"


def informative(share: Estimate) -> Estimate:
    """Return a share, undefined where its interval is all that a share can be: then nothing is known of it."""
    if share.low is None or share.high is None or share.low > NO_WIDTH or share.high < 1 - NO_WIDTH:
        return share
    return Estimate(None, n=share.n, method=share.method, reason=TELLS_NOTHING)


class Coefficient(Struct, frozen=True):
    """A coefficient of agreement and what it is made of.

    `observed` and `expected` are agreement, or for alpha disagreement; `se` is the sampling standard error, for an
    interval, and `se_null` the one where agreement is by chance, for a test; `n` counts items, for alpha pairable
    ratings.
    """

    value: float | None
    observed: float | None = None
    expected: float | None = None
    se: float | None = None
    se_null: float | None = None
    n: int = 0
    reason: str = ""

    def z_interval(self) -> tuple[float, float] | None:
        """Return the normal 95% interval, as usual for Cohen's kappa, cut at -1 and 1; `None` without an error."""
        return self._interval(NormalDist().inv_cdf(0.975))

    def t_interval(self) -> tuple[float, float] | None:
        """Return the 95% interval by Student's t with n - 1 degrees of freedom, as Gwet gives it, cut at -1 and 1."""
        from scipy.special import stdtrit

        return self._interval(float(stdtrit(self.n - 1, 0.975)))

    def _interval(self, quantile: float) -> tuple[float, float] | None:
        if self.value is None or self.se is None:
            return None
        least = min(-1.0, self.value)  # Fleiss' kappa of incomplete ratings may be below -1
        return max(least, self.value - quantile * self.se), min(1.0, self.value + quantile * self.se)

    def estimate(self, interval: tuple[float, float] | None, method: str) -> Estimate:
        """Return the coefficient with an interval and how that was made."""
        if self.value is None or interval is None:
            return Estimate(self.value, n=self.n, reason=self.reason or "too few items for a standard error")
        return Estimate(self.value, *interval, self.n, method, "the standard error is 0" if self.se == 0 else "")


def or_none(value: float) -> float | None:
    """Return a number, or `None` for NaN."""
    return None if math.isnan(value) else float(value)
