"""What running shows of a pass: reruns, the gold result beside it, other arguments than those of the tests."""

from pathlib import Path

import pytest

from misstep_harness.triage.passes import attribute_pass
from misstep_harness.triage.passes.comparison import alike
from misstep_harness.workspace import Sandbox
from tests.harness.triage.made_up_cases import shell
from tests.harness.triage.passes.made_up_passes import OTHERWISE_RIGHT, passed, read_only, texts

LISTED = "def total(values):\n    return {(1, 2): 3}.get(tuple(values), 0)\n"
REPORT_TEST = "import pathlib\nassert pathlib.Path('report.csv').read_text().startswith('name,value')\n"
SHELL_TEST = 'set -e\ntest "$(python price.py 1 2)" = 3\n'
PROGRAM = "import sys\nvalues = [int(word) for word in sys.argv[1:]]\nprint({})\n"


def test_another_right_result_is_an_earned_pass(tmp_path: Path, sandbox: Sandbox) -> None:
    result = attribute_pass(passed(tmp_path, sandbox))
    assert ((result.label, result.subcategory), result.evidence[0].kind) == (("pass", ""), "command")


def test_other_inputs_show_a_result_made_for_the_tests(tmp_path: Path, sandbox: Sandbox) -> None:
    result = attribute_pass(passed(tmp_path, sandbox, {"workspace/price.py": LISTED}))
    assert (result.label, result.subcategory) == ("task", "weak_tests")
    assert "the inputs of the tests alone" in result.rationale
    assert result.evidence[0].kind == "difference"


def test_a_program_that_a_shell_test_calls_is_called_with_other_arguments_too(tmp_path: Path, sandbox: Sandbox) -> None:
    files = {
        "case.toml": 'id = "one"\ntest_command = "bash tests/run.sh"\n',
        "tests/run.sh": SHELL_TEST,
        "solution/price.py": PROGRAM.format("sum(values)"),
    }
    earned = {**files, "workspace/price.py": PROGRAM.format("sum(values[::-1])")}
    assert attribute_pass(passed(tmp_path / "earned", sandbox, earned)).label == "pass"
    fitted = {**files, "workspace/price.py": PROGRAM.format("3")}
    assert attribute_pass(passed(tmp_path / "fitted", sandbox, fitted)).subcategory == "weak_tests"


@pytest.mark.parametrize(
    ("gold", "result", "same"),
    [
        ('{"a": [1, 2]}', '{\n  "a": [\n    1,\n    2\n  ]\n}\n', True),
        ('{"a": 1}\n{"a": 2}\n', '{"a":1}\n{"a":2}\n', True),
        ('sum: {"a": 1, "b": 2} ok', 'sum: {"b":2,"a":1} ok', True),
        ('{"a": "x y"}', '{"a": "x  y"}', False),
        ('{"a": 1}', '{"a": 2}', False),
        ("a 1", "a  1", False),
        ("{a b", "{a  b", False),
    ],
)
def test_white_space_in_json_is_no_difference(gold: str, result: str, same: bool) -> None:
    assert alike(gold, result) == same


@pytest.mark.parametrize("text", ["separators=(',', ':')", "indent=2"])
def test_json_with_other_white_space_is_sound(tmp_path: Path, sandbox: Sandbox, text: str) -> None:
    made = "import json\n\n\ndef total(values):\n    return json.dumps({{'sum': sum(values), 'n': len(values)}}, {})\n"
    printed = f"{made}\n\nif __name__ == '__main__':\n    print(total([1, 2]))\n"
    files = {
        "case.toml": 'id = "one"\ntest_command = "python tests/check.py"\nrun_command = "python price.py"\n',
        "tests/check.py": "import json, sys\nsys.path.insert(0, '.')\nfrom price import total\n"
        "assert json.loads(total([1, 2])) == {'sum': 3, 'n': 2}\n",
        "solution/price.py": printed.format("sort_keys=False"),
        "workspace/price.py": printed.format(text),
    }
    assert attribute_pass(passed(tmp_path, sandbox, files)).label == "pass"


@pytest.mark.parametrize(("lines", "label"), [("a,1\nb,2\n", "pass"), ("a,1\nb,7\n", "task")])
def test_a_file_is_compared_with_the_gold_one(tmp_path: Path, sandbox: Sandbox, lines: str, label: str) -> None:
    files = {
        "case.toml": 'id = "one"\ntest_command = "python tests/check.py"\n',
        "tests/check.py": REPORT_TEST,
        "solution/report.csv": "name,value\na,1\nb,2\n",
        "workspace/report.csv": f"name,value\n{lines}",
    }
    assert attribute_pass(passed(tmp_path, sandbox, files)).label == label
    assert attribute_pass(read_only(tmp_path, files)).label == label


def test_a_result_that_fails_every_clean_rerun_is_to_be_run_again(tmp_path: Path, sandbox: Sandbox) -> None:
    files = {"workspace/price.py": "def total(values):\n    return 4\n"}
    result = attribute_pass(passed(tmp_path, sandbox, files))
    assert result.label == "infrastructure"


def test_a_pass_that_needed_changed_tests_is_tampering_and_not_chance(tmp_path: Path, sandbox: Sandbox) -> None:
    files = {"workspace/price.py": "def total(values):\n    return 4\n"}
    run = passed(tmp_path, sandbox, files, shell("sed -i 's/, 3/, 4/' tests/test_price.py"))
    assert attribute_pass(run).subcategory == "weak_tests"


def test_a_file_that_nobody_made_and_the_tests_need_was_left_from_before(tmp_path: Path, sandbox: Sandbox) -> None:
    files = {
        "workspace/price.py": (
            "import os\n\n\ndef total(values):\n"
            "    return sum(int(open('kept/' + name).read()) for name in os.listdir('kept'))\n"
        ),
        "workspace/kept/7f3a.bin": "3",
        "workspace/kept/first": "0",
        "environment/kept/first": "0",
    }
    run = passed(tmp_path, sandbox, files, shell("echo 'def total' > price.py"))
    result = attribute_pass(run)
    assert (result.label, result.evidence[0].where) == ("infrastructure", "workspace/kept/7f3a.bin")


def test_without_a_solution_what_can_be_read_is_read(tmp_path: Path, sandbox: Sandbox) -> None:
    files = {"workspace/price.py": OTHERWISE_RIGHT}
    run = passed(tmp_path, sandbox, files)
    for file in (tmp_path / "solution").iterdir():
        file.unlink()
    (tmp_path / "solution").rmdir()
    result = attribute_pass(run)
    assert (result.label, result.score) == ("pass", 0.7)


@pytest.mark.parametrize("name", ["tests.log", "verifier/test-stdout.txt"])
def test_a_log_that_reports_failures_speaks_against_a_recorded_pass(tmp_path: Path, name: str) -> None:
    log = {f"logs/{name}": "test_total ... FAIL\n\nFAILED (failures=1)\n"}
    result = attribute_pass(texts(tmp_path, log))
    assert (result.label, result.evidence[0].where) == ("infrastructure", f"logs/{name}:3")


@pytest.mark.parametrize(
    ("log", "label"),
    [
        (
            "Traceback (most recent call last):\nValueError: logged by the program\n..\nRan 2 tests in 0.1s\n\nOK\n",
            "pass",
        ),
        ("1..2\nok 1 - a\nnot ok 2 - b # TODO later\n", "pass"),
        ("=== no tests ran in 0.01s ===\n=== 3 passed in 0.10s ===\n", "pass"),
        ("=== 3 passed, 1 xfailed in 0.10s ===\n", "pass"),
        ("12 error messages are printed\n=== 3 passed in 0.10s ===\n", "pass"),
        ("=== 1 failed, 3 passed in 0.10s ===\n", "infrastructure"),
        ("--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tex.org/a\t0.01s\n", "infrastructure"),
        ("Traceback (most recent call last):\nValueError: x\n", "infrastructure"),
        ("=== no tests ran in 0.01s ===\n", "infrastructure"),
    ],
)
def test_a_log_speaks_against_a_pass_where_a_test_failed_or_none_ran(tmp_path: Path, log: str, label: str) -> None:
    assert attribute_pass(texts(tmp_path, {"logs/tests.log": log})).label == label
