"""Recovery as a curve over the rate at which agents heed guidance: that rate is drawn, and no figure should hang on it.

Sessions are put into strata by what their agent does with guidance. At a rate h a problem's agent follows guidance with
probability h and ignores it otherwise; agents that heed by half are a stratum of their own, outside of the curve.
"""

from collections.abc import Mapping, Sequence
from math import sqrt

from misstep_analysis.observer.recovery.problems import Problem, recovery_rate
from misstep_analysis.stats.estimate import Estimate
from misstep_harness.live_session import Heeds

METHOD = "strata by what agents do with guidance, weighted; square-and-add (MOVER) of their 95% intervals"


def recovery_at(rate: float, strata: Mapping[Heeds, Sequence[Problem]]) -> Estimate:
    """Return the recovery rate where agents follow guidance with probability `rate` and ignore it otherwise."""
    weights: dict[Heeds, float] = {"follows": rate, "ignores": 1 - rate}
    return mixed([(weight, recovery_rate(strata[name])) for name, weight in weights.items() if weight > 0])


def mixed(parts: Sequence[tuple[float, Estimate]]) -> Estimate:
    """Return a weighted sum of independent estimates; weights may be negative, as for a difference."""
    n = sum(one.n or 0 for _, one in parts)
    lacking = next((one.reason or "no interval" for _, one in parts if one.low is None or one.high is None), "")
    if any(one.value is None for _, one in parts):
        return Estimate(None, n=n, reason=lacking)
    value = sum(weight * (one.value or 0.0) for weight, one in parts)
    if lacking:
        return Estimate(value, n=n, method=METHOD, reason=lacking)
    below, above = (sqrt(sum(_reach(weight, one, upward=up) ** 2 for weight, one in parts)) for up in (False, True))
    return Estimate(value, value - below, value + above, n, METHOD)


def _reach(weight: float, one: Estimate, *, upward: bool) -> float:
    value, low, high = one.value or 0.0, one.low or 0.0, one.high or 0.0
    return weight * (high - value if upward is (weight > 0) else value - low)
