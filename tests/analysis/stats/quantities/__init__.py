"""What the reference cases call a quantity, and the function here that computes it: one module a subject."""

from msgspec import Struct

from misstep_analysis.stats.estimate import Estimate


class Undefined(Struct, frozen=True):
    """What a statistic gives where it is 0/0."""

    reason: str


def value_or_reason(value: float | None, reason: str) -> float | Undefined:
    return Undefined(reason) if value is None else value


def limits(estimate: Estimate) -> list[float] | Undefined:
    """An interval, or why there is none."""
    if estimate.low is None or estimate.high is None:
        return Undefined(estimate.reason)
    return [estimate.low, estimate.high]
