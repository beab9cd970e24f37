"""A test command is run on the tree of a commit, in the sandbox, and says which tests fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from misstep_harness.repair.failure_bot.reproduce import CommitRuns, failing_tests, outcome_of
from misstep_harness.workspace import Sandbox, python_toolchain
from misstep_harness.workspace.repository import Repository
from misstep_harness.workspace.suite.report import FailedTest, SuiteReport
from tests.harness.repair.failure_bot.histories import COMMAND, TEST, broken_at

FAILED = FailedTest("a.py::test_a", "no", "trace")


@pytest.fixture
def runs(tmp_path: Path, sandbox: Sandbox) -> Iterator[CommitRuns]:
    repo, _ = broken_at(tmp_path / "made", 1, 2)
    (repo.folder / "price.py").write_text("raise SystemExit\n")  # what is in the work tree does not count
    with (
        Repository(repo.folder) as repository,
        CommitRuns(repository, COMMAND, sandbox=sandbox, toolchain=python_toolchain()) as runs,
    ):
        yield runs


def test_the_tests_that_fail_at_a_commit_are_named_with_message_and_trace(runs: CommitRuns) -> None:
    failing = failing_tests(runs.report(runs.repository.head.id), runs.command)
    assert [(test.id, test.message) for test in failing] == [(TEST, "AssertionError: 2 != 3")]
    assert "test_price.py" in failing[0].trace
    parent = runs.repository.head.parents[0]
    assert failing_tests(runs.report(parent), runs.command) == ()
    assert runs.outcome(parent, TEST) == "passed"
    assert runs.outcome(runs.repository.head.id, TEST) == "failed"


def test_a_test_that_is_flaky_by_the_order_of_hashes_may_pass_and_fail(runs: CommitRuns) -> None:
    workspace = runs.workspace(runs.repository.head.id)
    results = {workspace.run(["python", "-c", "print(hash('a'))"]).output for _ in range(2)}
    assert len(results) == 2


def test_each_run_finds_the_tree_as_it_was_committed(runs: CommitRuns) -> None:
    head = runs.repository.head.id
    runs.workspace(head).write("price.py", b"def total(prices):\n    return sum(prices)\n")
    assert runs.outcome(head, TEST) == "failed"


def test_pytest_names_a_file_that_cannot_be_imported_so_that_it_runs_again(tmp_path: Path, sandbox: Sandbox) -> None:
    repo, ids = broken_at(tmp_path / "made", 9, 1)
    ids.append(repo.commit({"price.py": "def total(:\n"}))
    with (
        Repository(repo.folder) as repository,
        CommitRuns(repository, "python -m pytest -q", sandbox=sandbox, toolchain=python_toolchain()) as runs,
    ):
        assert [test.id for test in failing_tests(runs.report(ids[1]), runs.command)] == ["test_price.py"]
        assert runs.outcome(ids[1], "test_price.py") == "failed"
        assert runs.outcome(ids[1], "test_price.py::Price::test_total") == "undecided"
        assert runs.outcome(ids[0], "test_price.py::Price::test_absent") == "absent"


def test_unittest_says_of_a_test_that_it_is_not_there(runs: CommitRuns) -> None:
    head = runs.repository.head.id
    for test in ("test_price.Price.test_absent", "test_price.Absent.test_total", "test_absent.Price.test_total"):
        assert runs.outcome(head, test) == "absent"


def test_a_test_that_cannot_be_imported_is_not_taken_for_absent() -> None:
    loading = FailedTest("unittest.loader._FailedTest.test_price", "ModuleNotFoundError: No module named 'numbers2'")
    report = SuiteReport(passed=False, ran=1, exit_code=1, failed=(loading,))
    assert outcome_of(report, TEST) == "undecided"


def test_a_command_that_names_no_test_fails_as_a_whole() -> None:
    report = SuiteReport(passed=False, exit_code=2, output="line\nmake: no\n")
    (failed,) = failing_tests(report, "make check")
    assert (failed.id, failed.message) == ("", "make: no")
    assert outcome_of(report, "") == "failed"
    stopped = SuiteReport(passed=False, exit_code=None, ended="time")
    assert "longer than the limit" in failing_tests(stopped, "make check")[0].message


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (SuiteReport(passed=False, exit_code=127, output="sh: nose: not found"), "cannot be started"),
        (SuiteReport(passed=False, ran=0, exit_code=5), "runs no test"),
    ],
)
def test_a_command_that_runs_no_test_is_an_error(report: SuiteReport, message: str) -> None:
    with pytest.raises(InputError, match=message):
        failing_tests(report, "python -m pytest")


@pytest.mark.parametrize(
    ("report", "outcome"),
    [
        (SuiteReport(passed=True, ran=1), "passed"),
        (SuiteReport(passed=False, ran=1, failed=(FAILED,), exit_code=1), "failed"),
        (SuiteReport(passed=False, ran=0, exit_code=4), "absent"),
        (SuiteReport(passed=False, ran=0, skipped=1, exit_code=0), "absent"),
        (SuiteReport(passed=False, ran=1, failed=(FailedTest("a.py"),), exit_code=2), "undecided"),
        (SuiteReport(passed=False, ran=None, exit_code=4), "undecided"),
        (SuiteReport(passed=False, ended="time", exit_code=None), "undecided"),
        (SuiteReport(passed=False, exit_code=127), "undecided"),
    ],
)
def test_what_a_run_says_of_one_test(report: SuiteReport, outcome: str) -> None:
    assert outcome_of(report, FAILED.id) == outcome
