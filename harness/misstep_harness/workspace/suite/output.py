"""The tests in what a command printed: unittest, TAP (node:test, bats, prove -v), and go test."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from textwrap import dedent
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import InputError
from misstep_harness.values import NOT_JSON
from misstep_harness.workspace.sandbox import INSIDE
from misstep_harness.workspace.suite.report import MOST_TRACE, FailedTest, SuiteCounts, last_line

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


_COUNTED = re.compile(r"^Ran (\d+) tests? in [^\n]*\n+(?:(?:OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?)?", re.MULTILINE)
_SKIPPED = re.compile(r"\bskipped=(\d+)")
_BLOCK = re.compile(r"^={70}\n(?:FAIL|ERROR|UNEXPECTED SUCCESS): ([^\n]+)\n", re.MULTILINE)
_RULE = re.compile(r"^-{70}\n", re.MULTILINE)
_UNITTEST_ID = re.compile(r"(\S+) \(([\w.]+)\)")
_STARTED = re.compile(r"^ {0,2}(\S+ \([\w.]+\))(?: \([^\n]*\))?(?:\n[^\n]{1,500})? \.\.\. ", re.MULTILINE)
_NOT_PASSED = re.compile(r"\bskipped ['\"]|\bunexpected success$", re.MULTILINE)
_PLAN = re.compile(r"^ *1\.\.\d+(?: *#.*)?$", re.MULTILINE)
_POINT = re.compile(r"( *)(not )?ok\b(?: \d+)?(?: -)? ?(.*)")
_DIRECTIVE = re.compile(r"(?: |^)# *(?:skip\S*|todo\b).*$", re.IGNORECASE)
"""`SKIP` may go on, as `SKIPPED:`."""
_TIME = re.compile(r" # time=[\d.]+m?s( \{)?$")
"""What vitest and tap add to a title; the brace opens a suite, whose points follow and not precede it."""

_LOCATION = re.compile(r"^ *(?:location: '|at: (?:[^(\n]*\()?)(.+?):\d{1,9}:\d{1,9}['\)]?$", re.MULTILINE)
_TAPE = re.compile(r"^# tests +\d+\n# pass +\d+", re.MULTILINE)
"""How the output of tape ends, whose points are assertions: a comment before them names the test; mocha has none."""
_ERROR_LINE = re.compile(r"^(?:[\w.]*Error\b.*|.*\bSyntaxError\b.*)$", re.MULTILINE)
_KEYS_BEHIND_ERROR = ("code: ", "name: ", "expected: ", "stack: ")
"""The keys of a TAP point's report that may follow a message of several lines."""
_NO_TESTS = re.compile(
    r"^(?:=+ )?no tests ran(?: in |$)|^collected (?:0 items$|(\d+) items? / \1 deselected)|^No tests? (?:files? )?"
    r"(?:found|executed!|were found!!!|is available|matches)|^running 0 tests$|^0 examples, 0 failures|^ *0 passing\b"
    r"|^error: no tests to run",
    re.MULTILINE,
)
"""What programs say of a run without tests that print no count that is read here."""

_SOME_TESTS = re.compile(r"\b[1-9]\d{0,8} (?:x?passed|x?failed|passing|failing|examples?|errors?)\b")
"""What another run of the same output says."""

_GO = re.compile(r"^( *)--- (FAIL|PASS|SKIP): (\S+) \(")
_GO_STARTED = re.compile(r"=== [A-Z]+ +(\S+)$")
_GO_ENDED = re.compile(r"^(?:ok  \t|FAIL\t|PASS$|FAIL$|\?   \t)")


class _Point(Struct, frozen=True):
    indent: int
    titles: tuple[str, ...]
    ok: bool
    skipped: bool
    below: str = ""
    before: str = ""
    opens: bool = False


def from_output(output: str) -> SuiteCounts | None:
    """The tests in what a command printed, all that it ran together; `None` where it does not say how many ran."""
    readers = (from_unittest, _from_tap, _from_go, from_text)
    counts = [counted for reader in readers if (counted := reader(output)) is not None]
    return _joined_counts(counts) if counts else None


def saw_tests(output: str) -> bool:
    """Return whether a command ran a test, as far as it says: a run of none has neither passed nor failed."""
    counts = from_output(output)
    return counts.ran > 0 if counts is not None else not _NO_TESTS.search(output) or bool(_SOME_TESTS.search(output))


def _joined_counts(counts: list[SuiteCounts]) -> SuiteCounts:
    passed = [each.passed for each in counts]
    known = None if None in passed else tuple(test for each in passed for test in each or ())
    failed = tuple(test for each in counts for test in each.failed)
    return SuiteCounts(sum(each.ran for each in counts), sum(each.skipped for each in counts), failed, known)


def from_unittest(output: str) -> SuiteCounts | None:
    """Return the tests in what `python -m unittest` printed; `None` where it does not say how many ran."""
    ended = list(_COUNTED.finditer(output))
    starts = [0, *(each.end() for each in ended)]
    runs = [_unittest_run(output[start : each.end()], each) for start, each in zip(starts, ended, strict=False)]
    return _joined_counts(runs) if runs else None


def _unittest_run(output: str, counted: re.Match[str]) -> SuiteCounts:
    failed: list[FailedTest] = []
    for heading, following in _each_with_end(_BLOCK, output, output.rfind(f"\nRan {counted[1]} test")):
        rule = _RULE.search(output, heading.end(), following)
        trace = output[rule.end() if rule else heading.end() : following].strip().removesuffix("-" * 70).strip()
        failed.append(FailedTest(_unittest_id(heading[1]), last_line(trace), trace[-MOST_TRACE:]))
    skipped = _SKIPPED.search(counted[2] or "")
    number, ran = int(skipped[1]) if skipped else 0, int(counted[1])
    passed = _unittest_passed(output, ran, failed)
    # A class that is skipped counts as no test, and each part of one by `subTest` as another.
    seen = len({test.id for test in failed}.union(passed or ()))
    return SuiteCounts(max(seen, ran - number), number, tuple(failed), passed)


def _each_with_end(pattern: re.Pattern[str], output: str, end: int) -> Iterator[tuple[re.Match[str], int]]:
    matches = list(pattern.finditer(output))
    return zip(matches, [*(each.start() for each in matches[1:]), end], strict=False)


def _unittest_passed(output: str, ran: int, failed: list[FailedTest]) -> tuple[str, ...] | None:
    """Return the tests that `-v` names and that neither failed nor were skipped; `None` where it was not asked for."""
    started = [
        (_unittest_id(each[1]), _NOT_PASSED.search(output, each.end(), end) is None)
        for each, end in _each_with_end(_STARTED, output, len(output))
    ]
    if not started and ran:
        return None
    broken = {test.id for test in failed}
    return tuple(name for name, passed in started if passed and name not in broken)


def _unittest_id(heading: str) -> str:
    match = _UNITTEST_ID.match(heading)
    if match is None:
        return heading.strip()
    name, place = match.groups()
    return place if place.endswith(f".{name}") else f"{place}.{name}"


def _from_tap(output: str) -> SuiteCounts | None:
    """Return the tests in what printed the Test Anything Protocol; `None` where it has no plan."""
    if not _PLAN.search(output):
        return None
    points: list[_Point] = []
    printed = list(_points(output))
    if "# Subtest: " not in output and _TAPE.search(output) and printed and printed[0].before:
        return _from_tape(printed)
    suites: list[_Point] = []
    for one in printed:
        suites = [each for each in suites if each.indent < one.indent]
        if one.opens:
            suites.append(one)
            continue
        point = replace(one, titles=(*(each.titles[0] for each in suites), *one.titles))
        inner = len(points)
        while inner and points[inner - 1].indent > point.indent:
            inner -= 1
        own = [replace(each, indent=point.indent, titles=(*point.titles, *each.titles)) for each in points[inner:]]
        del points[inner:]
        points += own
        if not own or (not point.ok and not point.skipped and all(each.ok for each in own)):
            points.append(point)
    ran = [each for each in points if not each.skipped]
    return SuiteCounts(
        len(ran),
        len(points) - len(ran),
        tuple(_tap_failure(each) for each in ran if not each.ok),
        tuple("::".join(each.titles) for each in ran if each.ok),
    )


def _from_tape(points: list[_Point]) -> SuiteCounts:
    tests: dict[str, _Point] = {}
    title = ""
    for point in points:
        title = point.before.rpartition("\n")[2] or title
        name = title or point.titles[0]
        known = tests.get(name)
        if known is None or (known.ok and not point.ok):
            tests[name] = replace(point, titles=(name,), below=f"{point.titles[0]}\n{point.below}", before="")
    passed = tuple(title for title, each in tests.items() if each.ok)
    return SuiteCounts(len(tests), 0, tuple(_tap_failure(each) for each in tests.values() if not each.ok), passed)


def _points(output: str) -> Iterator[_Point]:
    last: _Point | None = None
    before: list[str] = []
    below: list[str] = []
    has_ended = True  # comments are about the point that follows: what a file printed, or the test's title
    for line in output.splitlines():
        point = _POINT.fullmatch(line)
        if point is None:
            if has_ended and line.startswith("# ") and not line.startswith("# Subtest: "):
                before.append(line[2:])
            elif not line.lstrip().startswith(("# Subtest: ", "1..")):
                below.append(line)
            has_ended = has_ended or line.strip() == "..."
            continue
        if last is not None:
            yield replace(last, below="\n".join(below))
        has_ended = not point[2]
        directive = _DIRECTIVE.search(point[3])
        title = _DIRECTIVE.sub("", _TIME.sub("", point[3])).replace("\\#", "#").replace("\\\\", "\\").strip()
        last = _Point(len(point[1]), (title.removeprefix(f"{INSIDE}/"),), not point[2], directive is not None)
        last = replace(last, before="\n".join(before), opens=point[3].endswith("s {"))
        before, below = [], []
    if last is not None:
        yield replace(last, below="\n".join(below))


def _tap_failure(point: _Point) -> FailedTest:
    below = dedent(point.below).strip()
    place = _LOCATION.search(below)
    file = place[1].removeprefix("file://").removeprefix(f"{INSIDE}/") if place else ""
    named = file if file and not file.startswith("/") and file != point.titles[0] else ""
    message = " ".join(_error_of(below).split()).strip("'\"") or last_line(below)
    if message == "test failed" and (error := _ERROR_LINE.search(point.before)):  # a file that node could not run
        message, below = error[0].strip(), point.before
    return FailedTest("::".join(filter(None, (named, *point.titles))), message[:MOST_TRACE], below[-MOST_TRACE:])


def _error_of(report: str) -> str:
    lines = iter(line.strip() for line in report.split("\n"))
    first = next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), "")
    if first != "|-":
        return first
    return "\n".join(takewhile(lambda line: not f"{line} ".startswith(_KEYS_BEHIND_ERROR), lines))


class _GoEvent(Struct, rename="pascal"):
    package: str = ""
    output: str = ""


def _printed_by_go(output: str) -> str:
    """Return what `go test -json` has of what was printed, package by package: they write at the same time."""
    printed: dict[str, list[str]] = {}
    for line in output.splitlines():
        if line.startswith("{"):
            with suppress(*NOT_JSON):
                event = msgspec.json.decode(line, type=_GoEvent)
                printed.setdefault(event.package, []).append(event.output)
    return "".join(text for texts in printed.values() for text in texts)


def _from_go(output: str) -> SuiteCounts | None:
    """The tests in what `go test` printed; those that passed are named with `-v`. `None` where no package ended."""
    lines = (_printed_by_go(output) if '"Action":' in output else output).splitlines()
    if not any(_GO_ENDED.match(line) and "\t" in line for line in lines):
        return None
    ends: list[tuple[str, str, int]] = []
    printed: dict[tuple[int, str], list[str]] = {}
    broken: dict[int, str] = {}
    package, test = 0, ""
    for line in lines:  # with `-v` a test prints before the line on its end, without it after that
        if started := _GO_STARTED.match(line):
            test = started[1]
        elif ended := _GO.match(line):
            test = ended[3]
            ends.append((ended[2], test, package))
        elif _GO_ENDED.match(line):
            if line.startswith("FAIL\t") and "[setup failed]" not in line:
                broken[package] = line.split("\t")[1].partition(" ")[0]
            package, test = package + ("\t" in line), ""
        else:
            printed.setdefault((package, test), []).append(line)
    results = [
        (end, name, dedent("\n".join(printed.get((number, name), ()))).strip(), number) for end, name, number in ends
    ]
    around = {(package, name.rpartition("/")[0]) for _, name, _, package in results}
    failed_within = {(package, name.rpartition("/")[0]) for end, name, _, package in results if end == "FAIL"}
    leaves = [
        (end, name, text)
        for end, name, text, package in results
        if (package, name) not in (failed_within if end == "FAIL" else around)
    ]
    failures = [(name, trace_text) for end, name, trace_text in leaves if end == "FAIL"]
    # A package of which no test fails was not built, or ended before its tests.
    of_tests = {number for end, _, _, number in results if end == "FAIL"}
    failures += [
        (name, "\n".join(printed.get((number, ""), ())).strip())
        for number, name in broken.items()
        if number not in of_tests
    ]
    failed = tuple(FailedTest(name, last_line(text), text[-MOST_TRACE:]) for name, text in failures)
    passed = tuple(name for end, name, _ in leaves if end == "PASS")
    quiet = sum(line.startswith("ok  \t") and "[no tests to run]" not in line for line in lines)
    is_verbose = any(line.startswith("=== RUN") for line in lines)
    skipped = sum(end == "SKIP" for end, _, _ in leaves)
    ran = len(failed) + (len(passed) if is_verbose else quiet)
    return SuiteCounts(ran, skipped, failed, passed if is_verbose or not ran else None)
