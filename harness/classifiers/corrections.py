"""Where in a run what went wrong goes right: looked up by tool, program and file, not searched for call by call."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from harness.classifiers.effects import CHANGES_FILES, effects
from harness.classifiers.failures import Failure, failed
from harness.classifiers.history import Act
from harness.classifiers.identity import even_path
from harness.classifiers.shell import commands_of
from harness.classifiers.tools import bare_name, path_of

WINDOW = 10
"""Calls between two malformed calls, or two of tools that do not exist, from which they are slips of their own."""

_DEEPEST = 40
"""Parts of a path that are compared, from its end on."""


def subject_of(act: Act, failure: Failure) -> Hashable:
    """What an error is about: the file of an edit, the program of a command, the tool otherwise."""
    fault = failure.fault
    if fault in ("malformed call", "unknown tool"):
        return fault
    if fault in ("failed edit", "missing file"):
        return fault, even_path(path_of(act.call)) or bare_name(act.call.name)
    if fault == "wrong usage":
        return fault, program_at_fault(act, failure)
    return fault, bare_name(act.call.name)


def program_at_fault(act: Act, failure: Failure) -> str:
    """The program that complains, else the first of the command line."""
    programs = [command.program for command in commands_of(act) if command.program != "cd"]
    return next(
        (program for program in programs if program and program in failure.words), programs[0] if programs else ""
    )


class Corrections:
    """The calls of a run that came to something, by what they were about.

    Parameters
    ----------
    acts
        The calls of the run.
    """

    def __init__(self, acts: Sequence[Act]) -> None:
        self._number = len(acts)
        self._all: list[int] = []
        self._by: dict[Hashable, list[int]] = defaultdict(list)
        for place, act in enumerate(acts):
            if failed(act):
                continue
            self._all.append(place)
            for key in dict.fromkeys(_keys(act)):
                self._by[key].append(place)

    def between(self, subject: Hashable, start: int, end: int) -> int | None:
        """The first call between two others in which what went wrong goes right; `None` for none."""
        if not isinstance(subject, tuple):
            return _first(self._all, start, end)
        fault, about = subject
        if fault == "wrong usage":
            return _first(self._by["program", about], start, end)
        if fault == "invalid arguments":
            return _first(self._by["tool", about], start, end)
        if fault == "missing file":
            return _first(self._by["path", about], start, end)
        changed = [
            one
            for one in (_first(self._by["touched", about], start, end), self.changed(about, start, end))
            if one is not None
        ]
        return min(changed, default=None)

    def put_right(self, subject: Hashable, start: int, end: int) -> bool:
        """Whether between two calls what went wrong goes right, or the error is too long ago to be the same."""
        if not isinstance(subject, tuple) and end < self._number:
            return end - start > WINDOW
        return self.between(subject, start, end) is not None

    def changed(self, path: str, start: int, end: int) -> int | None:
        """The first call between two others that changes a file, by whatever part of its path it is named."""
        parts = even_path(path).split("/")[-_DEEPEST:]
        keys: list[Hashable] = [("ends with", even_path(path))]
        keys += [("changed", "/".join(parts[cut:])) for cut in range(1, len(parts))]
        found = [one for key in keys if key in self._by and (one := _first(self._by[key], start, end)) is not None]
        return min(found, default=None)

    def works(self, act: Act, failure: Failure, start: int) -> int | None:
        """The first call after another that works with the same tool on the same thing, or with the same program."""
        subject = subject_of(act, failure)
        tool = bare_name(act.call.name)
        program = program_at_fault(act, failure) if act.line is not None else ""
        like = ("program", program) if program else ("used", tool, _name(path_of(act.call)))
        found = (self.between(subject, start, self._number), _first(self._by[like], start, self._number))
        return min((one for one in found if one is not None), default=None)


def _keys(act: Act) -> Iterable[Hashable]:
    """What a call that came to something can be found by."""
    tool, path = bare_name(act.call.name), even_path(path_of(act.call))
    yield "tool", tool
    yield "used", tool, _name(path)
    yield "path", path
    if act.kind != "read":
        yield "touched", path
    for command in commands_of(act):
        yield "program", command.program
    for effect in effects(act):
        if effect.verb in CHANGES_FILES:
            target = even_path(effect.target)
            parts = target.split("/")[-_DEEPEST:]
            yield "changed", target
            yield "ends with", target
            for cut in range(1, len(parts)):
                yield "ends with", "/".join(parts[cut:])


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _first(places: list[int], start: int, end: int) -> int | None:
    index = bisect_right(places, start)
    return places[index] if index < len(places) and places[index] < end else None
