"""A noisy binary search finds the change with the confidence that it claims."""

import math
import random

import pytest

from misstep_harness.repair.failure_bot.change_search import STEADY, ChangePoint


def searched(count: int, change: int, rates: tuple[float, float], seed: int, told: bool = False) -> tuple[int, int]:
    chance = random.Random(seed)  # noqa: S311
    point = ChangePoint(count, prior=STEADY if told else None)
    point.rule_out(0)
    if told:
        point.record(count - 1, "failed")
    while point.best()[1] < 0.95:
        place = point.next()
        assert place is not None
        point.record(place, "failed" if chance.random() < rates[place >= change] else "passed")
    return point.best()[0][0], point.runs - told


@pytest.mark.parametrize("change", [1, 2, 77, 254, 255])
def test_a_test_known_not_to_be_flaky_takes_the_runs_of_a_plain_bisection(change: int) -> None:
    assert searched(256, change, (0, 1), 0, told=True) == (change, math.log2(256))


@pytest.mark.parametrize("change", [1, 20, 31])
def test_a_test_not_known_to_be_steady_costs_some_runs_more(change: int) -> None:
    result, runs = searched(32, change, (0, 1), 0)
    assert result == change
    assert runs <= 5 + 8


@pytest.mark.parametrize("rates", [(0.3, 1.0), (0.0, 0.7), (0.1, 0.9)])
def test_of_answers_at_95_percent_19_in_20_are_right(rates: tuple[float, float]) -> None:
    right = sum(searched(24, 1 + seed % 23, rates, seed)[0] == 1 + seed % 23 for seed in range(40))
    assert right >= 35  # 35 of 40 or fewer has a chance of 5% where each is right with 95%


def test_a_search_that_was_told_wrongly_goes_on_when_a_run_contradicts() -> None:
    point = ChangePoint(8, prior=STEADY)
    point.rule_out(0)
    for place, outcome in ((4, "failed"), (2, "passed"), (3, "passed")):
        point.record(place, outcome)  # type: ignore[arg-type]
    assert point.best() == (range(4, 5), pytest.approx(1, abs=0.01))
    point.record(6, "passed")
    assert point.best()[1] < 0.95
    assert point.next() is not None


def test_a_commit_without_the_test_is_before_the_change_for_certain() -> None:
    point = ChangePoint(16)
    point.record(9, "absent")
    assert sum(point.posterior[:10]) == 0


def test_beside_a_commit_that_cannot_be_run_the_search_goes_far_away() -> None:
    point = ChangePoint(100)
    point.rule_out(0)
    first = point.next() or 0
    point.record(first, "undecided")
    assert abs((point.next() or first) - first) > 10
