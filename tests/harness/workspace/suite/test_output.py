"""What test commands print, read as the tests that ran: which failed, which passed, which said nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from misstep_harness.workspace.suite.output import from_output, from_unittest, saw_tests
from misstep_harness.workspace.suite.report import SuiteCounts

VERBOSE = """test_a (m.T.test_a) ... ok
test_b (m.T.test_b)
What it is for. ... FAIL
test_c (m.T.test_c) ... skipped 'not now'

======================================================================
FAIL: test_b (m.T.test_b)
What it is for.
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/ws/m.py", line 9, in test_b
AssertionError: 2 != 3

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
"""
TAP = """TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  location: '/ws/test/sum.test.js:4:1'
  error: |-
    Expected values to be strictly equal:

    7 !== 6

  code: 'ERR_ASSERTION'
  ...
# Subtest: mean
    # Subtest: of two
    ok 1 - of two
      ---
      duration_ms: 1
      ...
    # Subtest: of none
    not ok 2 - of none # TODO later
    # Subtest: of one
    ok 3 - of one # SKIP test name does not match pattern
    1..3
ok 2 - mean
# Subtest: test/broken.test.js
not ok 3 - test/broken.test.js
1..3
"""
SUMS = "test_sums.Sums"
GO = """=== RUN   TestTotal
=== RUN   TestTotal/of_two
    sum_test.go:8: got 7
=== RUN   TestTotal/of_none
--- FAIL: TestTotal (0.00s)
    --- FAIL: TestTotal/of_two (0.00s)
    --- PASS: TestTotal/of_none (0.00s)
=== RUN   TestMean
--- PASS: TestMean (0.00s)
FAIL
FAIL\texample.org/sum\t0.004s
"""

SKIPPED_CLASS = """test_a (m.A.test_a) ... ok
setUpClass (m.B) ... skipped 'no server'

----------------------------------------------------------------------
Ran 1 test in 0.000s

OK (skipped=1)
"""
MOCHA_TAP = """ok 1 total sums
not ok 2 total of none
  TypeError: values is not iterable
      at total (total.js:4:9)
ok 3 total later # SKIP -
# tests 2
# pass 1
# fail 1
1..3
"""
VITEST_TAP = """TAP version 13
1..1
not ok 1 - a.test.js # time=8.60ms {
    1..2
    ok 1 - sums # time=1.66ms
    not ok 2 - of none # time=5.09ms
}
"""
GO_FAILED = "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.org/a\t0.01s\n"
GO_PASSED = "--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\nPASS\nok  \texample.org/b\t0.01s\n"
GO_JSON = "".join(
    f'{{"Action":"output","Package":"example.org/{package}","Output":"{text}\\n"}}\n'
    for package, text in (
        ("a", "=== RUN   TestA"),
        ("b", "=== RUN   TestB"),
        ("a", "--- FAIL: TestA (0.00s)"),
        ("b", "--- PASS: TestB (0.00s)"),
        ("a", "FAIL\\texample.org/a\\t0.01s"),
        ("b", "ok  \\texample.org/b\\t0.01s"),
    )
)
GO_AROUND_FAILED = GO_FAILED.replace("0.00s)\n", "0.00s)\n    --- PASS: TestA/sub (0.00s)\n")


def _said(counts: SuiteCounts | None) -> object:
    return counts.ran, counts.skipped, [test.id for test in counts.failed], counts.passed


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (VERBOSE, (2, 1, ["m.T.test_b"], ("m.T.test_a",))),
        (VERBOSE + VERBOSE.replace("m.T", "n.U"), (4, 2, ["m.T.test_b", "n.U.test_b"], ("m.T.test_a", "n.U.test_a"))),
        (".\n" + "-" * 70 + "\nRan 1 test in 0.000s\n\nOK\n", (1, 0, [], None)),
        ("\n" + "-" * 70 + "\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", (0, 0, [], ())),
        (TAP, (3, 2, ["test/sum.test.js::adds", "test/broken.test.js"], ("mean::of two",))),
        ("1..2\nok 1 the first\nnot ok 2 the second\n", (2, 0, ["the second"], ("the first",))),
        ("1..0\n", (0, 0, [], ())),
        ("1..3\nok 1 - a\nok 2 - b # SKIPPED: no network\nok 3 - c #  skip\n", (1, 2, [], ("a",))),
        ("\n" + "-" * 70 + "\nRan 1 test in 0.000s\n\nOK (skipped=3)\n", (0, 3, [], None)),
        ("\n" + "-" * 70 + "\nRan 0 tests in 0.000s\n\nNO TESTS RAN (skipped=1)\n", (0, 1, [], ())),
        (GO, (3, 0, ["TestTotal/of_two"], ("TestTotal/of_none", "TestMean"))),
        (SKIPPED_CLASS, (1, 1, [], ("m.A.test_a",))),
        (MOCHA_TAP, (2, 1, ["total of none"], ("total sums",))),
        (VITEST_TAP, (2, 0, ["a.test.js::of none"], ("a.test.js::sums",))),
        (GO_JSON, (2, 0, ["TestA"], ("TestB",))),
        (GO_AROUND_FAILED, (2, 0, ["TestA"], ("TestA/sub",))),
        (GO_FAILED + GO_PASSED, (2, 0, ["TestA"], ("TestA/sub",))),
        ("ok  \texample.org/sum\t0.004s [no tests to run]\n", (0, 0, [], ())),
        ("ok  \texample.org/sum\t0.004s\n", (1, 0, [], None)),
    ],
)
def test_each_framework_says_which_tests_ran(output: str, said: object) -> None:
    assert _said(from_output(output)) == said


def test_a_failure_has_its_message_and_its_trace() -> None:
    outputs = {
        test.id: test for text in (VERBOSE, TAP, GO) for test in (from_output(text) or SuiteCounts(0, 0, ())).failed
    }
    assert outputs["m.T.test_b"].message == "AssertionError: 2 != 3"
    assert outputs["test/sum.test.js::adds"].message == "Expected values to be strictly equal: 7 !== 6"
    assert "ERR_ASSERTION" in outputs["test/sum.test.js::adds"].trace
    assert outputs["TestTotal/of_two"].trace == "sum_test.go:8: got 7"


@pytest.mark.parametrize(
    ("output", "saw"),
    [
        ("collected 3 items / 3 deselected / 0 selected\n\n=== 3 deselected in 0.01s ===\n", False),
        ("running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 3 filtered out\n", False),
        ("No examples found.\n\n0 examples, 0 failures\n", False),
        ("PHPUnit 10.5\n\nNo tests executed!\n", False),
        ("\n  0 passing (2ms)\n", False),
        ("Test project /b\nNo tests were found!!!\n", False),
        ("No test files found, exiting with code 1\n", False),
        ("error: no tests to run\n", False),
        ("no tests ran in 0.01s\n3 passed in 0.10s\n", True),
        ("running 3 tests\ntest result: ok. 3 passed; 0 failed\n\nrunning 0 tests\n", True),
    ],
)
def test_a_run_of_no_test_is_seen_in_the_words_of_each_program(output: str, saw: bool) -> None:
    assert saw_tests(output) is saw


@pytest.mark.parametrize("output", ["1..5 is the range\n", "", "all fine\nok\n", "ok, 3 of 3\n", "Ran away in 2 s\n"])
def test_words_of_a_program_are_no_test(output: str) -> None:
    assert from_output(output) is None


def test_unittest_names_its_passing_tests_as_its_failing_ones(tmp_path: Path) -> None:
    (tmp_path / "test_sums.py").write_text(
        "import unittest\n\nclass Sums(unittest.TestCase):\n    def test_right(self):\n        print('skipped it')\n\n"
        "    def test_each(self):\n        for n in (1, 2):\n            with self.subTest(n=n):\n"
        "                self.assertEqual(n, 1)\n\n"
        "    @unittest.expectedFailure\n    def test_odd(self):\n        pass\n"
    )
    line = [sys.executable, "-m", "unittest", "-v"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    counts = from_unittest(done.stderr)
    assert _said(counts) == (3, 0, [f"{SUMS}.test_each", f"{SUMS}.test_odd"], (f"{SUMS}.test_right",))


def test_a_test_of_tape_is_named_by_the_comment_before_its_assertions() -> None:
    output = """TAP version 13
# is (1)
ok 1 should be equal
# is (2)
ok 2 should be equal
not ok 3 has two
  ---
    operator: equal
    expected: 2
    at: Test.<anonymous> (/ws/test/a.js:7:5)
  ...
ok 4 should be equal
# is (3)
ok 5 should be equal

1..5
# tests 5
# pass  4
# fail  1
"""
    counts = from_output(output)
    assert (counts.ran, counts.passed) == (3, ("is (1)", "is (3)"))
    assert [test.id for test in counts.failed] == ["test/a.js::is (2)"]


def test_a_file_that_node_cannot_run_fails_with_what_it_printed_before() -> None:
    lines = ["TAP version 13"]
    for number, name in enumerate("ab", 1):
        lines += ["# node:internal/modules:1", f"# Error: Cannot find module 'kiwi-{name}'", "# Node.js v20"]
        lines += [
            f"# Subtest: /ws/{name}.test.js",
            f"not ok {number} - /ws/{name}.test.js",
            "  ---",
            "  error: 'test failed'",
        ]
        lines += ["  ..."]
    counts = from_output("\n".join([*lines, "1..2", "# tests 2"]))
    assert [(test.id, test.message) for test in counts.failed] == [
        ("a.test.js", "Error: Cannot find module 'kiwi-a'"),
        ("b.test.js", "Error: Cannot find module 'kiwi-b'"),
    ]


@pytest.mark.parametrize(
    ("end", "failed"),
    [
        ("ex.org/a [build failed]", ["ex.org/a"]),
        ("ex.org/a\t0.004s", ["ex.org/a"]),
        ("ex.org/a [setup failed]", []),
    ],
)
def test_a_package_of_go_that_ends_without_a_test_has_failed_unless_it_was_not_set_up(
    end: str, failed: list[str]
) -> None:
    counts = from_output(f"./a.go:3:1: syntax error\nFAIL\t{end}\nok  \tex.org/b\t0.01s\nFAIL\n")
    assert counts is not None
    assert ([test.id for test in counts.failed], counts.ran) == (failed, 1 + len(failed))
