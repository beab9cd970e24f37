"""What a test command found: which tests ran, which failed and how, from JUnit XML."""

import re
from typing import Literal
from xml.etree import ElementTree as Xml

from msgspec import Struct

from misstep.harness.errors import InputError

Runner = Literal["pytest", "unittest", "node", "jest", "mocha", "tap", "go", "junit", "exit_code"]

MOST_TRACE = 6_000
"""How many characters of one failure are kept: the end of a trace says most."""


_CLASSES = re.compile(r"(?:\.[A-Z]\w{0,200}){1,20}$")
"""What in a name of pytest's report follows the module, by how classes are written."""


class FailedTest(Struct, frozen=True, omit_defaults=True):
    """One test that failed: its id as its runner names it, the last line of the failure, and the trace."""

    id: str
    message: str = ""
    trace: str = ""


class SuiteReport(Struct, frozen=True, omit_defaults=True):
    """What one run of a test command found; `ran` does not count skipped tests, `seen` are ids of those that passed."""

    passed: bool
    ran: int | None = None
    seen: tuple[str, ...] | None = None
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
            result = "No test was run" if self.ran == 0 else f"The test command ended with exit code {self.exit_code}"
            return f"{result}.\n{self.output[-most:]}".rstrip()
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


class SuiteCounts(Struct, frozen=True):
    """What a report says of its tests; `passed` are the ids of those that did, `None` where it names none."""

    ran: int
    skipped: int
    failed: tuple[FailedTest, ...]
    passed: tuple[str, ...] | None = None


def from_junit_xml(data: bytes, file: str = "") -> SuiteCounts:
    """Return the tests in a JUnit XML report."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise InputError("a test report may not have a document type", file=file)
    try:
        root = Xml.fromstring(data)  # noqa: S314 -- entities need a document type, refused above
    except (Xml.ParseError, ValueError) as error:
        raise InputError(f"the test report is not XML: {error}", file=file) from error
    if root.tag not in ("testsuites", "testsuite"):
        raise InputError(f"the test report begins with <{root.tag[:40]}>, not <testsuites>", file=file)
    failed: list[FailedTest] = []
    passed: list[str] = []
    skipped = 0
    for case in root.iter("testcase"):
        if case.find("skipped") is not None:
            skipped += 1
            continue
        broken = [*case.findall("failure"), *case.findall("error")]
        if broken:
            trace = "\n".join(filter(None, ((each.text or "").strip() for each in broken)))
            message = broken[0].get("message") or last_line(trace)
            failed.append(FailedTest(_junit_id(case), message[:MOST_TRACE], trace[-MOST_TRACE:]))
        else:
            passed.append(_junit_id(case))
    return SuiteCounts(len(passed) + len(failed), skipped, tuple(failed), tuple(passed))


def _junit_id(case: Xml.Element) -> str:
    name, group, file = case.get("name", ""), case.get("classname", ""), case.get("file", "")
    if file.endswith(".py"):
        # pytest writes `tests.test_a.TestB`; what follows the module are the classes.
        module = file.removesuffix(".py").replace("/", ".")
        if not group and name == module:  # the file could not be imported
            return file
        if group and not f"{group}.".startswith(f"{module}."):  # the function is of another file: inherited, or wrapped
            module = _CLASSES.sub("", group)
            file = f"{module.replace('.', '/')}.py"
        classes = group.removeprefix(module).strip(".").replace(".", "::")
        return "::".join(part for part in (file, classes, name) if part)
    return "::".join(part for part in (file or group, name) if part)


def last_line(trace: str) -> str:
    """Return the last line of a trace that says anything."""
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    return lines[-1] if lines else ""
