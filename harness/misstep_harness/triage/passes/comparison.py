"""Compare how the agent's result behaves beside the gold result, also where the tests do not look.

Both are made anew in replicas. What differs between two runs of the gold result itself is left out.
"""

import re
from collections.abc import Mapping, Sequence
from json import JSONDecoder
from typing import Any, Literal

import msgspec
from msgspec import Struct

from misstep_harness.triage.passes.observed import Observed, ObservedCall, observe, observe_commands, watched_tests
from misstep_harness.triage.passes.record import texts_of
from misstep_harness.triage.protocols import ReadOnlyAccess, SandboxAccess
from misstep_harness.triage.protocols import Result as Start
from misstep_harness.triage.records.attribution import Evidence
from misstep_harness.workspace.suite.output import saw_tests

_CODE = (".py", ".sh", ".bash", ".js", ".ts", ".c", ".h", ".cpp", ".rs", ".go", ".java", ".rb", ".pl", ".awk", ".sed",
         ".mk", ".pyc", ".log", ".lock")  # fmt: skip
_NOT_THE_RESULT = re.compile(r"(?:^|/)(?:tests?|__pycache__|\.[^/]+)(?:/|$)|(?:^|/)(?:Makefile|Dockerfile)$")
_ORDERED = re.compile(
    r"\b(?:order|sort\w*|first|last|alphabet\w*|ascending|descending|chronolog\w*|sequence)\b", re.IGNORECASE
)

_JSON, _OPENS, _MOST_JSON = JSONDecoder(), re.compile(r"[\[{]"), 10_000
"""Reads JSON; what it begins with; how often that is tried in one text."""

Where = Literal["file", "run", "call", "varied"]


class _Value(Struct, frozen=True):
    """A JSON value in a text, which is not the text that writes it."""

    value: Any


class Difference(Struct, frozen=True):
    """One place in which two results do not behave alike: what was looked at, and what each gave."""

    where: Where
    what: str
    gold: str
    result: str

    def evidence(self) -> Evidence:
        """Return the difference as evidence."""
        return Evidence("difference", self.what, f"gold: {self.gold[:400]}\nresult: {self.result[:400]}")


class Behaviour(Struct, frozen=True):
    """What one result made, printed and gave."""

    passed: bool
    output: str
    files: dict[str, str]
    printed: str | None
    observed: Observed


class ComparedResults(Struct, frozen=True):
    """Two results side by side."""

    gold: Behaviour
    result: Behaviour
    differences: tuple[Difference, ...]
    varied: int


def compare(access: SandboxAccess) -> ComparedResults | None:
    """The agent's result beside the gold result; `None` without one, or if it does not pass itself."""
    if access.case.part("solution") is None or access.case.part("workspace") is None:
        return None
    gold = behaviour(access, "solution")
    if not gold.passed:
        return None
    result = behaviour(access, "workspace")
    differences = _differences(gold, result, access)
    if differences:  # only then it matters what the gold result does not do twice
        again = behaviour(access, "solution")
        files = {path: text for path, text in gold.files.items() if again.files.get(path) == text}
        observed = {call: output for call, output in gold.observed.items() if again.observed.get(call) == output}
        printed = gold.printed if gold.printed == again.printed else None
        gold = Behaviour(gold.passed, gold.output, files, printed, observed)
        differences = _differences(gold, result, access)
    shared = [call for call in _comparable(gold.observed, result.observed) if not call.own]
    return ComparedResults(gold, result, tuple(differences), len(shared))


def _differences(gold: Behaviour, result: Behaviour, access: ReadOnlyAccess) -> list[Difference]:
    return [*_files(gold.files, result.files, access), *_runs(gold, result), *_calls(gold.observed, result.observed)]


def compare_files(access: ReadOnlyAccess) -> tuple[Difference, ...]:
    """Return where files of the result differ from those that the gold solution has as files; nothing is run."""
    parts = (texts_of(access, part) for part in ("solution", "workspace"))
    gold, result = ({path: text for path, text in texts.items() if _is_data(path)} for texts in parts)
    return tuple(_files(gold, result, access))


def _is_data(path: str) -> bool:
    return not path.startswith("tests/") and not path.endswith(_CODE) and _NOT_THE_RESULT.search(path) is None


def behaviour(access: SandboxAccess, start: Start, changed: Mapping[str, str] | None = None) -> Behaviour:
    """Return what a result does."""
    command = access.case.file.test_command
    with access.replica(start) as replica:
        for path, text in (changed or {}).items():
            replica.write(path, text.encode())
        read = {path: replica.read(path) for path in filter(_is_data, replica.files())}
        files = {
            path: data.decode(errors="replace")
            for path, data in read.items()
            if data is not None and b"\0" not in data and data != access.read("environment", path)
        }
        tests = texts_of(access, "tests")
        programs = [path for path in replica.files() if "tests/" not in path]
        finished, observed = observe(replica, watched_tests(tests), command, programs)
        if finished.exit_code != 0:  # the tests may not bear to be watched
            finished = replica.test()
        run = access.case.file.run_command
        printed = None
        if run:
            done = replica.run(run)
            printed = f"{_plain(done.output)}\n(exit code {done.exit_code})"
            observed = {**observed, **observe_commands(replica, [["sh", "-c", run]])}
    return Behaviour(finished.exit_code == 0 and saw_tests(finished.output), finished.output, files, printed, observed)


def _files(gold: Mapping[str, str], result: Mapping[str, str], access: ReadOnlyAccess) -> list[Difference]:
    stated = access.instruction + "".join(texts_of(access, "tests").values())
    ordered = _ORDERED.search(access.instruction) is not None
    differences = []
    for path, text in gold.items():
        if not any(part in stated for part in path.split("/")):
            continue
        other = result.get(path)
        if other is None and (access.read("workspace", path) is not None or path not in access.instruction):
            unchanged = access.read("environment", path)
            other = unchanged.decode(errors="replace") if unchanged is not None else None
        if other is None or alike(text, other) or (not ordered and sorted(_lines(text)) == sorted(_lines(other))):
            continue
        differences.append(Difference("file", path, *_first_difference(_lines(text), _lines(other))))
    return differences


def _runs(gold: Behaviour, result: Behaviour) -> list[Difference]:
    if gold.printed is None or result.printed is None or alike(gold.printed, result.printed):
        return []
    lines = _first_difference(gold.printed.splitlines(), result.printed.splitlines())
    return [Difference("run", "the run command", *lines)]


def _calls(gold: Observed, result: Observed) -> list[Difference]:
    shared = _comparable(gold, result)
    differences = [
        Difference("call" if call.own else "varied", call.text, gold[call], result[call])
        for call in shared
        if not _same_value(msgspec.json.decode(gold[call]), msgspec.json.decode(result[call]))
    ]
    return sorted(differences, key=lambda one: one.where != "call")


def _comparable(gold: Observed, result: Observed) -> Sequence[ObservedCall]:
    return [call for call, text in gold.items() if call in result and (call.own or not text.startswith('["raises"'))]


def alike(one: str, other: str) -> bool:
    """Return whether two texts say the same: JSON in them counts by its value, other text by its lines."""
    return _lines(one) == _lines(other) or (("{" in one or "[" in one) and _parts(one) == _parts(other))


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return alike(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_value, one, other))
    return bool(one == other)


def _parts(text: str) -> list[Any]:
    parts: list[Any] = []
    start = at = tried = 0
    while (match := _OPENS.search(text, at)) is not None and tried < _MOST_JSON:
        tried += 1
        try:
            value, end = _JSON.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.end()
            continue
        between = _plain(text[start : match.start()])
        parts += [*([between] if between else []), _Value(value)]
        start = at = end
    rest = _plain(text[start:])
    return [*parts, rest] if rest else parts


def _lines(text: str) -> list[str]:
    return _plain(text).splitlines()


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _first_difference(gold: Sequence[str], result: Sequence[str]) -> tuple[str, str]:
    place = next((n for n, pair in enumerate(zip(gold, result, strict=False)) if pair[0] != pair[1]), None)
    if place is None:
        place = min(len(gold), len(result))
    shown = (lines[place] if place < len(lines) else "(no such line)" for lines in (gold, result))
    first, second = (f"line {place + 1}: {text}" for text in shown)
    return first, second
