"""Recovery over the heeding rate: the ends are the strata, what lies between is their mixture, with its interval."""

import pytest

from misstep_analysis.observer.recovery import RECOVERED, SESSION_OVER, Problem, mixed, recovery_at, recovery_rate
from misstep_analysis.stats.estimate import Estimate
from misstep_harness.live_session import Heeds


def _problems(kind: str, recovered: int, n: int) -> list[Problem]:
    events = [RECOVERED] * recovered + [SESSION_OVER] * (n - recovered)
    return [
        Problem(f"{kind}{place}", f"{kind}{place}", "guide", "infinite_loop", 1, 3, event)
        for place, event in enumerate(events)
    ]


STRATA: dict[Heeds, list[Problem]] = {"follows": _problems("f", 36, 40), "ignores": _problems("i", 6, 30), "half": []}


def test_the_ends_of_the_curve_are_the_strata() -> None:
    for rate, kind in ((1.0, "follows"), (0.0, "ignores")):
        end, alone = recovery_at(rate, STRATA), recovery_rate(STRATA[kind])
        assert (end.value, end.low, end.high) == pytest.approx((alone.value, alone.low, alone.high))


def test_between_them_recovery_is_a_mixture_whose_interval_is_narrower_than_the_ends_together() -> None:
    half = recovery_at(0.5, STRATA)
    assert half.value == pytest.approx(0.5 * 0.9 + 0.5 * 0.2)
    assert 0.2 < half.low < half.value < half.high < 0.9
    assert half.n == 70


def test_a_difference_reaches_as_newcombes_hybrid_score_interval() -> None:
    apart = mixed([(1.0, Estimate(0.8, 0.7, 0.88)), (-1.0, Estimate(0.5, 0.4, 0.6))])
    assert (apart.value, apart.low, apart.high) == pytest.approx((0.3, 0.3 - 0.02**0.5, 0.3 + 0.0164**0.5))


def test_a_stratum_without_problems_leaves_the_rate_undefined() -> None:
    empty = recovery_at(0.5, {**STRATA, "ignores": []})
    assert (empty.value, bool(empty.reason)) == (None, True)
