"""The limit that moves is what it says, and `--concurrency auto` keeps to it: minutes of virtual time."""

import pytest

from benchmarks.rates.moving_limit import LATENCY_SECONDS, MODES, Mode, MovingLimit, Schedule, schedule
from benchmarks.rates.simulation import simulate
from misstep.harness.clients.rates.adaptive_concurrency import AdaptiveConcurrency
from misstep.harness.clients.rates.told_limits import ToldLimits

STEPS = Schedule((20.0, 50.0, 15.0), 30.0)
TUNED_ON = 5


def test_what_is_allowed_is_the_sum_over_the_steps() -> None:
    assert STEPS.until == 90
    assert STEPS.allowed(45) == 20 * 30 + 50 * 15
    assert STEPS.allowed(STEPS.until) == 30 * (20 + 50 + 15)


def test_a_schedule_follows_from_its_seed_and_moves_at_every_step() -> None:
    made = schedule(3, 6, 30.0)
    assert made == schedule(3, 6, 30.0)
    assert all(max(a / b, b / a) >= 1.4 for a, b in zip(made.limits, made.limits[1:], strict=False))


@pytest.mark.parametrize("mode", ["rate", "rate, told"])
def test_a_bucket_lets_through_its_rate_and_names_when_there_is_more(mode: Mode) -> None:
    limit = MovingLimit(mode, STEPS, 0)
    seconds = [tick / 1000 for tick in range(1000, 21_000)]
    let_in = [limit.come(now) for now in seconds]
    assert sum(one.status == 200 for one in let_in) == pytest.approx(20 + 20 * 20, abs=1)
    assert {one.fields["Retry-After"] for one in let_in if one.status == 429} == {"1"}
    assert all(("x-ratelimit-remaining-requests" in one.fields) == (mode == "rate, told") for one in let_in)


def test_a_server_with_too_much_to_do_gets_slower_and_then_refuses() -> None:
    limit = MovingLimit("load", STEPS, 0)
    places = int(20 * LATENCY_SECONDS)
    came = [limit.come(0.0) for _ in range(2 * places + 1)]
    assert [one.status for one in came] == [200] * 2 * places + [503]
    limit.gone()
    limit.gone()
    assert limit.come(0.0).status == 200


@pytest.mark.parametrize("mode", MODES)
def test_most_of_what_is_allowed_is_answered_and_hardly_anything_refused(mode: Mode) -> None:
    limits = schedule(TUNED_ON, 4, 30.0)
    counted = simulate([AdaptiveConcurrency(), ToldLimits()], mode, limits, TUNED_ON)
    assert counted.share >= 0.9
    assert counted.share_refused <= 0.01
