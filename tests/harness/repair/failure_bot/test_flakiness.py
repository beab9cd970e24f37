"""A test is failing, passing or flaky with a probability, in no more runs than that takes."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from misstep.harness.errors import InputError
from misstep.harness.repair.failure_bot import flakiness
from misstep.harness.repair.failure_bot.flakiness import Recorded, estimate, read_record, rerun


def always_failing(tests: Sequence[str]) -> dict[str, bool]:
    return dict.fromkeys(tests, True)


def record(*outcomes: str) -> list[Recorded]:
    """A record with one outcome a commit, `F` or `P`, or several of a commit."""
    return [Recorded("t", f"c{at}", one == "F") for at, several in enumerate(outcomes) for one in several]


def test_the_posterior_is_that_of_the_written_formula() -> None:
    # 0.84 · 1/2 against 0.16 · B(1 + 3, 1) = 0.16 / 4
    assert estimate(3, 3).failing == pytest.approx(0.42 / (0.42 + 0.04))
    assert estimate(0, 3).passing == pytest.approx(0.42 / (0.42 + 0.04))
    assert (estimate(1, 2).state, estimate(1, 2).flaky) == ("flaky", 1)
    for shares in (estimate(4, 4), estimate(0, 2), estimate(2, 5, record("P", "F", "PF"))):
        assert shares.failing + shares.flaky + shares.passing == pytest.approx(1)


@pytest.mark.parametrize(
    ("outcomes", "most", "result"),
    [
        ("FFFFFFFFF", 20, ("failing", 7, 7, 0)),
        ("FPF", 20, ("flaky", 3, 2, 0)),  # runs end with the first contradiction
        ("FFFFFFFFF", 3, ("undecided", 3, 3, 0)),
        ("---", 20, ("undecided", 1, 1, 2)),  # a run that does not show a test is neither a pass nor a failure
    ],
)
def test_a_test_is_run_again_until_it_is_decided(monkeypatch, outcomes, most, result) -> None:
    monkeypatch.setattr(flakiness, "_MOST_RUNS", most)
    runs = iter(outcomes)
    test = rerun(lambda _: {} if (one := next(runs)) == "-" else {"t": one == "F"}, ["t"])["t"]
    assert (test.state, test.runs, test.failures, test.unseen) == result


def test_no_test_is_failing_by_one_run_whatever_is_held_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flakiness, "_FLAKY", 0.001)
    assert estimate(1, 1).state == "failing"
    assert rerun(always_failing, ["t"])["t"].runs == 2


def test_only_tests_that_are_not_decided_are_run_again() -> None:
    asked: list[list[str]] = []

    def run(tests: Sequence[str]) -> dict[str, bool]:
        asked.append(list(tests))
        return {test: test == "broken" for test in tests}

    rerun(run, ["broken", "flaky"])
    assert asked[0] == ["broken", "flaky"]
    assert all(tests == ["broken"] for tests in asked[1:])


def test_a_record_of_changing_outcomes_makes_a_flaky_test_likelier() -> None:
    unsteady, steady = record(*"PFPPFPFF"), record(*"PPPPPPPP")
    assert estimate(2, 2, unsteady).flaky > 0.7 > 0.5 > estimate(2, 2).flaky
    assert estimate(2, 2, steady).flaky < 0.2


def test_one_failure_after_a_record_that_hardly_fails_is_not_yet_a_failing_test() -> None:
    seldom, never = record(*"P" * 60, "F", *"P" * 39), record(*"P" * 100)
    assert [estimate(1, 1, each).state for each in (seldom, never)] == ["undecided", "undecided"]
    assert [estimate(2, 2, each).state for each in (seldom, never)] == ["failing", "failing"]
    assert 0.01 < estimate(0, 0, seldom).rate < 0.03


def test_a_record_with_both_outcomes_at_a_commit_leaves_flaky_or_broken_for_good() -> None:
    recorded = record("P", "PF", "P", "FP")
    assert estimate(0, 3, recorded).passing == 0
    assert estimate(3, 3, recorded).flaky > estimate(9, 9, recorded).flaky
    assert estimate(30, 30, recorded).state == "failing"


def test_a_record_is_read_from_csv_and_from_sqlite(tmp_path: Path) -> None:
    rows = [("t", "a", "passed"), ("t", "b", "failed"), ("t", "c", "skipped")]
    table = tmp_path / "outcomes.csv"
    table.write_text("test,commit,outcome,when\n" + "".join(f"{','.join(row)},now\n" for row in rows))
    base = tmp_path / "outcomes.db"
    with sqlite3.connect(base) as database:
        database.execute('CREATE TABLE outcomes (test, "commit", outcome)')
        database.executemany("INSERT INTO outcomes VALUES (?, ?, ?)", rows)
    database.close()
    expected = [Recorded("t", "a", failed=False), Recorded("t", "b", failed=True)]
    assert read_record(table) == read_record(base) == expected


@pytest.mark.parametrize("content", [b"test,result\n", b"SQLite format 3\0 and no more", b"\xff\xfe\x00"])
def test_a_record_of_another_form_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "record").write_bytes(content)
    with pytest.raises(InputError, match="record"):
        read_record(tmp_path / "record")
