"""The change after which a test fails is found in a history of landed changes."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from misstep.harness.repair.failure_bot import bisect
from misstep.harness.repair.failure_bot.bisect import find_change
from misstep.harness.repair.failure_bot.change_point import STEADY, Outcome
from misstep.harness.repair.failure_bot.repository import Commit


def made(number: int, parents: tuple[str, ...], *, is_cut: bool = False) -> Commit:
    return Commit(f"{number:040d}", parents, "Ann", "a@b", datetime(2026, 1, 1, tzinfo=UTC), "s", is_cut)


HISTORY = [made(number, (f"{number - 1:040d}",)) for number in range(1, 33)]
FAILED: list[Outcome] = ["failed"] * 7


def broken_since(place: int, before: Outcome = "passed") -> Callable[[str], Outcome]:
    return lambda commit: "failed" if int(commit) > place else before


def test_the_first_commit_that_fails_is_blamed_and_each_run_is_told() -> None:
    told: list[float] = []
    answer = find_change(HISTORY, broken_since(20), at_newest=FAILED, on_run=lambda _, __, sure: told.append(sure))
    assert (answer.change, answer.decided) == (HISTORY[20], True)
    assert 0.95 <= answer.posterior == told[-1]
    assert answer.runs == len(told) <= 12


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
def test_at_the_end_of_the_history_only_a_first_commit_is_blamed(
    history: list[Commit], run: Callable[[str], Outcome], blamed: Commit | None
) -> None:
    answer = find_change(history, run, at_newest=FAILED)
    assert (answer.decided, answer.change) == (True, blamed)


def test_commits_that_cannot_be_run_are_answers_together() -> None:
    def run(commit: str) -> Outcome:
        return "undecided" if 10 <= int(commit) <= 12 else broken_since(11)(commit)

    answer = find_change(HISTORY, run, at_newest=FAILED)
    assert (answer.changes, answer.change) == (tuple(HISTORY[9:13]), None)


def test_a_search_that_uses_up_its_runs_blames_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bisect, "MOST_RUNS", 3)
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
