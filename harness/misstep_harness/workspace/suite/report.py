"""What a test command found: which tests ran, which failed and how, from JUnit XML."""

import re
import time
from collections.abc import Mapping
from typing import Literal, NoReturn
from xml.parsers import expat

from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.workspace.sandbox import INSIDE

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


MOST_BYTES = 32 << 20
MOST_CASES = 100_000
MOST_ELEMENTS = 500_000
DEEPEST = 64
LONGEST_VALUE = 1 << 16
"""Characters of one attribute: names of tests that are longer are of no use to anybody."""

MOST_SECONDS = 20.0
"""How long a report may be read; one of the most bytes takes a few seconds."""


def from_junit_xml(data: bytes, file: str = "") -> SuiteCounts:
    """Return the tests in a JUnit XML report, which code under repair may have written: it has limits."""
    if len(data) > MOST_BYTES:
        raise InputError(f"the test report has more than {MOST_BYTES >> 20} MiB", file=file)
    reading = _Reading(file)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = reading.declares
    parser.StartElementHandler, parser.EndElementHandler = reading.starts, reading.ends
    parser.CharacterDataHandler = reading.says
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:  # the last is of an encoding that is none
        raise InputError(f"the test report is not XML: {error}", file=file) from error
    return SuiteCounts(
        len(reading.passed) + len(reading.failed), reading.skipped, tuple(reading.failed), tuple(reading.passed)
    )


class _Reading:
    """What is known of a report while it is read; nothing of it is kept but the tests."""

    def __init__(self, file: str) -> None:
        self._file, self._path, self._elements = file, list[str](), 0
        self._end = time.monotonic() + MOST_SECONDS
        self.failed, self.passed, self.skipped = list[FailedTest](), list[str](), 0
        self._case: dict[str, str] = {}
        self._is_skipped = False
        self._messages: list[str] = []
        self._text, self._traces = "", list[str]()

    def _refuse(self, what: str) -> NoReturn:
        raise InputError(f"the test report {what}", file=self._file)

    def declares(self, *_: object) -> None:
        self._refuse("may not have a document type")

    def starts(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if not self._path and name not in ("testsuites", "testsuite"):
            self._refuse(f"begins with <{name[:40]}>, not <testsuites>")
        if len(self._path) >= DEEPEST or self._elements > MOST_ELEMENTS:
            self._refuse(f"has more than {DEEPEST} levels or {MOST_ELEMENTS:,} elements")
        if attributes and max(map(len, attributes.values())) > LONGEST_VALUE:
            self._refuse(f"has an attribute of more than {LONGEST_VALUE:,} characters")
        if self._elements % _A_WHILE == 1 and time.monotonic() > self._end:
            self._refuse(f"takes more than {MOST_SECONDS:g} seconds to read")
        if name == "testcase":
            self._case, self._messages, self._traces = attributes, [], []
            self._is_skipped = attributes.get("status") in _NOT_RUN
        elif self._path and self._path[-1] == "testcase":
            self._is_skipped |= name == "skipped"
            if name in _FAILURES:
                self._messages.append(attributes.get("message", ""))
                self._text = ""
        self._path.append(name)

    def says(self, text: str) -> None:
        if self._path[-1] in _FAILURES:
            self._text = f"{self._text}{text}"[-MOST_TRACE:]

    def ends(self, name: str) -> None:
        self._path.pop()
        if name in _FAILURES and self._path and self._path[-1] == "testcase":
            self._traces.append(self._text.strip())
        elif name == "testcase":
            self._counted()

    def _counted(self) -> None:
        if self._messages:  # a test may be skipped, and what is done after it fail
            trace = "\n".join(filter(None, self._traces))
            message = self._messages[0] or last_line(trace)
            self.failed.append(FailedTest(_junit_id(self._case), message[:MOST_TRACE], trace[-MOST_TRACE:]))
        elif self._is_skipped:
            self.skipped += 1
        else:
            self.passed.append(_junit_id(self._case))
        if len(self.passed) + len(self.failed) + self.skipped > MOST_CASES:
            self._refuse(f"has more than {MOST_CASES:,} tests")


_FAILURES = ("failure", "error")
_NOT_RUN = ("notrun", "disabled")
"""What googletest and ctest give as the status of a test that was switched off."""

_A_WHILE = 1_000
"""Elements between two looks at the clock."""


def _junit_id(case: Mapping[str, str]) -> str:
    name, group = case.get("name", ""), case.get("classname", "")
    file = case.get("file", "").removeprefix(f"{INSIDE}/").removeprefix("./")
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
    """Return the last line of a trace that says anything; the places that JavaScript prints below an error do not."""
    lines = [line.strip() for line in trace.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    return lines[-1] if lines else ""
