"""Group failures of one root cause: the same message at the same place in the project's code, or one change.

Before any bisection a cause is told by the message without what differs from run to run, and the innermost frame in
the project's own code. Groups that turn out to have one blamed change are joined (section 3).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from misstep_harness.workspace.suite.report import FailedTest

_INSIDE = "/ws/"
_NATIVE = re.compile(r'File "([^"\n]{1,400})", line (\d{1,9}), in (\S{1,200})')
_PLAIN = re.compile(r"(?<![\w./-])([\w./-]{1,400}\.\w{1,10}):(\d{1,9})(?!\d)")
_INNER_FIRST = re.compile(r"(?<![\w./@-])([\w./@+$\[\]-]{1,400}\.\w{1,10}):(\d{1,9}):\d{1,9}\)?\s*$", re.MULTILINE)
"""A frame of node, by line and column at the end of its line; of its frames the first is the innermost."""
_VARYING = (
    (re.compile(r"0x[0-9a-fA-F]{1,40}"), "<address>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"(?<![\w/.])/[\w./+-]{1,400}"), "<path>"),
    (re.compile(r"(?<![\w.])\d{1,40}(?:\.\d{1,40})?(?![\w.])"), "<number>"),
)
_LONGEST = 300
_MOST_COMPARED = 1_000

_TEMPORARY = (
    *_VARYING[:2],
    (re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm|run/user)/[\w./+-]{1,400}"), "<path>"),
    (
        re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"),
        "<time>",
    ),
    (re.compile(r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b"), "<time>"),
    (re.compile(r"(?<![\w.])\d{1,9}(?:\.\d{1,20})?(?= ?(?:ns|µs|us|ms|s|sec|secs|seconds?|minutes?)\b)"), "<time>"),
    (re.compile(r"(?<=127\.0\.0\.1:)\d{2,5}|(?<=localhost:)\d{2,5}|(?<=\bpid )\d{1,9}|(?<=\bpid=)\d{1,9}"), "<number>"),
    (re.compile(r"(\.[A-Za-z]{1,5}):\d{1,9}(?::\d{1,9})?"), r"\1:<line>"),
    (re.compile(r"(?<=\bline )\d{1,9}"), "<line>"),
)
"""What differs from run to run, and by the lines that a change adds; the numbers of an assertion are kept."""
_SAYS_NOTHING = re.compile(r"collection failure|failed on (?:setup|teardown) with|Process completed|exit status \d+|$")
_RAISED = re.compile(
    r"^(?:E\s+)?((?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|NotFound)\b.*)$", re.MULTILINE
)


class Frame(Struct, frozen=True, order=True):
    """A place in the project's code that a trace names; the function is empty where the trace does not say it."""

    path: str
    line: int
    function: str = ""


def frames(trace: str, paths: Collection[str]) -> list[Frame]:
    """Return the places in the project's code that a trace of Python, pytest, node, Go or C names, in order."""
    matches = sorted([*_NATIVE.finditer(trace), *_PLAIN.finditer(trace)], key=lambda match: match.start())
    named = ((match[1].removeprefix(_INSIDE).removeprefix("./"), *match.groups()[1:]) for match in matches)
    return [Frame(path, int(line), *function) for path, line, *function in named if path in paths]


def innermost(trace: str, paths: Collection[str]) -> Frame | None:
    """Return the last place in the project's code that a trace names, as a chain of causes ends; of node the first."""
    named = ((match[1].removeprefix("//").removeprefix(_INSIDE), match[2]) for match in _INNER_FIRST.finditer(trace))
    first = next((Frame(path, int(line)) for path, line in named if path in paths), None)
    return first or next(reversed(frames(trace, paths)), None)


def normalised(message: str) -> str:
    """Return the first line of a message without addresses, numbers, paths and what else differs from run to run."""
    text = next((line.strip() for line in message.splitlines() if line.strip()), "")[:_LONGEST]
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def failure_of(test: FailedTest) -> str:
    """Return what a test failed with, to compare it with another run: the message, or what its trace ends with."""
    text = test.message.strip()
    if _SAYS_NOTHING.match(text) and (raised := _RAISED.findall(test.trace)):
        text = f"{text}\n{raised[-1]}"
    lines = (" ".join(line.split()) for line in text.splitlines())
    text = "\n".join(filter(None, lines))[:_MOST_COMPARED]
    for pattern, word in _TEMPORARY:
        text = pattern.sub(word, text)
    return text


class SameFailure:
    """Tell whether a failure is that of some runs at one commit, by what its message keeps there."""

    def __init__(self, tests: Iterable[FailedTest]) -> None:
        seen = list(tests)
        exact, first_lines = set(map(failure_of, seen)), {normalised(failure_of(test)) for test in seen}
        self._exact = exact if len(exact) == 1 else None
        self._first_line = first_lines if len(first_lines) == 1 else None

    def __call__(self, test: FailedTest) -> bool:
        """Return whether a test failed in the same way; a message that differs at one commit tells nothing."""
        if self._exact is not None:
            return failure_of(test) in self._exact
        return self._first_line is None or normalised(failure_of(test)) in self._first_line


def group_failures(failures: Iterable[FailedTest], paths: Collection[str]) -> list[tuple[FailedTest, ...]]:
    """Group failures of the same message at the same place, in the order in which they came."""
    of: defaultdict[tuple[str, str, int], list[FailedTest]] = defaultdict(list)
    known = set(paths)
    for failure in failures:
        frame = innermost(failure.trace, known)
        message = normalised(failure.message or failure.trace)
        of[message, frame.path if frame else "", frame.line if frame else 0].append(failure)
    return [tuple(members) for members in of.values()]


def joined(groups: Sequence[tuple[FailedTest, ...]], blamed: Sequence[str]) -> list[tuple[FailedTest, ...]]:
    """Return the groups, those with one blamed change joined."""
    of: defaultdict[str, list[FailedTest]] = defaultdict(list)
    for place, (group, change) in enumerate(zip(groups, blamed, strict=True)):
        of[change or f"{place}"] += group
    return [tuple(members) for members in of.values()]
