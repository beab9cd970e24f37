"""A noisy binary search finds the change with the confidence that it claims."""

import math
import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from misstep.harness.repair.failure_bot import change_point
from misstep.harness.repair.failure_bot.change_point import STEADY, ChangePoint, Outcome, find_change
from misstep.harness.repair.failure_bot.repository import Commit


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


def made(number: int, parents: tuple[str, ...], *, is_cut: bool = False) -> Commit:
    return Commit(f"{number:040d}", parents, "Ann", "a@b", datetime(2026, 1, 1, tzinfo=UTC), "s", is_cut)


HISTORY = [made(number, (f"{number - 1:040d}",)) for number in range(1, 33)]
FAILED: list[Outcome] = ["failed"] * 7


def broken_since(place: int, before: Outcome = "passed") -> Callable[[str], Outcome]:
    return lambda commit: "failed" if int(commit) > place else before


def test_the_first_commit_that_fails_is_blamed_and_each_run_is_told() -> None:
    chances: list[float] = []
    answer = find_change(HISTORY, broken_since(20), at_newest=FAILED, on_run=lambda _, __, sure: chances.append(sure))
    assert (answer.change, answer.decided) == (HISTORY[20], True)
    assert 0.95 <= answer.posterior == chances[-1]
    assert answer.runs == len(chances) <= 12


def test_runs_at_the_newest_commit_are_evidence_and_are_not_counted() -> None:
    answer = find_change(HISTORY, broken_since(20), at_newest=["failed"], prior=STEADY)
    assert (answer.change, answer.runs) == (HISTORY[20], 5)


ROOT, CUT = made(0, ()), made(0, (), is_cut=True)


@pytest.mark.parametrize(
    ("history", "run", "blamed"),
    [
        (HISTORY, broken_since(-1), None),  # it fails all along
        ([ROOT, *HISTORY], broken_since(-1), ROOT),  # the first commit of all can be blamed
        ([CUT, *HISTORY], broken_since(-1), None),  # the end of a shallow clone cannot
        (HISTORY, broken_since(9, "absent"), HISTORY[9]),  # the change that brought a failing test
    ],
)
def test_at_the_end_of_the_history_only_a_first_commit_is_blamed(history, run, blamed) -> None:
    answer = find_change(history, run, at_newest=FAILED)
    assert (answer.decided, answer.change) == (True, blamed)


def test_commits_that_cannot_be_run_are_answers_together() -> None:
    def run(commit: str) -> Outcome:
        return "undecided" if 10 <= int(commit) <= 12 else broken_since(11)(commit)

    answer = find_change(HISTORY, run, at_newest=FAILED)
    assert (answer.changes, answer.change) == (tuple(HISTORY[9:13]), None)


def test_a_search_that_uses_up_its_runs_blames_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_point, "MOST_RUNS", 3)
    answer = find_change(HISTORY, broken_since(20), at_newest=["failed"])
    assert (answer.decided, answer.changes, answer.runs) == (False, (), 3)


def test_a_suspected_change_is_affirmed_in_few_runs() -> None:
    asked: set[str] = set()

    def run(commit: str) -> Outcome:
        asked.add(commit)
        return broken_since(20)(commit)

    answer = find_change(HISTORY, run, at_newest=FAILED, suspected={HISTORY[20].id: 50.0})
    assert answer.change == HISTORY[20]
    assert asked <= {HISTORY[19].id, HISTORY[20].id}
