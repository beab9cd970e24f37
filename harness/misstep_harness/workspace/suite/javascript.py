"""The tests in the JSON that jest, vitest and mocha write of a run, and in what jest and vitest print for people."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.values import NOT_JSON
from misstep_harness.workspace.sandbox import INSIDE
from misstep_harness.workspace.suite.report import MOST_TRACE, FailedTest, SuiteCounts

BETWEEN = " > "
"""What is between the titles of a test and of the suites around it, as vitest shows them."""

_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_MOST_LINES = 4
_SUMMARY = re.compile(r"^ *Tests:? +(\d+ (?:failed|passed|skipped|todo)\b.*)$", re.MULTILINE)
_NUMBER = re.compile(r"(?<!\d)(\d{1,9}) (failed|passed|skipped|todo)")
_FAILED = re.compile(
    r"^ {0,9}FAIL {1,9}(?:\|[^|\n]{0,200}\| {1,9})?(?P<file>[^\s:]{1,500}\.[cm]?[jt]sx?)"
    r"(?: > (?P<vitest>\S.{0,500}?))?(?P<broken> {1,9}\[[^\[\]\n]{0,200}\])?(?: \([\d.]{1,12} m?s\))?$"
    r"|^  ● (?P<jest>.+)$|^⎯+|^Test Suites?:|^Summary of all",
    re.MULTILINE,
)
_NOT_RUN = "Test suite failed to run"


class _Assertion(Struct, rename="camel"):
    title: str = ""
    status: str = ""
    ancestor_titles: list[str] = []
    failure_messages: list[str | None] | None = None


class _File(Struct, rename="camel"):
    name: str = ""
    status: str = ""
    message: str | None = ""
    assertion_results: list[_Assertion] = []


class _Mocha(Struct, rename="camel"):
    full_title: str = ""
    file: str | None = ""
    err: dict[str, Any] = {}


class _Report(Struct, rename="camel"):
    test_results: list[_File] | None = None
    passes: list[_Mocha] | None = None
    failures: list[_Mocha] = []
    pending: list[_Mocha] = []


def from_json(data: bytes, file: str = "") -> SuiteCounts:
    """Return the tests in a report of jest, vitest or mocha."""
    try:
        report = msgspec.json.decode(data, type=_Report)
    except NOT_JSON as error:
        raise InputError(f"the test report is not JSON of jest, vitest or mocha: {error}", file=file) from error
    if report.passes is not None:
        failed = [_failed(_mocha_id(one), [one.err.get("stack") or one.err.get("message")]) for one in report.failures]
        passed = tuple(_mocha_id(one) for one in report.passes)
        return SuiteCounts(len(passed) + len(failed), len(report.pending), tuple(failed), passed)
    if report.test_results is None:
        raise InputError(
            "the test report has neither `testResults` of jest and vitest nor `passes` of mocha", file=file
        )
    ends = [end for each in report.test_results for end in _ends(each)]
    failures = tuple(failure for _, _, failure in ends if failure is not None)
    passing = tuple(name for name, status, _ in ends if status == "passed")
    return SuiteCounts(len(passing) + len(failures), len(ends) - len(passing) - len(failures), failures, passing)


def _ends(each: _File) -> Iterator[tuple[str, str, FailedTest | None]]:
    """Return the tests of a file by id, status and failure; the file itself where it could not be run."""
    path = each.name.removeprefix(f"{INSIDE}/")
    for one in each.assertion_results:
        name = f"{path}::{BETWEEN.join([*one.ancestor_titles, one.title])}"
        yield name, one.status, _failed(name, one.failure_messages or []) if one.status == "failed" else None
    if each.status == "failed" and all(one.status != "failed" for one in each.assertion_results):
        yield path, "failed", _failed(path, [each.message])


def _failed(name: str, texts: list[str | None]) -> FailedTest:
    trace = _COLOURS.sub("", "\n".join(filter(None, texts))).strip()
    lines = [
        line.strip() for line in trace.splitlines() if line.strip() and not line.lstrip().startswith(("● ", "at "))
    ]
    return FailedTest(name, " ".join(lines[:_MOST_LINES])[:MOST_TRACE], trace[:MOST_TRACE])


def _mocha_id(one: _Mocha) -> str:
    return "::".join(filter(None, ((one.file or "").removeprefix(f"{INSIDE}/"), one.full_title)))


def from_text(output: str) -> SuiteCounts | None:
    """Return the tests in what a command printed, which names those that failed; `None` where it counts none."""
    text = _COLOURS.sub("", output)
    counted = [number for summary in _SUMMARY.finditer(text) for number in _NUMBER.findall(summary[1])]
    marks = list(_FAILED.finditer(text))
    file, failed = "", dict[str, FailedTest]()
    for mark, end in zip(marks, [*(each.start() for each in marks[1:]), len(text)], strict=False):
        file = mark["file"] or file
        title = mark["vitest"] or (mark["jest"] or "").replace(" › ", BETWEEN)
        if file and (title or mark["broken"]):
            name = f"{file}::{title}" if title not in ("", _NOT_RUN) else file
            trace = text[mark.end() : end].strip()
            failed.setdefault(name, FailedTest(name, trace.partition("\n")[0][:MOST_TRACE], trace[:MOST_TRACE]))
    if not counted and not failed:
        return None
    ran = sum(int(number) for number, end in counted if end in ("failed", "passed"))
    skipped = sum(int(number) for number, end in counted if end in ("skipped", "todo"))
    return SuiteCounts(max(ran, len(failed)), skipped, tuple(failed.values()), None if ran else ())
