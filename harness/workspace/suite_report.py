"""What a test command found: which tests ran, which failed and how, from JUnit XML, pytest and unittest.

A report is read from what a sandboxed command printed or wrote, so it is data: XML with a document type is refused,
texts are cut, and a command that says nothing of any test has not passed.
"""

import re
from typing import Literal
from xml.etree import ElementTree as Xml

from msgspec import Struct

from harness.errors import InputError

Runner = Literal["pytest", "unittest", "junit", "exit_code"]

MOST_TRACE = 6_000
"""How many characters of one failure are kept: the end of a trace says most."""

_COUNTED = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_SKIPPED = re.compile(r"\bskipped=(\d+)")
_BLOCK = re.compile(r"^={70}\n(?:FAIL|ERROR): ([^\n]+)\n", re.MULTILINE)
_RULE = re.compile(r"^-{70}\n", re.MULTILINE)
_UNITTEST_ID = re.compile(r"(\S+) \(([\w.]+)\)")


class FailedTest(Struct, frozen=True, omit_defaults=True):
    """One test that failed: its id as its runner names it, the last line of the failure, and the trace."""

    id: str
    message: str = ""
    trace: str = ""


class SuiteReport(Struct, frozen=True, omit_defaults=True):
    """What one run of a test command found.

    `ran` is how many tests were executed, skipped ones not counted, `None` where the command does not say; `ended` is
    what ended it (`exited`, or the limit that it met); `output` is what it printed.
    """

    passed: bool
    ran: int | None = None
    skipped: int = 0
    failed: tuple[FailedTest, ...] = ()
    ended: str = "exited"
    exit_code: int | None = 0
    output: str = ""
    seconds: float = 0.0

    def feedback(self, most: int = 8_000) -> str:
        """What an agent is told: "All tests passed", or each failure with its message and trace, cut to `most`."""
        if self.passed:
            return "All tests passed"
        if self.ended != "exited":
            return f"The tests were stopped: {STOPPED.get(self.ended, self.ended)}.\n{self.output[-most:]}".rstrip()
        if not self.failed:
            said = "No test was run" if self.ran == 0 else f"The test command ended with exit code {self.exit_code}"
            return f"{said}.\n{self.output[-most:]}".rstrip()
        share = max(500, most // len(self.failed))
        shown = self.failed[: max(1, most // share)]
        lines = [f"{len(self.failed)} test{'s' * (len(self.failed) > 1)} failed."]
        for number, test in enumerate(shown, 1):
            lines.append(f"\n{number}) {test.id}\n{test.message[:share]}\n{test.trace[-share:]}".rstrip())
        if len(shown) < len(self.failed):
            lines.append(f"\n… and {len(self.failed) - len(shown)} more.")
        return "\n".join(lines)


STOPPED = {
    "time": "they took longer than the limit",
    "memory": "they used more memory than the limit",
    "output": "they printed more than the limit",
    "disk": "they wrote more than the limit",
    "signal": "a signal ended them",
}
"""What ended a command → the same in words."""


class SuiteCounts(Struct, frozen=True):
    """What a report says of its tests."""

    ran: int
    skipped: int
    failed: tuple[FailedTest, ...]


def from_junit_xml(data: bytes, file: str = "") -> SuiteCounts:
    """The tests in a JUnit XML report.

    Raises
    ------
    InputError
        It is no JUnit XML, or has a document type, whose entities may grow without bound.
    """
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise InputError("a test report may not have a document type", file=file)
    try:
        root = Xml.fromstring(data)  # noqa: S314 -- entities need a document type, refused above
    except (Xml.ParseError, ValueError) as error:
        raise InputError(f"the test report is no XML: {error}", file=file) from error
    if root.tag not in ("testsuites", "testsuite"):
        raise InputError(f"the test report begins with <{root.tag[:40]}>, not <testsuites>", file=file)
    failed: list[FailedTest] = []
    ran = skipped = 0
    for case in root.iter("testcase"):
        if case.find("skipped") is not None:
            skipped += 1
            continue
        ran += 1
        broken = [*case.findall("failure"), *case.findall("error")]
        if broken:
            trace = "\n".join(filter(None, ((each.text or "").strip() for each in broken)))
            message = broken[0].get("message") or _last_line(trace)
            failed.append(FailedTest(_junit_id(case), message[:MOST_TRACE], trace[-MOST_TRACE:]))
    return SuiteCounts(ran, skipped, tuple(failed))


def from_unittest(output: str) -> SuiteCounts | None:
    """The tests in what `python -m unittest` printed; `None` where it does not say how many ran."""
    counted = _COUNTED.search(output)
    if counted is None:
        return None
    skipped = _SKIPPED.search(output, counted.end())
    failed: list[FailedTest] = []
    places = list(_BLOCK.finditer(output, 0, counted.start()))
    ends = [*(each.start() for each in places), counted.start()][1:]
    for place, following in zip(places, ends, strict=True):
        rule = _RULE.search(output, place.end(), following)
        trace = output[rule.end() if rule else place.end() : following].strip().removesuffix("-" * 70).strip()
        failed.append(FailedTest(_unittest_id(place.group(1)), _last_line(trace), trace[-MOST_TRACE:]))
    number = int(skipped.group(1)) if skipped else 0
    return SuiteCounts(int(counted.group(1)) - number, number, tuple(failed))


def _junit_id(case: Xml.Element) -> str:
    name, group, file = case.get("name", ""), case.get("classname", ""), case.get("file", "")
    if file.endswith(".py"):
        # pytest writes `tests.test_a.TestB`; what follows the module are the classes.
        module = file.removesuffix(".py").replace("/", ".")
        if not group and name == module:  # the file could not be imported
            return file
        classes = group.removeprefix(module).strip(".").replace(".", "::") if group.startswith(module) else ""
        return "::".join(part for part in (file, classes, name) if part)
    return "::".join(part for part in (file or group, name) if part)


def _unittest_id(heading: str) -> str:
    found = _UNITTEST_ID.match(heading)
    if found is None:
        return heading.strip()
    name, place = found.groups()
    return place if place.endswith(f".{name}") else f"{place}.{name}"


def _last_line(trace: str) -> str:
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    return lines[-1] if lines else ""
