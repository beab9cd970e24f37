"""An attempt: an agent's run on a case in the sandbox, and what the validators say of its patch."""

import asyncio
from pathlib import Path

import pytest

from misstep_harness.agent.loop import AgentLimits
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.repair.attempt import SETTINGS, CaseWorkspace, Repairer, attempt
from misstep_harness.repair.case import CaseFolder, with_test_changes
from misstep_harness.repair.patch_judge import PatchJudge
from misstep_harness.repair.records import RepairAttempt
from misstep_harness.workspace import Sandbox
from tests.harness.agent.folders import NoModel, ScriptedPatcher
from tests.harness.agent.test_loop import Scripted
from tests.harness.repair.cases import price_case, run_of
from tests.harness.repair.judging import AcceptsNothing, LooksForTheLoop

pytestmark = pytest.mark.usefixtures("oracle_once")

READ = "read_file file_path='price.py'"
EDIT = "edit file_path='price.py' instructions='add instead of subtracting'"
EXIT = "exit summary='done'"


def reply(old: str, new: str, path: str = "price.py") -> str:
    return f"{path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"


RIGHT = reply("        found -= price", "        found += price")


def _attempt(
    folder: CaseFolder,
    sandbox: Sandbox,
    commands: list[str],
    replies: list[str],
    setting: str = "react+static+tests",
    judge: LooksForTheLoop | None = None,
) -> RepairAttempt:
    def make(place: CaseWorkspace) -> Repairer:  # noqa: ARG001
        return Repairer(Scripted(*commands), ScriptedPatcher(*replies))

    limits = AgentLimits(iterations=6, seconds=60)
    asked = None if judge is None else PatchJudge(RunnableJudge(judge, {}), NoModel())
    return asyncio.run(
        attempt(folder, SETTINGS[setting], make, NoModel(), sandbox=sandbox, limits=limits, patch_judge=asked)
    )


@pytest.fixture
def case(tmp_path: Path) -> CaseFolder:
    return price_case(tmp_path / "price")


def test_a_right_patch_solves_the_case_and_every_validator_says_so(case: CaseFolder, sandbox: Sandbox) -> None:
    done = _attempt(case, sandbox, [READ, EDIT, EXIT], [RIGHT])
    assert (done.error, done.solved, done.patched) == ("", True, True)
    assert (done.iterations, done.ended, done.rules, done.refused) == (3, "exit", ("exact",), 0)
    assert "+        found += price" in done.patch
    validators = ("oracle", "static_analysis", "test_files", "suite", "revert")
    assert {signal.validator: signal.passed for signal in done.signals} == dict.fromkeys(validators, True)
    assert run_of(done).outcome.status == "passed"
    assert "All tests passed" in run_of(done).steps[3].results[0].text


def test_a_patch_that_is_too_long_is_an_error_and_never_cut(case, sandbox, monkeypatch) -> None:
    monkeypatch.setattr("misstep_harness.repair.attempt.MOST_PATCH", 50)
    done = _attempt(case, sandbox, [EDIT, EXIT], [RIGHT])
    assert done.patched
    assert (done.solved, done.patch, done.signals) == (None, "", ())
    assert "more than 50: it is not scored" in done.error
    assert done.trajectory is not None


def test_the_setting_decides_what_the_agent_is_shown(case: CaseFolder, sandbox: Sandbox) -> None:
    broken = reply("        found -= price", "        found += pric")
    for name, setting in SETTINGS.items():
        seen = _said_of_the_edit(_attempt(case, sandbox, [EDIT, EXIT], [broken], name))
        assert ("detected errors" in seen) == setting.static_analysis
        assert ("1 test failed" in seen) == setting.test_execution
        assert seen.startswith("The edit was successful: price.py changed.") or "pric" in seen


def test_a_weakened_test_mends_nothing_and_is_flagged(case: CaseFolder, sandbox: Sandbox) -> None:
    weak = reply("    assert total([1, 2]) == 3", "    assert True", "tests/test_price.py")
    edit = "edit file_path='tests/test_price.py' instructions='make it pass'"
    done = _attempt(case, sandbox, [edit, EXIT], [weak])
    assert done.solved is False
    assert {signal.validator: signal.passed for signal in done.signals}["test_files"] is False


def test_an_agent_that_may_change_tests_is_scored_with_them_and_stays_flagged(case, sandbox) -> None:
    other = reply("    assert total([1, 2]) == 3", "    assert total([1, 2]) == -3", "tests/test_price.py")
    edit = "edit file_path='tests/test_price.py' instructions='the total is owed'"
    done = _attempt(with_test_changes(case), sandbox, [edit, EXIT], [other])
    assert done.solved is True
    signals = {signal.validator: signal.passed for signal in done.signals}
    assert (signals["test_files"], signals["unchanged_tests"], signals["oracle"]) == (False, False, True)
    gone = reply("def test_sum():\n    assert total([1, 2]) == 3\n\n\n", "", "tests/test_price.py")
    assert _attempt(with_test_changes(case), sandbox, [edit, EXIT], [gone]).solved is False


def test_taking_the_blamed_change_back_is_called_a_revert(case: CaseFolder, sandbox: Sandbox) -> None:
    old = "    found = 0\n    for price in prices:\n        found -= price\n    return found"
    done = _attempt(case, sandbox, [EDIT, EXIT], [reply(old, "    return sum(prices)")])
    assert done.solved
    assert [(one.passed, one.score) for one in done.signals if one.validator == "revert"] == [(False, 1.0)]


def test_an_edit_that_is_refused_is_a_patch_that_was_written_and_changes_nothing(case, sandbox) -> None:
    done = _attempt(case, sandbox, [EDIT, EXIT], [reply("        found *= price", "        found += price")])
    assert (done.solved, done.patched, done.refused, done.patch) == (False, True, 1, "")


def _said_of_the_edit(done: RepairAttempt) -> str:
    return run_of(done).steps[2].results[0].text


@pytest.mark.parametrize("setting", ["react+static", "react+tests", "react+static+tests"])
def test_the_judge_is_asked_of_every_patch_and_heard_by_an_agent_that_sees_its_tests(case, sandbox, setting) -> None:
    judge = LooksForTheLoop()
    done = _attempt(case, sandbox, [EDIT, EXIT], [RIGHT], setting, judge)
    assert (done.signals[-1].validator, done.signals[-1].passed) == ("patch_judge", True)
    assert ("The patch judge finds the change acceptable. It adds the price." in _said_of_the_edit(done)) == (
        "tests" in setting
    )
    # In the loop the judge sees no check that the setting keeps from the agent: without one it is another question.
    assert len(judge.asked) == (2 if setting == "react+tests" else 1)
    assert all("-3 == 3" in item.task and "test_files: passed" in item.text for item in judge.asked)


def test_a_patch_that_fails_its_tests_is_judged_at_the_end_alone(case: CaseFolder, sandbox: Sandbox) -> None:
    judge = LooksForTheLoop()
    done = _attempt(case, sandbox, [EDIT, EXIT], [reply("    found = 0", "    found = 1")], judge=judge)
    assert (done.solved, done.patched) == (False, True)
    assert run_of(done).outcome.status == "failed"
    assert "1 test failed" in _said_of_the_edit(done)
    assert "patch judge" not in _said_of_the_edit(done)
    assert (done.signals[-1].passed, done.signals[-1].text) == (False, "The loop stays wrong.")
    assert len(judge.asked) == 1


def test_an_agent_that_is_told_of_a_rejection_can_edit_again(case: CaseFolder, sandbox: Sandbox) -> None:
    around = reply("    return found", "    return -found")
    second = reply("        found -= price\n    return -found", "        found += price\n    return found")
    done = _attempt(case, sandbox, [EDIT, EDIT, EXIT], [around, second], judge=LooksForTheLoop())
    assert "does not find the change acceptable" in _said_of_the_edit(done)
    assert "The loop stays wrong." in _said_of_the_edit(done)
    assert (done.solved, done.signals[-1].passed) == (True, True)
    assert [verdict["label"] for verdict in run_of(done).extra["patch_judge"]] == ["unacceptable", "acceptable"]


def test_without_a_patch_no_judge_is_asked(case: CaseFolder, sandbox: Sandbox) -> None:
    judge = AcceptsNothing()
    done = _attempt(case, sandbox, [EXIT], [], judge=judge)
    assert (judge.asked, done.solved, done.patched) == ([], False, False)
    assert "patch_judge" not in {signal.validator for signal in done.signals}


def test_a_patch_that_breaks_another_test_is_told_so_by_the_suite(case: CaseFolder, sandbox: Sandbox) -> None:
    both = RIGHT + reply("    return name.upper()", "    return name", "label.py")
    done = _attempt(case, sandbox, [EDIT, EXIT], [both])
    assert done.solved
    (suite,) = (signal for signal in done.signals if signal.validator == "suite")
    assert (suite.passed, "test_label" in suite.text) == (False, True)
