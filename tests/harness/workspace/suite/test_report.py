"""What a test command found, read from what it wrote and printed."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from misstep_harness.errors import InputError, UsageError
from misstep_harness.workspace.suite import report
from misstep_harness.workspace.suite.command import REPORT, runner_of, suite_command
from misstep_harness.workspace.suite.output import from_json, from_unittest
from misstep_harness.workspace.suite.report import FailedTest, SuiteReport, from_junit_xml

TESTS = """
import unittest

class Sums(unittest.TestCase):
    def test_right(self):
        self.assertEqual(1 + 1, 2)

    def test_wrong(self):
        self.assertEqual(1 + 1, 3)

    def test_broken(self):
        raise KeyError("nothing here")

    @unittest.skip("not now")
    def test_later(self):
        pass
"""


def _run(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    python = f"{Path(sys.executable).parent}"
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env={"PATH": f"{python}:/usr/bin:/bin"}, capture_output=True, text=True
    )


def test_pytest_and_unittest_report_each_failure_under_the_id_that_runs_it_again(tmp_path: Path) -> None:
    (tmp_path / "test_sums.py").write_text(TESTS)
    _run(tmp_path, suite_command("python -m pytest -q"))
    counts = from_junit_xml((tmp_path / REPORT).read_bytes())
    assert (counts.ran, counts.skipped) == (3, 1)
    assert sorted(test.id for test in counts.failed) == [
        "test_sums.py::Sums::test_broken",
        "test_sums.py::Sums::test_wrong",
    ]
    again = _run(tmp_path, suite_command("python -m pytest -q", [counts.failed[0].id]))
    assert again.returncode == 1
    assert from_junit_xml((tmp_path / REPORT).read_bytes()).ran == 1
    done = _run(tmp_path, suite_command("python -m unittest", ["test_sums.py"]))
    counts = from_unittest(done.stderr)
    assert (counts.ran, counts.skipped) == (3, 1)
    assert {test.id: test.message for test in counts.failed} == {
        "test_sums.Sums.test_broken": "KeyError: 'nothing here'",
        "test_sums.Sums.test_wrong": "AssertionError: 2 != 3",
    }
    (tmp_path / "test_sums.py").write_text("import nothing_of_this_name\n")
    _run(tmp_path, suite_command("python -m pytest -q"))
    assert [test.id for test in from_junit_xml((tmp_path / REPORT).read_bytes()).failed] == ["test_sums.py"]


def test_a_project_may_give_options_of_pytest_s_cache_and_no_cache_is_left_in_it(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --cache-clear\n")
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n")
    _run(tmp_path, f"export TMPDIR={tmp_path}-other; {suite_command('python -m pytest -q')}")
    assert from_junit_xml((tmp_path / REPORT).read_bytes()).passed == ("test_one.py::test_one",)
    assert not (tmp_path / ".pytest_cache").exists()


def test_an_inherited_test_has_the_file_and_the_class_that_run_it(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_base.py").write_text("class TestBase:\n    def test_one(self):\n        assert 0\n")
    (tmp_path / "tests/test_heir.py").write_text(
        "from test_base import TestBase as _Base\nclass TestHeir(_Base):\n    pass\n"
    )
    _run(tmp_path, suite_command("python -m pytest -q"))
    failed = [test.id for test in from_junit_xml((tmp_path / REPORT).read_bytes()).failed]
    assert failed == ["tests/test_base.py::TestBase::test_one", "tests/test_heir.py::TestHeir::test_one"]


def test_a_report_of_another_program_is_read_by_its_file_or_class() -> None:
    data = b"""<testsuites><testsuite><testcase classname="a.B" name="works"/>
    <testcase file="lib/b.test.js" name="adds"><failure message="expected 1">at b.js:3</failure></testcase>
    </testsuite></testsuites>"""
    counts = from_junit_xml(data)
    assert counts.ran == 2
    assert counts.failed == (FailedTest("lib/b.test.js::adds", "expected 1", "at b.js:3"),)


@pytest.mark.parametrize("data", [b"", b"<html/>", b'<!DOCTYPE a [<!ENTITY b "bb">]><testsuite/>', b"\xff\xfe\x00"])
def test_what_is_no_report_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError):
        from_junit_xml(data, "report.xml")


DOCTYPE = "<?xml version='1.0' encoding='{0}'?><!DOCTYPE a [<!ENTITY b 'bb'>]><testsuite>&b;</testsuite>"
BOMB = "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><testsuite/>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "utf-16-le", "latin-1", "cp037", "hex", "none"])
@pytest.mark.parametrize("text", [DOCTYPE, BOMB, "<?xml version='1.0' encoding='{0}'?><html/>"])
def test_a_document_type_is_refused_in_every_encoding(text: str, encoding: str) -> None:
    try:
        data = text.format(encoding).encode(encoding)
    except LookupError:  # an encoding that only the text names
        data = text.format(encoding).encode()
    with pytest.raises(InputError, match=r"document type|not XML|begins with"):
        from_junit_xml(data)


CASE = "<testcase name='a'/>"


@pytest.mark.parametrize(
    ("inner", "what"),
    [
        ("<a>" * 1_000_000, "more than 64 levels"),
        ("<testsuite>" * 5_000, "more than 64 levels"),
        (CASE * 100_001, "more than 100,000 tests"),
        ("<a/>" * 500_000, "more than 64 levels or 500,000 elements"),
        (f"<testcase name='{'a' * 70_000}'/>", "attribute of more than 65,536"),
        (" " * (33 << 20), "more than 32 MiB"),
    ],
    ids=lambda value: value[:20],
)
def test_a_report_beyond_the_limits_is_refused_in_time(inner: str, what: str) -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match=what):
        from_junit_xml(f"<testsuite>{inner}</testsuite>".encode())
    assert time.monotonic() - began < 10


def test_the_time_of_a_report_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_SECONDS", -1.0)
    with pytest.raises(InputError, match="seconds to read"):
        from_junit_xml(b"<testsuite/>")


def test_of_a_long_trace_the_end_is_kept_and_a_suite_of_many_tests_is_read() -> None:
    long = f"<testcase name='b'><failure>{'x' * 4_000_000}the end</failure><system-out>{'y' * 4_000_000}</system-out>"
    counts = from_junit_xml(f"<testsuite>{CASE * 50_000}{long}</testcase></testsuite>".encode("utf-16"))
    assert (counts.ran, len(counts.failed)) == (50_001, 1)
    assert counts.failed[0].trace.endswith("xthe end")
    assert len(counts.failed[0].trace) == 6_000


@pytest.mark.parametrize("data", [b'{"passes": [{"err": %b}]}' % (b'{"a":' * 100_000), b'{"passes": \xff}'])
def test_a_json_report_that_is_nested_too_deeply_or_no_text_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError, match="not JSON of jest"):
        from_json(data)


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("python -m pytest -q", "pytest"),
        ("cd sub && .venv/bin/pytest tests", "pytest"),
        ("python3 -m unittest discover", "unittest"),
        ("npx jest --reporters jest-junit --outputFile {junit}", "junit"),
        ("make check-pytest-free", "exit_code"),
        ("./run_tests.sh", "exit_code"),
        ('bash -c "python -m unittest discover"', "unittest"),
    ],
)
def test_the_runner_is_told_from_the_command(command: str, runner: str) -> None:
    assert runner_of(command) == runner


def test_tests_stand_where_the_command_wants_them_and_are_quoted() -> None:
    assert suite_command("run {tests} --now", ["a b::c"]) == "run 'a b::c' --now"
    assert suite_command("./check", ["x; rm y"]) == "./check 'x; rm y'"
    with pytest.raises(UsageError, match="test command is empty"):
        suite_command("  ")


def test_feedback_names_each_failure_within_its_limit() -> None:
    failed = tuple(FailedTest(f"t::test_{n}", "AssertionError: no", "x" * 5_000) for n in range(40))
    text = SuiteReport(passed=False, ran=40, failed=failed, exit_code=1).feedback(4_000)
    assert "40 tests failed" in text
    assert "t::test_0" in text
    assert "and 32 more" in text
    assert len(text) < 9_000
    assert SuiteReport(passed=True, ran=3).feedback() == "All tests passed"
    assert "longer than the limit" in SuiteReport(passed=False, ended="time", output="…").feedback()
    assert "No test was run" in SuiteReport(passed=False, ran=0, exit_code=5).feedback()


@pytest.mark.parametrize(
    ("case", "counts"),
    [
        ('<testcase name="DISABLED_a" classname="A" status="notrun" result="suppressed"/>', (0, 1, [], ())),
        ('<testcase name="a" classname="A" status="disabled"/>', (0, 1, [], ())),
        ('<testcase name="a" file="t.py"><skipped/><error message="after it"/></testcase>', (1, 0, ["t.py::a"], ())),
        ('<testcase name="a" classname="T" file="/ws/tests/T.php"/>', (1, 0, [], ("tests/T.php::a",))),
        ('<testcase name="a" file="./spec/a_spec.rb"/>', (1, 0, [], ("spec/a_spec.rb::a",))),
    ],
)
def test_what_other_programs_write_into_junit_is_read_as_they_mean_it(case: str, counts: object) -> None:
    read = from_junit_xml(f"<testsuite>{case}</testsuite>".encode())
    assert (read.ran, read.skipped, [test.id for test in read.failed], read.passed) == counts


def test_a_failure_without_a_message_is_told_by_its_error_and_not_by_a_place_of_javascript() -> None:
    trace = "TypeError: values is not iterable\n    at total (total.js:4:9)"
    read = from_junit_xml(f'<testsuite><testcase name="a"><failure>{trace}</failure></testcase></testsuite>'.encode())
    assert read.failed[0].message == "TypeError: values is not iterable"
