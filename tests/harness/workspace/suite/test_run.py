"""Chosen tests are run in their framework's own way, and one that was not seen has neither passed nor failed."""

import shutil
from collections.abc import Iterator

import pytest

from misstep_harness.workspace import Sandbox, Workspace, open_workspace, python_toolchain
from misstep_harness.workspace.suite.command import suite_command
from misstep_harness.workspace.suite.run import breaks, is_of, run_suite

UNITTEST = """import unittest

class Sums(unittest.TestCase):
    def test_right(self):
        self.assertEqual(1 + 1, 2)

    def test_wrong(self):
        self.assertEqual(1 + 1, 3)
"""
FILES = {
    "app/checks/sums_check.py": UNITTEST,
    "app/checks/test_sums.py": UNITTEST,
    "test_sums.py": UNITTEST,
    "pytest.ini": "[pytest]\n",
    "Makefile": "check:\n\tcd app && python -m unittest discover -v -s checks\n",
    "py.sh": "cd app && python -m pytest -q checks\n",
    "package.json": '{"scripts": {"test": "npm run unit --", "unit": "c8 --100 node --test"}}',
    "test/sum.test.js": (
        "const test = require('node:test'); const assert = require('node:assert');\n"
        "test('is right (1)', () => assert.strictEqual(2, 2));\n"
        "test.describe('sums', () => { test.it('is wrong (2)', () => assert.strictEqual(2, 3)); });\n"
    ),
}
RIGHT, WRONG = "test_sums.Sums.test_right", "test_sums.Sums.test_wrong"
NODE_RIGHT, NODE_WRONG = "is right (1)", "test/sum.test.js::sums::is wrong (2)"
AT_ROOT = "test_sums.py::Sums::test_"
IN_APP = "app/checks/test_sums.py::Sums::"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("suite") / "tree"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    tools = python_toolchain()
    with open_workspace(folder, sandbox=sandbox, read_only=tools.read_only, environment=tools.environment) as opened:
        yield opened


@pytest.mark.parametrize(
    ("command", "right", "wrong"),
    [
        ("python -m unittest", RIGHT, WRONG),
        ("python -m unittest discover -s app/checks -q", RIGHT, WRONG),
        ("cd app && python -m unittest discover -s checks -p '*_check.py' 2>&1 | cat", *(
            f"sums_check.Sums.test_{each}" for each in ("right", "wrong")
        )),
        ("make check", RIGHT, WRONG),
        ("python -m pytest -q test_sums.py && echo fine", f"{AT_ROOT}right", f"{AT_ROOT}wrong"),
        ("cd app && python -m pytest -q checks", f"{IN_APP}test_right", f"{IN_APP}test_wrong"),
        ("sh py.sh", f"{IN_APP}test_right", f"{IN_APP}test_wrong"),
        ("node --test test/", NODE_RIGHT, NODE_WRONG),
        ("npm test -- test/", NODE_RIGHT, NODE_WRONG),
    ],
)  # fmt: skip
def test_a_test_passes_or_fails_whatever_others_do(workspace: Workspace, command: str, right: str, wrong: str) -> None:
    if "node" in command and shutil.which("node") is None:
        pytest.skip("there is no node")
    assert run_suite(workspace, command, [right]).passed
    for tests in ([], [wrong], [right, wrong]):
        failed = run_suite(workspace, command, tests)
        assert (failed.passed, [test.id for test in failed.failed]) == (False, [wrong])


@pytest.mark.parametrize(
    ("command", "test"),
    [
        ("python -m unittest discover -s app/checks", "test_sums.Sums.test_absent"),
        ("python -m unittest discover -s nowhere", RIGHT),
        ("python -m pytest -q", "test_sums.py::Sums::test_absent"),
        ("make check", "test_sums.Sums.test_absent"),
    ],
)
def test_what_was_not_seen_has_not_passed(workspace: Workspace, command: str, test: str) -> None:
    report = run_suite(workspace, command, [test])
    assert not report.passed
    assert not any(is_of(seen, test) for seen in report.seen or ())


def test_a_run_of_no_test_has_not_passed_though_it_ends_well(workspace: Workspace) -> None:
    assert not run_suite(workspace, "python -m unittest discover -s app/checks -k nothing || true").passed
    assert not run_suite(workspace, "echo '1..0'").passed
    assert run_suite(workspace, "echo fine").passed


@pytest.mark.parametrize(
    ("command", "tests", "words"),
    [
        ("python -m unittest", ["t/test_a.py::B::test_c"], "unittest t.test_a.B.test_c -v"),
        ("python -m unittest discover -s t", ["t/test_a.py"], "-k '*test_a' -k '*test_a.*' -v"),
        ("python -m unittest discover -s t > log 2>&1", ["a.B.setUpClass"], "-k '*a.B' -k '*a.B.*' -v > log"),
        (
            "vitest run",
            ["a.test.ts::sums > is (2)"],
            """run -t '^(?:sums(?: > | )is \\(2\\))$' "$MISSTEP_ROOT"/a.test.ts""",
        ),
        ("cd a && vitest run", [], '--reporter=json --outputFile.json="$MISSTEP_REPORT"'),
        ("jest", ["[id]/a.test.js"], """jest "$MISSTEP_ROOT"/'\\[id\\]/a\\.test\\.js' --json"""),
        ("mocha -r tsx", ["a.spec.ts::sums it's 2"], "mocha -r tsx -g '^(?:sums it'\"'\"'s 2)$' --reporter json"),
        ("cd packages/jest && CI=1 make pytest", ["a.py"], "cd packages/jest && CI=1 make pytest a.py"),
        ("node --test", ["a.test.js::sums::is 2"], "--test --test-name-pattern='^(?:(?:sums(?: |::))?is 2)$'"),
        ("go test ./... | cat", ["TestTotal/of_two"], "go test -run '^(TestTotal)$' -v ./... | cat"),
        ("node --test --test-reporter=spec t", ["t/a.test.js"], "node --test --test-reporter=spec t"),
    ],
)
def test_tests_are_chosen_by_what_their_framework_takes(command: str, tests: list[str], words: str) -> None:
    assert words in suite_command(command, tests)


@pytest.mark.parametrize(
    ("failed", "asked", "is_broken"),
    [
        ("tests/test_a.py", "tests/test_a.py::test_b", True),
        ("test_a.B.setUpClass", "test_a.B.test_c", True),
        ("unittest.loader._FailedTest.test_a", "test_a.B.test_c", True),
        ("tests/test_a.py::test_b[1]", "tests/test_a.py::test_b", True),
        ("test_a.B.test_d", "test_a.B.test_c", False),
        ("tests/test_ab.py", "tests/test_a.py::test_b", False),
        ("a.test.ts", "a.test.ts::sums > is 2", True),
        ("is 2.5", "a.test.ts::is 2.5", True),
        ("2.5", "a.test.ts::is 2.5", False),
        ("same", "a.test.ts::sums::same", False),
    ],
)
def test_a_test_breaks_with_what_holds_it(failed: str, asked: str, is_broken: bool) -> None:
    assert breaks(failed, asked) == is_broken
