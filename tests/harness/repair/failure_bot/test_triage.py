"""From a repository with a failing test to a task, a decision and a repair case."""

from itertools import cycle
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_harness.repair.case import read_case
from misstep_harness.repair.failure_bot import reproduce, rules, triage
from misstep_harness.repair.failure_bot.change_search import STEADY
from misstep_harness.repair.failure_bot.tasks import RepairTask, TaskStore, task_text, write_task_case
from misstep_harness.repair.failure_bot.triage import Triaged, triage_repository
from misstep_harness.repair.records import RepairAttempt
from misstep_harness.repair.runs.repository import (
    RepositoryTests,
    attach_patch,
    cases_of_repository,
    objections_now,
    reject_patch,
)
from misstep_harness.repair.scoring import affirm
from misstep_harness.workspace import Limits, Sandbox, python_toolchain
from misstep_harness.workspace.suite.report import FailedTest, SuiteReport
from tests.harness.repair.failure_bot.histories import BROKEN, COMMAND, PRICE, TEST, TESTS, MadeRepository, broken_at


def triaged(folder: Path, sandbox: Sandbox, command: str = COMMAND, **options: object) -> list[Triaged]:
    return triage_repository(folder, command, sandbox=sandbox, toolchain=python_toolchain(), **options)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few runs tell what a test is, as hardly any test is held to be flaky."""
    monkeypatch.setattr(triage, "_PRIOR", STEADY)
    monkeypatch.setattr(rules, "_FLAKY", 0.01)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> tuple[MadeRepository, list[str]]:
    return broken_at(tmp_path_factory.mktemp("broken") / "made", 3, 6)


def test_a_failing_test_becomes_a_task_and_a_repair_case_with_blamed_change_and_owner(
    broken: tuple[MadeRepository, list[str]], sandbox: Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, ids = broken
    store = TaskStore(tmp_path / "tasks.db")
    (result,) = triaged(made.folder, sandbox, store=store)
    task = result.task
    assert (task.tests, task.message, task.commit) == ((TEST,), "AssertionError: 2 != 3", ids[-1])
    assert (task.blame, task.owner) == (ids[3], "Ben <ben@example.org>")
    assert "-    return sum(prices)\n+    return sum(prices[1:])" in task.diff
    assert "test_total" in task.trace
    assert result.decision.run
    assert store.tasks() == [task]
    stages = [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()]
    assert list(dict.fromkeys(stages)) == ["reproduce", "flakiness", "group", "bisect", "blame", "task"]
    write_task_case(task, made.folder, tmp_path / "case-1")
    case = read_case(tmp_path / "case-1")
    assert case.case.oracle == (TEST,)
    described = case.case.diffs[ids[3][:10]]
    assert described.startswith("Title: ")
    assert described.endswith(task.diff)
    assert (case.before / "price.py").read_text() == (made.folder / "price.py").read_text()
    assert "AssertionError: 2 != 3" in case.case.task
    assert ids[3][:10] in task_text(task)


@pytest.mark.parametrize(
    ("command", "tests"),
    [
        ("python -m unittest discover -p 'test_*.py'", (TEST,)),
        ("cd . && python -m unittest -v 2>&1 | cat", (TEST,)),
        ("make check", (TEST,)),
        ("python -m pytest -q", ("test_price.py::Price::test_total",)),
        ("python check.py", ("",)),
    ],
)
def test_a_constant_failure_is_failing_and_blamed_however_its_tests_are_run(sandbox, tmp_path, command, tests) -> None:
    repository = MadeRepository(tmp_path / "made")
    script = "from price import total\nassert total([1, 2]) == 3, total([1, 2])\n"
    make = "check:\n\tpython -m unittest discover\n"
    repository.commit({"price.py": PRICE, "test_price.py": TESTS, "check.py": script, "Makefile": make})
    bad = repository.commit({"price.py": BROKEN})
    repository.commit({"notes.txt": "later"})
    (result,) = triaged(repository.folder, sandbox, command=command)
    assert (result.flakiness.state, result.task.tests, result.task.blame) == ("failing", tests, bad)
    assert result.decision.run
    case = write_task_case(result.task, repository.folder, tmp_path / "case")
    assert affirm(read_case(tmp_path / "case"), sandbox).holds
    assert case.language == "python"


@pytest.mark.parametrize("command", ["python -m pytest -q", COMMAND])
def test_the_rename_of_a_test_s_file_is_no_change_to_blame(sandbox: Sandbox, tmp_path: Path, command: str) -> None:
    repository = MadeRepository(tmp_path / "made")
    repository.commit({"price.py": PRICE, "test_price.py": TESTS})
    bad = repository.commit({"price.py": BROKEN})
    repository.commit({"test_price.py": None, "test_sum.py": TESTS})
    (result,) = triaged(repository.folder, sandbox, command=command)
    assert result.task.blame == bad


def test_a_test_that_fails_after_others_only_is_no_flaky_one(sandbox: Sandbox, tmp_path: Path) -> None:
    repository = MadeRepository(tmp_path / "made")
    kept = "SEEN = []\n\ndef total(prices):\n    SEEN.append(prices)\n    return sum(prices) + len(SEEN) - 1\n"
    repository.commit({"price.py": PRICE, "test_price.py": TESTS.replace("test_total", "test_one_total")})
    bad = repository.commit({"price.py": kept})
    (result,) = triaged(repository.folder, sandbox)
    assert (result.flakiness.state, result.task.blame, result.task.alone) == ("failing", bad, False)
    write_task_case(result.task, repository.folder, tmp_path / "case")
    assert affirm(read_case(tmp_path / "case"), sandbox).holds


URL = "import urllib.request\n\ndef total(prices):\n    urllib.request.urlopen('https://example.org')\n"
SERVER = "import socket\n\ndef total(prices):\n    socket.create_connection(('127.0.0.1', 5432))\n"
NO_TOTAL = "def mean(prices):\n    return 0\n"
PACKAGE = "import nothing_of_this_name\n\n" + PRICE


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        (PRICE, "def total(prices):\n    while prices:\n        pass\n    return 0\n", "time_limit"),
        (PRICE, URL, "no_network"),
        (SERVER, SERVER, "no_network"),
        (PRICE, SERVER, ""),
        (PACKAGE, PACKAGE, "missing_package"),
        (PRICE, PACKAGE, ""),
        (NO_TOTAL, NO_TOTAL, "missing_package"),
        (PRICE, NO_TOTAL, ""),
    ],
)
def test_what_the_environment_lacks_blames_no_change(sandbox, tmp_path, before, after, rule) -> None:
    repository = MadeRepository(tmp_path / "made")
    repository.commit({"price.py": before, "test_price.py": TESTS})
    bad = repository.commit({"price.py": after, "notes.txt": "1"})
    result = triaged(repository.folder, sandbox, limits=Limits(seconds=1 if rule == "time_limit" else 60))[0]
    assert [one.rule for one in result.decision.objections] == ([rule] if rule else [])
    assert result.task.blame == ("" if rule else bad)


def test_a_declared_package_is_missing_wherever_it_is_first_needed(sandbox: Sandbox, tmp_path: Path) -> None:
    repository = MadeRepository(tmp_path / "made")
    repository.commit({"price.py": PRICE, "test_price.py": TESTS})
    repository.commit({"price.py": PACKAGE, "requirements.txt": "nothing-of-this-name>=2\n"})
    (result,) = triaged(repository.folder, sandbox)
    assert ([one.rule for one in result.decision.objections], result.task.blame) == (["missing_package"], "")


def test_a_command_in_which_no_test_is_ever_seen_blames_nobody(sandbox: Sandbox, tmp_path: Path) -> None:
    repository, _ = broken_at(tmp_path / "made", 9, 3)
    (result,) = triaged(repository.folder, sandbox, command="python -m unittest discover -s nowhere")
    assert [one.rule for one in result.decision.objections] == ["no_test_seen"]
    assert result.task.blame == ""


def test_uncommitted_changes_are_the_newest_change_where_they_are_asked_for(sandbox: Sandbox, tmp_path: Path) -> None:
    repository, _ = broken_at(tmp_path / "made", 9, 2)
    (repository.folder / "price.py").write_text(BROKEN)
    assert triaged(repository.folder, sandbox) == []
    (result,) = triaged(repository.folder, sandbox, uncommitted=True)
    assert result.task.blame == result.task.commit != repository.git("rev-parse", "HEAD")
    case = write_task_case(result.task, repository.folder, tmp_path / "case", uncommitted=True)
    assert "uncommitted changes" in case.task
    assert repository.git("status", "--porcelain") == "M price.py"


def scripted(monkeypatch: pytest.MonkeyPatch, outcomes: str) -> None:
    """Let the runs of the tests end so, one after another, and then over again."""
    coming = cycle(outcomes)

    def run(*_: object, how: str) -> SuiteReport:  # noqa: ARG001
        if next(coming) == "P":
            return SuiteReport(passed=True, ran=1)
        return SuiteReport(passed=False, ran=1, exit_code=1, failed=(FailedTest(TEST, "AssertionError", "trace"),))

    monkeypatch.setattr(reproduce, "run_suite", run)


def test_a_flaky_failure_alone_is_named_and_has_no_case(broken, sandbox, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(rules, "_FLAKY", 0.16)
    scripted(monkeypatch, "FFPFPP")
    (result,) = triaged(broken[0].folder, sandbox)
    assert (result.flakiness.runs, result.flakiness.failures, result.task.blame) == (3, 2, "")
    assert [one.rule for one in result.decision.objections] == ["flaky"]
    assert result.task.flakiness == 1
    for _ in range(2):  # the second time from what the first has kept
        cases = cases_of_repository(broken[0].folder, RepositoryTests(COMMAND), tmp_path / "run", sandbox)
        assert (cases.cases, [each.rule for each in cases.held_back]) == ((), ["flaky"])
        assert not cases.lacks_environment


def test_a_failure_that_was_there_all_along_has_no_change_to_blame(sandbox, tmp_path, monkeypatch) -> None:
    repository, _ = broken_at(tmp_path / "made", 0, 4)
    with monkeypatch.context() as near:
        near.setattr("misstep_harness.repair.failure_bot.triage._MOST_COMMITS", 2)
        (result,) = triaged(repository.folder, sandbox)
    assert [one.rule for one in result.decision.objections] == ["no_change_to_blame"]
    assert result.task.blame == ""
    (result,) = triaged(repository.folder, sandbox)
    assert (result.decision.run, result.task.blame) == (True, "")  # it is repaired, and blames nobody
    assert "No change is to blame: the test never passed in the history." in task_text(result.task)


BEN, CLEO = ("Ben", "ben@example.org"), ("Cleo", "cleo@example.org")
MOVING = "def total(prices):\n    raise NotImplementedError('total moves')\n"
LARGER = "def total(prices):\n    return sum(prices) + 4\n"
HERE = "import tempfile, time\n\ndef total(prices):\n    raise ValueError(object(), tempfile.mkdtemp(), time.ctime())\n"


@pytest.mark.parametrize(
    ("first", "then", "blamed", "earlier"),
    [
        (MOVING, BROKEN, 1, 0),
        (LARGER, BROKEN, 1, 0),  # 7 != 3, then 2 != 3: both are named
        (HERE, HERE + "\n", 0, None),  # addresses, folders and times are no other message
    ],
)
def test_a_failure_with_another_message_is_another_failure(sandbox, tmp_path, first, then, blamed, earlier) -> None:
    repository = MadeRepository(tmp_path / "made")
    repository.commit({"price.py": PRICE, "test_price.py": TESTS.partition("    def test_nothing")[0]})
    changes = [repository.commit({"price.py": first}, person=BEN), repository.commit({"price.py": then}, person=CLEO)]
    repository.commit({"notes.txt": "1"})
    (result,) = triaged(repository.folder, sandbox)
    task = result.task
    assert (task.blame, task.earlier) == (changes[blamed], "" if earlier is None else changes[earlier])
    assert ("but the messages differ" in task.blame_note) == (earlier is not None)
    case = write_task_case(task, repository.folder, tmp_path / "case")
    assert set(case.diffs) == {name[:10] for name in (task.blame, task.earlier) if name}
    assert case.extra["blame"]["assumes"] == task.blame_note
    assert task.blame_note in case.task


def test_a_fault_of_a_side_branch_is_blamed_on_its_commit_and_not_on_the_merge(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    repository = MadeRepository(tmp_path / "made")
    repository.commit({"price.py": PRICE, "test_price.py": TESTS})
    repository.git("checkout", "-q", "-b", "side")
    bad = repository.commit({"price.py": BROKEN}, person=BEN)
    repository.commit({"more.txt": "1"})
    repository.git("checkout", "-q", "main")
    repository.commit({"notes.txt": "1"})
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    (result,) = triaged(repository.folder, sandbox)
    assert (result.task.blame, result.task.owner) == (bad, "Ben <ben@example.org>")


def test_the_second_night_asks_the_tracker_before_it_runs_anything_again(sandbox, tmp_path, capsys) -> None:
    repository, ids = broken_at(tmp_path / "made", 1, 3)
    store = TaskStore(tmp_path / "tasks.db")

    def night() -> tuple[Triaged, set[str]]:
        (result,) = triaged(repository.folder, sandbox, store=store)
        return result, {line.split(": ")[1] for line in capsys.readouterr().err.splitlines()}

    first, _ = night()
    second, stages = night()
    assert (second.task, second.decision.run) == (first.task, True)
    assert stages == {"reproduce", "known"}
    head = repository.commit({"notes.txt": "later"})
    repository.commit({"notes.txt": "and later"})
    third, stages = night()
    assert (third.task.blame, third.task.id, stages & {"flakiness", "bisect"}) == (ids[1], 1, set())
    assert third.task.commit != head
    repository.commit({"price.py": PRICE})
    returned = repository.commit({"price.py": BROKEN}, person=CLEO)
    fourth, _ = night()  # mended between, so that it is another failure
    assert (fourth.task.blame, fourth.task.id) == (returned, 2)


def test_what_the_environment_lacks_files_no_task_and_a_task_is_closed_when_it_works_again(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    repository = MadeRepository(tmp_path / "made")
    needs = "import os\n\ndef total(prices):\n    os.environ['SHOP_URL']\n    return sum(prices)\n"
    repository.commit({"price.py": needs, "test_price.py": TESTS})
    tests = RepositoryTests(COMMAND)
    cases = cases_of_repository(repository.folder, tests, tmp_path / "first", sandbox)
    assert ({each.rule for each in cases.held_back}, cases.lacks_environment) == ({"missing_variable"}, True)
    store = TaskStore(tmp_path / "made.tasks.sqlite")
    assert store.tasks() == []
    task = RepairTask(
        (TEST,), "SHOP_URL=here " + COMMAND, "KeyError", "", repository.git("rev-parse", "HEAD"), str(repository.folder)
    )
    store.file_task(replace(task, runs=7, failures=7))  # one of a time at which the variable was not set
    tests = RepositoryTests("SHOP_URL=here " + COMMAND)
    (held_back,) = cases_of_repository(repository.folder, tests, tmp_path / "second", sandbox).held_back
    assert (held_back.rule, store.task(1).state) == ("not_reproducible", "landed")
    assert held_back.reason.endswith("task 1 is closed")


def test_failures_with_one_blamed_change_are_one_task(sandbox: Sandbox, tmp_path: Path) -> None:
    repository = MadeRepository(tmp_path / "made")
    both = PRICE + "\n\ndef mean(prices):\n    return sum(prices) / len(prices)\n"
    more = TESTS.replace("import total", "import mean, total") + (
        "\n    def test_mean(self):\n        self.assertEqual(mean([1, 3]), 2)\n"
    )
    repository.commit({"price.py": both, "test_price.py": more})
    repository.commit({"notes.txt": "1"})
    bad = repository.commit(
        {"price.py": both.replace("sum(prices) /", "sum(prices) //  2 /").replace("sum(prices)\n", "0\n")}
    )
    repository.commit({"notes.txt": "2"})
    (result,) = triaged(repository.folder, sandbox)
    assert result.task.blame == bad
    assert set(result.task.tests) == {TEST, "test_price.Price.test_mean"}


def test_the_rules_are_asked_anew_before_an_agent_starts(sandbox: Sandbox, tmp_path: Path) -> None:
    repository, _ = broken_at(tmp_path / "made", 1, 2)
    tests = RepositoryTests(COMMAND)
    (case,) = cases_of_repository(repository.folder, tests, tmp_path / "run", sandbox).cases

    def objections() -> str:
        return objections_now(case.case, sandbox, uncommitted=False)

    assert objections() == ""  # the head is where it was
    attach_patch(case.case, "--- a\n+++ b\n")
    assert objections() == "diff_attached: a diff is attached to task 1: review that one first"
    (held_back,) = cases_of_repository(repository.folder, tests, tmp_path / "another", sandbox).held_back
    assert held_back.rule == "diff_attached"  # a run of the next night knows the same task
    attempt = RepairAttempt(case.case.id, "search", "react", "search_replace", 0, patch="--- a\n+++ b\n")
    reject_patch(tmp_path / "run", attempt, "It hides the cause.")
    assert attach_patch(case.case, attempt.patch) is False  # what people rejected is not attached again by itself
    repository.commit({"notes.txt": "later"})
    assert objections() == ""
    repository.commit({"price.py": PRICE})
    assert objections() == "fix_landed: the tests pass at the head, 2 commits later: a fix has landed"
    (held_back,) = cases_of_repository(repository.folder, tests, tmp_path / "third", sandbox).held_back
    assert held_back.reason.endswith("a fix has landed; task 1 is closed")
    assert objections() == "task_closed: the task is landed"
