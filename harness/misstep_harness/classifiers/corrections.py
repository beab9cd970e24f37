"""Where in a run what went wrong goes right: looked up by tool, program and file, not searched for call by call."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import cached_property

from misstep_harness.classifiers.calls.effects import CHANGES_FILES, effects
from misstep_harness.classifiers.calls.failures import CallFailure, failed
from misstep_harness.classifiers.calls.history import Act
from misstep_harness.classifiers.calls.identity import even_path
from misstep_harness.classifiers.calls.shell import commands_of
from misstep_harness.classifiers.calls.tools import bare_name, path_of

WINDOW = 10
"""Calls between two malformed calls, or two of tools that do not exist, from which they are slips of their own."""

_DEEPEST = 40
"""Parts of a path that are compared, from its end on."""


def subject_of(act: Act, failure: CallFailure) -> Hashable:
    """Return what an error is about: the file of an edit, the program of a command, the tool otherwise."""
    fault = failure.fault
    if fault in ("malformed call", "unknown tool"):
        return fault
    if fault in ("failed edit", "missing file"):
        return fault, even_path(path_of(act.call)) or bare_name(act.call.name)
    if fault == "wrong usage":
        return fault, program_at_fault(act, failure)
    return fault, bare_name(act.call.name)


def program_at_fault(act: Act, failure: CallFailure) -> str:
    """Return the program that complains, else the first of the command line."""
    programs = [command.program for command in commands_of(act) if command.program != "cd"]
    return next(
        (program for program in programs if program and program in failure.words), programs[0] if programs else ""
    )


class Corrections:
    """The calls of a run that came to something, by what they were about."""

    def __init__(self, acts: Sequence[Act]) -> None:
        self._acts = acts
        self._number = len(acts)
        self._known: dict[str, dict[str, list[int]]] = {}

    @cached_property
    def _all(self) -> list[int]:
        return [place for place, act in enumerate(self._acts) if not failed(act)]

    def _first(self, sort: str, about: str, start: int, end: int) -> int | None:
        if sort not in self._known:
            places = self._known[sort] = defaultdict(list)
            for place, act in enumerate(self._acts):
                keys = _KEYS[sort](act)
                for key in keys if keys and not failed(act) else ():
                    places[key].append(place)
        return _first(self._known[sort].get(about, _NONE), start, end)

    def between(self, subject: Hashable, start: int, end: int) -> int | None:
        """Return the first call between two others in which what went wrong goes right; `None` for none."""
        if not isinstance(subject, tuple):
            return _first(self._all, start, end)
        fault, about = subject
        if fault == "wrong usage":
            return self._first("program", str(about), start, end)
        if fault == "invalid arguments":
            return self._first("tool", str(about), start, end)
        if fault == "missing file":
            return self._first("path", str(about), start, end)
        changed = (self._first("touched", str(about), start, end), self.changed(str(about), start, end))
        return min((one for one in changed if one is not None), default=None)

    def put_right(self, subject: Hashable, start: int, end: int) -> bool:
        """Return whether between two calls what went wrong goes right, or the error is too long ago to be the same."""
        if not isinstance(subject, tuple) and end < self._number:
            return end - start > WINDOW
        if isinstance(subject, tuple) and subject[0] == "failed edit":
            path = str(subject[1])
            return self._first("touched", path, start, end) is not None or self.changed(path, start, end) is not None
        return self.between(subject, start, end) is not None

    def changed(self, path: str, start: int, end: int) -> int | None:
        """Return the first call between two others that changes a file, by whatever part of its path it is named."""
        whole = even_path(path)
        parts = whole.split("/")[-_DEEPEST:]
        places = [self._first("ends", whole, start, end)]
        places += [self._first("changed", "/".join(parts[cut:]), start, end) for cut in range(1, len(parts))]
        return min((one for one in places if one is not None), default=None)

    def works(self, act: Act, failure: CallFailure, start: int) -> int | None:
        """The first call after another that works with the same tool on the same thing, or with the same program."""
        subject = subject_of(act, failure)
        program = program_at_fault(act, failure) if act.line is not None else ""
        like = ("program", program) if program else ("used", _use(act))
        places = (self.between(subject, start, self._number), self._first(*like, start, self._number))
        return min((one for one in places if one is not None), default=None)


def _use(act: Act) -> str:
    return f"{bare_name(act.call.name)} {_name(path_of(act.call))}"


def _path(act: Act) -> tuple[str, ...]:
    path = even_path(path_of(act.call))
    return (path,) if path else ()


def _changed(act: Act) -> set[str]:
    return {even_path(effect.target) for effect in effects(act) if effect.verb in CHANGES_FILES}


def _ends(act: Act) -> set[str]:
    whole = _changed(act)
    if not whole:
        return whole
    parts = [path.split("/")[-_DEEPEST:] for path in whole]
    return whole | {"/".join(part[cut:]) for part in parts for cut in range(1, len(part))}


_KEYS: dict[str, Callable[[Act], Collection[str]]] = {
    "tool": lambda act: (bare_name(act.call.name),),
    "used": lambda act: (_use(act),),
    "path": _path,
    "touched": lambda act: () if act.kind == "read" else _path(act),
    "program": lambda act: {command.program for command in commands_of(act)},
    "changed": _changed,
    "ends": _ends,
}
_NONE: list[int] = []


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _first(places: list[int], start: int, end: int) -> int | None:
    index = bisect_right(places, start)
    return places[index] if index < len(places) and places[index] < end else None
