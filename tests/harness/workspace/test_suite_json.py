"""Reports of jest, vitest and mocha name each test with its file and the suites around it."""

import json

import pytest

from misstep.harness.errors import InputError
from misstep.harness.workspace.suite_json import from_json

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


def test_a_report_that_was_cut_off_is_an_error() -> None:
    with pytest.raises(InputError, match="not JSON"):
        from_json(b'{"testResults": [')
