"""What the rule judges find out without running anything, by the files of a case or by its texts alone."""

from pathlib import Path

import pytest

from misstep_harness.trajectory import Step
from misstep_harness.triage.rules.failures import lacks_tools, read_failure
from misstep_harness.triage.rules.judging import by_files, by_texts
from misstep_harness.triage.rules.verdicts import Attribution, Undecided
from misstep_harness.triage.texts import FilesOfCase, TextsOfCase
from tests.harness.triage.made_up_cases import RIGHT, a_run, shell, triage_case, written

FAILS = "FAIL: test_total (test_price.Totals)\nAssertionError: 2 != 3\n\nFAILED (failures=1)\n"
PASSES = "..\nRan 2 tests in 0.01s\n\nOK\n"
MISSES = "ERROR: test_price\nModuleNotFoundError: No module named 'price'\n\nFAILED (errors=1)\n"


WORKED = written(a_run(shell("cat price.py"), Step("agent", "It is done.")))


def in_files(folder: Path, files: dict[str, str]) -> tuple[str, str]:
    return labels(by_files(FilesOfCase(triage_case(folder / "one", {"trajectory.json": WORKED, **files}))))


def in_texts(folder: Path, files: dict[str, str]) -> tuple[str, str]:
    return labels(by_texts(TextsOfCase(triage_case(folder / "one", {"trajectory.json": WORKED, **files}))))


def labels(result: Attribution | Undecided) -> tuple[str, str]:
    return result.label, result.subcategory


BOTH = pytest.mark.parametrize("judged", [in_files, in_texts])
USED = written(a_run(shell("ls"), shell("cat price.py", RIGHT), Step("agent", "Everything is done.")))
LOGS = {
    "tests that passed in a failed run": (PASSES, "", "infrastructure", "harness_bug"),
    "tests that printed nothing did not run": (
        "",
        "write /var/log: no space left on device\n",
        "infrastructure",
        "sandbox_crash",
    ),
    "a failed assertion alone": (FAILS, "", "agent", "logical_failure"),
    "tests that ended well and a wrong report": (
        "all as asked\n",
        "ran the tests, exit code 0\nresult: failed\n",
        "infrastructure",
        "harness_bug",
    ),
}


@BOTH
@pytest.mark.parametrize(("tests", "harness", "label", "subcategory"), LOGS.values(), ids=LOGS)
def test_logs_show_the_cause(tmp_path, judged, tests, harness, label, subcategory):
    logs = {"logs/tests.log": tests} | ({"logs/harness.log": harness} if harness else {})
    assert judged(tmp_path, logs) == (label, subcategory)


FAILURES = {
    "go": "--- FAIL: TestTotal (0.00s)\n    t.go:9: out: no such file or directory\nFAIL\nFAIL\tex.org/t\t0.01s\n",
    "jest": "FAIL t.test.js\n  ● total › sums\n\n    TypeError: x is undefined\n\nTests:       1 failed, 1 total\n",
    "cargo": 'test tests::b ... FAILED\n\nOs { message: "No such file or directory" }\n\ntest result: FAILED\n',
    "ctest": "2/2 Test #2: b ...***Failed    0.01 sec\nb: parse error\n\n50% tests passed\n",
    "mocha": "  1 failing\n\n  1) total\n       sums:\n     TypeError: x is not a function\n",
    "rspec": "KeyError: no key\n\n2 examples, 1 failure\n\nrspec ./spec/t_spec.rb:5 # Total sums\n",
    "phpunit": "There was 1 error:\n\n1) TotalTest::testSums\nTypeError: bad\n\nTests: 1, Errors: 1.\n",
    "nextest": "        FAIL [   0.003s] shop tests::b\nkeyerror\n     Summary [   0.004s] 1 test run: 1 failed\n",
    "dotnet": "  Failed Shop.Totals.Sums [3 ms]\n  permission denied\nFailed!  - Failed:     1, Passed:     0\n",
    "bats": "1..1\nnot ok 1 sums\n# usage: total FILE, permission denied\n",
    "a key that was added": "OK\nTraceback (most recent call last):\nAssertionError: expected 2, got 3\n",
    "a module that cannot be read": (
        "collected 0 items / 1 error\n\n_____ ERROR collecting tests/test_a.py _____\nE   SyntaxError: invalid syntax\n"
        "===== short test summary info =====\nERROR tests/test_a.py\n===== 1 error in 0.12s =====\n"
    ),
    "a program that prints ok": "ok\n--- FAIL: TestTotal (0.00s)\nFAIL\nFAIL\tex.org/t\t0.01s\n",
}


@BOTH
@pytest.mark.parametrize("log", FAILURES.values(), ids=FAILURES)
def test_a_test_that_ran_and_failed_is_the_agents_whatever_program_says_so(tmp_path, judged, log):
    logs = {"logs/tests.log": log, "logs/harness.log": "disk usage: 12%\nthe verifier ended, exit code 0\n"}
    assert judged(tmp_path, logs)[0] == "agent"


@BOTH
@pytest.mark.parametrize(
    "log",
    [
        '--- FAIL: TestA (0.00s)\n    a.go:3: got "503 Service Unavailable"\nFAIL\nFAIL\tex.org/a\t0.01s\n',
        'FAIL a.test.js\n  ● a\n\n    Received: "503 Service Unavailable"\n\nTests:       1 failed, 1 total\n',
        "WARNING: Temporary failure in name resolution\nFAILED t.py::a - assert 1 == 2\n1 failed in 0.1s\n",
    ],
)
def test_what_a_failed_test_compares_and_a_container_that_stops_are_no_break(tmp_path, judged, log):
    assert judged(tmp_path, {"logs/tests.log": log, "logs/harness.log": "container exited (0)\n"})[0] == "agent"


@BOTH
def test_a_service_that_was_to_be_made_is_not_missing_before_it_is_there(tmp_path, judged):
    run = a_run(shell("curl http://localhost:8000/", "curl: (7) Connection refused", 7), Step("agent", "It is done."))
    asked = "Write a service that answers at http://localhost:8000/ with the total.\n"
    files = {"trajectory.json": written(run), "logs/tests.log": FAILS, "instruction.md": asked}
    assert judged(tmp_path, files)[0] == "agent"


@pytest.mark.parametrize("named", ["https://example.org/docs/guide.html", "HTTP/1.1 and TLS/1.3", "2024/01/02.5"])
def test_an_address_a_version_and_a_date_are_no_input(tmp_path, named):
    files = {"instruction.md": f"Write total as {named} says.\n", "logs/tests.log": FAILS}
    assert in_files(tmp_path, files)[0] == "agent"


@BOTH
def test_tests_whose_packages_cannot_be_had_did_not_run(tmp_path, judged):
    log = "ERROR: Could not find a version that satisfies it\nERROR: No matching distribution found for pytest\n"
    assert judged(tmp_path, {"logs/tests.log": log})[0] == "infrastructure"
    assert lacks_tools(f"{log}pytest: command not found\n")


@pytest.mark.parametrize(
    ("output", "names"),
    [
        (
            "FAIL: test_b (m.A.test_b)\nFAIL: test_b (m.B.test_b) (n=2)\n",
            {"test_b (m.A.test_b)", "test_b (m.B.test_b)"},
        ),
        ("FAILED (failures=1)\nERROR: No such option\n", set()),
        ("FAILED t.py::test_a[x y] - assert 0\nERROR t.py::test_b - boom\n", {"t.py::test_a[x y]", "t.py::test_b"}),
        ("SUBFAILED(n=2) t.py::T::test_s - assert 0\nERROR while fetching\n", {"t.py::T::test_s"}),
        ("3/3 Test #3: c ...***Not Run (Disabled)   0.00 sec\n4/4 Test #4: d ...***Skipped   0.01 sec\n", set()),
    ],
)
def test_a_failed_test_has_its_whole_name_and_no_other_line_is_one(output, names):
    assert read_failure(output).tests == names


@BOTH
@pytest.mark.parametrize(("killed_at", "label"), [("3 MiB", "infrastructure"), ("1020 MiB", "agent")])
def test_a_kill_far_below_the_limit_is_not_the_agents_doing(tmp_path, judged, killed_at, label):
    run = a_run(shell("python make.py > price.py", "Killed", 137))
    files = {
        "trajectory.json": written(run),
        "logs/tests.log": FAILS,
        "logs/harness.log": f"oom: killed at {killed_at}\n",
    }
    assert judged(tmp_path, files)[0] == label


@BOTH
def test_a_file_that_the_agent_used_at_its_end_and_the_tests_miss_shows_that_they_ran_elsewhere(tmp_path, judged):
    files = {"trajectory.json": USED, "logs/tests.log": MISSES}
    assert judged(tmp_path, files) == ("infrastructure", "harness_bug")


def test_a_result_that_is_the_gold_result_is_not_the_agents_fault(tmp_path):
    files = {"workspace/price.py": RIGHT, "logs/tests.log": FAILS}
    assert in_files(tmp_path, files) == ("task", "environment_fail")
    files["logs/tests.log"] = "ERROR: test_total\nOSError: the device is gone\n"
    assert in_files(tmp_path, files)[0] == "infrastructure"
    files["tests/test_price.py"] = "import random\nassert random.random() < 0.5\n"
    assert in_files(tmp_path, files) == ("task", "brittle_tests")


def test_an_input_that_was_never_there_is_the_environments_fault(tmp_path):
    files = {"instruction.md": "Sum up `data/prices.csv` into total.txt.\n", "logs/tests.log": FAILS}
    assert in_files(tmp_path, files) == ("task", "environment_fail")
    there = {**files, "environment/data/prices.csv": "1\n2\n"}
    assert in_files(tmp_path / "other", there)[0] == "agent"
    empty = {**files, "instruction.md": "Add the numbers in `rows.txt`.\n", "environment/rows.txt": ""}
    assert in_files(tmp_path / "empty", empty) == ("task", "environment_fail")


def test_without_run_and_logs_texts_say_nothing(tmp_path):
    assert isinstance(by_texts(TextsOfCase(triage_case(tmp_path / "one"))), Undecided)


@BOTH
@pytest.mark.parametrize(("log", "label"), [(MISSES, "infrastructure"), (FAILS, "agent")])
def test_a_full_disk_is_the_cause_where_no_assertion_failed(tmp_path, judged, log, label):
    logs = {"logs/tests.log": log, "logs/harness.log": "cp: write error: No space left on device\n"}
    assert judged(tmp_path, logs)[0] == label


@BOTH
@pytest.mark.parametrize(("second", "label"), [("refused", "infrastructure"), ("reached", "agent")])
def test_an_address_that_no_command_reaches_is_not_the_agents_fault(tmp_path, judged, second, label):
    refused = "curl: (7) Failed to connect: Connection refused"
    outputs = {"refused": (refused, 7), "reached": ("1 2 3", 0)}
    run = a_run(
        shell("curl http://127.0.0.1:9100/prices", refused, 7),
        shell("curl -s http://127.0.0.1:9100/prices", *outputs[second]),
    )
    files = {
        "instruction.md": "Add the prices of http://127.0.0.1:9100/prices and write `total(values)` in price.py.\n",
        "trajectory.json": written(run),
        "logs/tests.log": FAILS,
    }
    assert judged(tmp_path, files)[0] == label


def test_tests_that_saw_the_files_as_they_were_ran_elsewhere(tmp_path):
    files = {
        "environment/price.txt": "amount 8080\n",
        "workspace/price.txt": "amount 9163\n",
        "solution/price.txt": "amount 9163\n",
        "workspace/price.py": RIGHT,
        "logs/tests.log": "FAIL: test_total\nAssertionError: got 'amount 8080', expected 'amount 9163'\n",
    }
    assert in_files(tmp_path, files) == ("infrastructure", "harness_bug")
