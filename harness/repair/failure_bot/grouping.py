"""Group failures of one root cause: the same message at the same place in the project's code, or one change.

Before any bisection a cause is told by the message without what differs from run to run, and the innermost frame in
the project's own code. Groups that turn out to have one blamed change are joined (section 3).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from misstep.harness.workspace.suite.report import FailedTest

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
