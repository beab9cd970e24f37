"""Failures that have one root cause: the same kind of failure at the same place in the project's code, or one change.

A cause is told before any bisection by the message without what differs from run to run and the innermost frame in the
project's own code. Groups that turn out to have one blamed change are joined, as the paper does (section 3).
"""

import re
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.workspace.suite_report import FailedTest

_INSIDE = "/ws/"
_NATIVE = re.compile(r'File "([^"\n]{1,400})", line (\d{1,9}), in (\S{1,200})')
_PLAIN = re.compile(r"(?<![\w./-])([\w./-]{1,400}\.\w{1,10}):(\d{1,9})(?!\d)")
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


class Cause(Struct, frozen=True, order=True):
    """What failures of one cause share: the message without what varies, and the innermost place in the code."""

    message: str
    path: str = ""
    line: int = 0


class Group(Struct, frozen=True):
    """Failures of one cause; `blamed` is the change that all of them began with, where it is known."""

    failures: tuple[FailedTest, ...]
    causes: tuple[Cause, ...]
    blamed: str = ""


def frames(trace: str, paths: Collection[str]) -> list[Frame]:
    """The places in the project's code that a trace names, as it names them: traces of Python, pytest, node, Go, C."""
    found = [(match.start(), match, match.group(3)) for match in _NATIVE.finditer(trace)]
    found += [(match.start(), match, "") for match in _PLAIN.finditer(trace)]
    places = []
    for _, match, function in sorted(found, key=lambda one: one[0]):
        path = match.group(1).removeprefix(_INSIDE).removeprefix("./")
        if path in paths:
            places.append(Frame(path, int(match.group(2)), function))
    return places


def innermost(trace: str, paths: Collection[str]) -> Frame | None:
    """The place in the project's code at which it failed: the last that the trace names, as a chain of causes ends."""
    found = frames(trace, paths)
    return found[-1] if found else None


def normalised(message: str) -> str:
    """Return the first line of a message without addresses, numbers, paths and what else differs from run to run."""
    text = next((line.strip() for line in message.splitlines() if line.strip()), "")[:_LONGEST]
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def cause_of(failure: FailedTest, paths: Collection[str]) -> Cause:
    """Return what a failure shares with others of its cause."""
    frame = innermost(failure.trace, paths)
    message = normalised(failure.message or failure.trace)
    return Cause(message, frame.path, frame.line) if frame else Cause(message)


def group_failures(failures: Iterable[FailedTest], paths: Collection[str]) -> list[Group]:
    """Failures of the same message at the same place together, in the order in which they came."""
    of: dict[Cause, list[FailedTest]] = {}
    known = set(paths)
    for failure in failures:
        of.setdefault(cause_of(failure, known), []).append(failure)
    return [Group(tuple(members), (cause,)) for cause, members in of.items()]


def joined(groups: Sequence[Group], blamed: Sequence[str]) -> list[Group]:
    """Return the groups, those with one blamed change joined."""
    of: dict[str, list[Group]] = {}
    for place, (group, change) in enumerate(zip(groups, blamed, strict=True)):
        of.setdefault(change or f"{place}", []).append(replace(group, blamed=change))
    return [
        Group(
            tuple(failure for group in members for failure in group.failures),
            tuple(dict.fromkeys(cause for group in members for cause in group.causes)),
            members[0].blamed,
        )
        for members in of.values()
    ]
