"""The change after which a test fails is found in a history of landed changes."""

from datetime import UTC, datetime

from misstep.harness.repair.failure_bot.bisect import find_change
from misstep.harness.repair.failure_bot.change_point import STEADY, Outcome
from misstep.harness.repair.failure_bot.repository import Commit

HISTORY = [
    Commit(f"{number:040d}", (f"{number - 1:040d}",), "Ann", "a@b", datetime(2026, 1, 1, tzinfo=UTC), "s")
    for number in range(1, 33)
]


def broken_since(place: int) -> object:
    def run(commit: str) -> Outcome:
        return "failed" if int(commit) > place else "passed"

    return run


def test_the_first_commit_that_fails_is_blamed() -> None:
    told: list[float] = []
    found = find_change(
        HISTORY,
        broken_since(20),  # type: ignore[arg-type]
        at_newest=["failed"] * 7,
        on_run=lambda _, __, posterior: told.append(posterior),
    )
    assert found.change == HISTORY[20]
    assert found.decided
    assert found.posterior >= 0.95
    assert found.runs == len(told) <= 12
    assert told[-1] == found.posterior


def test_runs_at_the_newest_commit_are_evidence_and_are_not_counted() -> None:
    found = find_change(HISTORY, broken_since(20), at_newest=["failed"], prior=STEADY)  # type: ignore[arg-type]
    assert (found.change, found.runs) == (HISTORY[20], 5)


def test_a_test_that_fails_all_along_has_no_change_to_blame() -> None:
    found = find_change(HISTORY, lambda _: "failed", at_newest=["failed"] * 7)
    assert (found.decided, found.changes) == (True, ())


def test_the_first_commit_of_all_can_be_blamed() -> None:
    root = Commit("0" * 40, (), "Ann", "a@b", datetime(2026, 1, 1, tzinfo=UTC), "s")
    found = find_change([root, *HISTORY], lambda _: "failed", at_newest=["failed"] * 7)
    assert found.change == root


def test_where_a_shallow_clone_ends_nobody_is_blamed() -> None:
    cut = Commit("0" * 40, (), "Ann", "a@b", datetime(2026, 1, 1, tzinfo=UTC), "s", is_cut=True)
    assert find_change([cut, *HISTORY], lambda _: "failed", at_newest=["failed"] * 7).change is None


def test_the_change_that_brought_a_failing_test_is_blamed() -> None:
    found = find_change(HISTORY, lambda at: "failed" if int(at) > 9 else "absent", at_newest=["failed"] * 7)
    assert found.change == HISTORY[9]


def test_where_commits_cannot_be_run_all_of_them_are_answers() -> None:
    def run(commit: str) -> Outcome:
        return "undecided" if 10 <= int(commit) <= 12 else "failed" if int(commit) > 11 else "passed"

    found = find_change(HISTORY, run, at_newest=["failed"] * 7)
    assert found.changes == tuple(HISTORY[9:13])
    assert found.change is None


def test_a_search_that_uses_up_its_runs_blames_nobody() -> None:
    found = find_change(HISTORY, broken_since(20), at_newest=["failed"], most_runs=3)  # type: ignore[arg-type]
    assert (found.decided, found.changes, found.runs) == (False, (), 3)


def test_a_suspected_change_is_affirmed_in_few_runs() -> None:
    asked: list[str] = []

    def run(commit: str) -> Outcome:
        asked.append(commit)
        return "failed" if int(commit) > 20 else "passed"

    suspected = {HISTORY[20].id: 50.0}
    found = find_change(HISTORY, run, at_newest=["failed"] * 7, suspected=suspected)
    assert found.change == HISTORY[20]
    assert set(asked) <= {HISTORY[19].id, HISTORY[20].id}
