"""Reports and output of jest, vitest and mocha name each test with its file and the suites around it."""

import json

import pytest

from misstep_harness.errors import InputError
from misstep_harness.workspace.suite.output import from_json, from_output

JEST = {
    "success": False,
    "testResults": [
        {
            "name": "/ws/test/a.test.ts",
            "status": "failed",
            "message": "",
            "assertionResults": [
                {"ancestorTitles": ["sums > all", "(2)"], "title": "is 2", "status": "passed", "failureMessages": []},
                {
                    "ancestorTitles": [],
                    "title": "is 2",
                    "status": "failed",
                    "failureMessages": [
                        "Error: \x1b[2mexpect\x1b[22m(1).toBe(2)\n\nExpected: 2\n    at a (/ws/src/a.ts:3:1)"
                    ],
                },
                {"ancestorTitles": [], "title": "later", "status": "pending"},
            ],
        },
        {
            "name": "/ws/test/b.test.ts",
            "status": "failed",
            "message": "  ● Test suite failed to run\n\n    Cannot find module 'kiwi' from 'src/b.ts'",
            "assertionResults": [],
        },
    ],
}
MOCHA = {
    "passes": [{"title": "is 2", "fullTitle": "sums is 2", "file": "/ws/a.spec.js", "err": {}}],
    "pending": [{"title": "later", "fullTitle": "sums later", "file": "/ws/a.spec.js"}],
    "failures": [
        {
            "fullTitle": "sums is 3",
            "file": "/ws/a.spec.js",
            "err": {"message": "2 == 3", "stack": "Error: 2 == 3\n  at a"},
        }
    ],
}


def test_tests_of_jest_and_vitest_are_named_by_file_and_titles() -> None:
    counts = from_json(json.dumps(JEST).encode())
    assert (counts.ran, counts.skipped, counts.passed) == (3, 1, ("test/a.test.ts::sums > all > (2) > is 2",))
    assert [(each.id, each.message) for each in counts.failed] == [
        ("test/a.test.ts::is 2", "Error: expect(1).toBe(2) Expected: 2"),
        ("test/b.test.ts", "Cannot find module 'kiwi' from 'src/b.ts'"),
    ]
    assert "/ws/src/a.ts:3:1" in counts.failed[0].trace


def test_tests_of_mocha_are_named_by_file_and_full_title() -> None:
    counts = from_json(json.dumps(MOCHA).encode())
    assert (counts.ran, counts.skipped, counts.passed) == (2, 1, ("a.spec.js::sums is 2",))
    assert [(each.id, each.message) for each in counts.failed] == [("a.spec.js::sums is 3", "Error: 2 == 3")]


def test_a_report_of_another_program_is_no_report_of_no_test() -> None:
    with pytest.raises(InputError, match="neither `testResults` of jest and vitest nor `passes` of mocha"):
        from_json(b'{"version": "3.13", "examples": [{"status": "failed"}], "summary_line": "1 example, 1 failure"}')


def test_a_report_that_was_cut_off_is_an_error() -> None:
    with pytest.raises(InputError, match="not JSON"):
        from_json(b'{"testResults": [')


PRINTED_BY_JEST = """FAIL test/merge.test.ts
  ● arrays (plain) › keeps the target's array first

    expect(received).toEqual(expected) // deep equality

      at Object.toEqual (test/merge.test.ts:4:72)

FAIL test/other.test.js
  ● Test suite failed to run

    Cannot find module 'kiwi' from 'test/other.test.js'

Test Suites: 2 failed, 2 total
Tests:       1 failed, 1 skipped, 3 passed, 5 total
"""
PRINTED_BY_VITEST = """ ❯ src/a.test.ts (10 tests | 1 failed) 138ms
⎯⎯⎯ Failed Tests 1 ⎯⎯⎯

 FAIL  src/a.test.ts > sums > is 2
\x1b[31mAssertionError\x1b[39m: expected 1 to be 2
 ❯ src/a.test.ts:166:8
⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed (1)
      Tests  1 failed | 8 passed (9)
"""


def test_a_failed_test_of_jest_is_named_by_its_file_and_titles() -> None:
    counts = from_output(PRINTED_BY_JEST)
    assert (counts.ran, counts.skipped, counts.passed) == (4, 1, None)
    assert [(test.id, test.message) for test in counts.failed] == [
        (
            "test/merge.test.ts::arrays (plain) > keeps the target's array first",
            "expect(received).toEqual(expected) // deep equality",
        ),
        ("test/other.test.js", "Cannot find module 'kiwi' from 'test/other.test.js'"),
    ]


def test_a_failed_test_of_vitest_is_named_by_its_file_and_titles() -> None:
    counts = from_output(f"make: x\n{PRINTED_BY_VITEST}")
    assert (counts.ran, counts.passed) == (9, None)
    assert [(test.id, test.message) for test in counts.failed] == [
        ("src/a.test.ts::sums > is 2", "AssertionError: expected 1 to be 2")
    ]


def test_a_run_of_no_test_has_run_none() -> None:
    counts = from_output("Tests:       2 skipped, 2 total\n")
    assert (counts.ran, counts.passed) == (0, ())
