"""What the rule judge with a sandbox finds out by running: reruns, gold, chance, the agent's commands again."""

from pathlib import Path

import pytest

from misstep_harness.triage.replica import ReplicasOfCase
from misstep_harness.triage.rules.judging import by_running
from misstep_harness.triage.rules.verdicts import Attribution, Undecided
from misstep_harness.workspace import Sandbox
from tests.harness.triage.made_up_cases import RIGHT, TEST, a_run, shell, triage_case, written

WRONG = "def total(values):\n    return len(values)\n"
DEALT = 'random.Random(os.environ.get("PYTHONHASHSEED", "0")).random() < 0.6'
"""Chance that is the same in each run of this test: the tests are run again with PYTHONHASHSEED 1, 2 and so on."""
ENDLESS = "while True:\n    pass\n"
IMPORTS = "import sys\nsys.path.insert(0, '.')\nimport price\n"
SCRIPT = 'id = "one"\ntest_command = "python tests/check.py"\noutcome = "failed"\n'


def judged(folder: Path, sandbox: Sandbox, files: dict[str, str]) -> Attribution | Undecided:
    return by_running(ReplicasOfCase(triage_case(folder / "one", files), sandbox))


def labels(result: Attribution | Undecided) -> tuple[str, str]:
    assert isinstance(result, Attribution), result
    return result.label, result.subcategory


def test_a_result_that_passes_again_is_never_the_agents_fault(tmp_path, sandbox):
    result = judged(tmp_path, sandbox, {"workspace/price.py": RIGHT})
    assert (labels(result), result.evidence[0].kind) == (("infrastructure", "harness_bug"), "command")


@pytest.mark.parametrize("recorded", ["failed", ""])
def test_a_command_that_runs_no_test_says_nothing_of_a_result(tmp_path, sandbox, recorded):
    outcome = f'outcome = "{recorded}"\n' if recorded else ""
    command = 'id = "one"\ntest_command = "python -m unittest discover -s tests -p nothing.py || true"\n'
    result = judged(tmp_path, sandbox, {"workspace/price.py": RIGHT, "case.toml": command + outcome})
    assert isinstance(result, Undecided)
    assert "No test ran" in result.rationale


def test_the_log_of_the_harness_says_of_which_kind_its_failure_was(tmp_path, sandbox):
    log = "write error: No space left on device\n"
    result = judged(tmp_path, sandbox, {"workspace/price.py": RIGHT, "logs/harness.log": log})
    assert labels(result) == ("infrastructure", "sandbox_crash")
    assert result.evidence[0].where == "logs/harness.log:1"


CHANCE = {"case.toml": SCRIPT, "tests/check.py": f"import os\nimport random\nassert {DEALT}\n"}
FLAKY = f"import os\nimport random\n\n\ndef total(values):\n    return sum(values) if {DEALT} else 0\n"
NEVER_ENDS = {"case.toml": SCRIPT + "[limits]\nseconds = 1\n", "tests/check.py": IMPORTS, "workspace/price.py": ENDLESS}
FOUND = {
    "a gold solution that fails": ({"tests/test_price.py": "import absent_module\n"}, "task", "environment_fail"),
    "tests that depend on chance": ({**CHANCE, "workspace/price.py": RIGHT}, "task", "brittle_tests"),
    "a wrong result with tests that depend on chance": (
        {**CHANCE, "workspace/price.py": WRONG},
        "task",
        "brittle_tests",
    ),
    "a result that depends on chance": ({"workspace/price.py": FLAKY}, "agent", None),
    "commands that go as recorded": (
        {"trajectory.json": written(a_run(shell("sed -i 's/return 0/return len(values)/' price.py")))},
        "agent",
        "logical_failure",
    ),
    "a name that only the tests know": (
        {
            "instruction.md": "Write a function that gives the sum of a list of values, in a module of its own.\n",
            "tests/test_price.py": TEST.replace("from price", "from hidden_name"),
            "solution/hidden_name.py": RIGHT,
        },
        "task",
        "ambiguous_spec",
    ),
    "a result that never ends": (NEVER_ENDS, "agent", "timeout"),
}
UNDECIDED = {
    "a gold solution that runs out of time": {**NEVER_ENDS, "solution/price.py": ENDLESS},
    "a gold solution whose script has no network here": {
        "solution/price.py": "",
        "solution/solve.sh": "echo 'curl: (6) Could not resolve host: example.org' >&2\nrm price.py\nexit 6\n",
    },
    "no test command": {"case.toml": 'id = "one"\noutcome = "failed"\n'},
}


@pytest.mark.parametrize(("files", "label", "subcategory"), FOUND.values(), ids=FOUND)
def test_what_running_shows_has_a_label(tmp_path, sandbox, files, label, subcategory):
    result = labels(judged(tmp_path, sandbox, files))
    assert result == (label, subcategory or result[1])


@pytest.mark.parametrize("files", UNDECIDED.values(), ids=UNDECIDED)
def test_what_running_does_not_show_is_not_guessed(tmp_path, sandbox, files):
    assert isinstance(judged(tmp_path, sandbox, files), Undecided)


def test_commands_that_give_another_result_when_run_again_are_the_machines_fault(tmp_path, sandbox):
    command = "sed -i 's/return 0/return sum(values)/' price.py"
    run = a_run(shell("cat price.py", "def total(values):\n    return 0\n"), shell(command, "Killed", 137))
    result = judged(
        tmp_path, sandbox, {"trajectory.json": written(run), "workspace/price.py": "def total(v):\n    return 0\n"}
    )
    assert (labels(result), result.steps) == (("infrastructure", "sandbox_crash"), (1,))


def test_without_a_gold_solution_a_failure_that_stays_is_not_guessed(tmp_path, sandbox):
    case = triage_case(tmp_path / "one", {"workspace/price.py": "raise SystemExit(3)\n"})
    (case.folder / "solution/price.py").unlink()
    (case.folder / "solution").rmdir()
    assert isinstance(by_running(ReplicasOfCase(case, sandbox)), Undecided)
