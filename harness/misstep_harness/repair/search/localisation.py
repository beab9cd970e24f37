"""Find suspicious lines: those that failing tests execute rather than passing ones, or that the failure's text names.

The score is Ochiai's: of a line, failing tests on it / sqrt(failing tests * tests on it) (Abreu, Zoeteweij & van Gemund
2007). A line that a failing test's trace ends in counts for more than the others.

The sandbox reports which lines each test executes, and which of many candidate changes makes the tests pass. Tests of
pytest and unittest run by `sandboxed_plugin`, in one process for many candidates. For any other command that starts
Python, `sandboxed_tracer` notes the lines, and candidates are tested one after the other.
"""

import ast
import json
import math
import re
import shlex
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.repair.attempt import CaseWorkspace
from misstep_harness.repair.case import CaseFolder, RepairCase
from misstep_harness.repair.search.scope import Change, Function, ProgramSource, changed, sources_and_tests
from misstep_harness.repair.validators import pytest_id
from misstep_harness.values import NOT_JSON
from misstep_harness.workspace import Limits
from misstep_harness.workspace.suite.command import as_pytest, runner_of, suite_command, takes_names
from misstep_harness.workspace.suite.report import SuiteReport
from misstep_harness.workspace.suite.run import How, plain_line, run_suite
from misstep_harness.workspace.trees import regular_files

_PLUGIN = "misstep_search_plugin"
_FOLDER = ".misstep-search"
_WALL = 6
"""How many times its processor time a job may take by the clock: other work may share the machine."""
_LEAST_SECONDS = 0.06
"""Processor time of a candidate besides what its process and the passing tests take."""
_MOST_PASSING = 8
"""How many passing tests are traced, where each needs a run of the test command."""
_MOST_TEST_SECONDS = 2.0
"""How long the tests that pass already may take together for each candidate; those of the oracle are run always."""


class Effort(Struct, frozen=True):
    """What a search may take: processor time of a test, of the spectrum and of the search, and seconds by the clock."""

    test_seconds: float = 0.5
    spectrum_seconds: float = 20.0
    search_seconds: float = 12.0
    candidates: int = 6_000
    one_by_one_seconds: float = 90.0


class Observed(Struct, frozen=True):
    """What one test does on the broken program."""

    test: str
    oracle: bool = True
    passed: bool = False
    seconds: float = 0.0
    said: str = ""
    lines: Mapping[str, list[int]] = {}


class Candidate(Struct, frozen=True):
    """A change of a file that may be the repair, how much speaks for it, and whether it is outside functions."""

    path: str
    change: Change
    score: float
    outside: bool = False


class Search(Struct, frozen=True):
    """How many candidates were tried, and which one passed, if one did."""

    tried: int
    passing: int | None


class _Answer(Struct, frozen=True):
    candidate: int
    passed: bool
    unknown: bool = False
    ended: bool = False
    seconds: float = 0.0


_Form = TypeVar("_Form", Observed, _Answer)


class SandboxedTests:
    """The tests of a case, for a search that has the right to run them."""

    def __init__(self, place: CaseWorkspace, effort: Effort) -> None:
        if not place.setting.test_execution:
            raise PermissionError("this setting gives no test execution")
        self._place, self._effort = place, effort
        self._line, self._oracle = _for_pytest(place.case, place.workspace.files())

    def spectrum(self, files: Sequence[str]) -> tuple[Observed, ...]:
        """Which lines of `files` each test of the oracle's files executes, and whether it passes; none if unknown."""
        effort = self._effort
        job = {"kind": "spectrum", "seconds": effort.test_seconds, "budget": effort.spectrum_seconds, "files": files}
        observed = _read(self._run(job, effort.spectrum_seconds), Observed) if self._line else []
        if not any(each.oracle and not each.passed for each in observed):
            self._line = ""  # they fail in another way than pytest would run them
            return tuple(self._traced(files))
        return tuple(observed)

    def _traced(self, files: Sequence[str]) -> Iterator[Observed]:
        case, started = self._place.case, time.monotonic()
        passing: tuple[str, ...] = ()
        if all(case.oracle) and case.alone and takes_names(plain_line(self._place.workspace, case.test_command)):
            passing = self._suite((), {}).seen or ()
        for oracle, tests in ((True, case.oracle if passing else ("",)), (False, passing[:_MOST_PASSING])):
            for test in tests:
                if time.monotonic() - started < self._effort.spectrum_seconds:
                    yield self._traced_run(test, files, oracle=oracle)

    def _traced_run(self, test: str, files: Sequence[str], *, oracle: bool) -> Observed:
        workspace = self._place.workspace
        with workspace.restored():
            workspace.write(f"{_FOLDER}/sitecustomize.py", _sandboxed("sandboxed_tracer.py"))
            wanted = (test,) if test else self._place.case.oracle
            report = self._suite(wanted, {"MISSTEP_SEARCH_FILES": "\n".join(files)})
            listing = self._read(f"{_FOLDER}/lines.txt").decode()
        lines: dict[str, list[int]] = {}
        for number, _, path in (line.partition(" ") for line in listing.splitlines()):
            if number.isdecimal() and path in files:
                lines.setdefault(path, []).append(int(number))
        return Observed(test, oracle, report.passed, report.seconds, report.feedback(), lines)

    def _suite(self, tests: Sequence[str], variables: Mapping[str, str]) -> SuiteReport:
        case = self._place.case
        command = f"{_root(f'/{_FOLDER}')}{case.test_command}" if variables else case.test_command
        how: How = "either" if case.alone else "whole"
        exported = "".join(f"export {name}={shlex.quote(value)}; " for name, value in variables.items())
        limits = Limits(seconds=min(case.timeout_seconds, 10 + self._effort.spectrum_seconds))
        return run_suite(self._place.workspace, f"{exported}{command}", tests, limits, how=how)

    def search(self, candidates: Sequence[Candidate], observed: Sequence[Observed]) -> Search:
        """Try candidates in their order up to the first with which the tests pass."""
        if not self._line:
            return self._one_by_one(candidates)
        numbered = list(enumerate(candidates))[: self._effort.candidates]
        quick, slow = _wanted(observed, self._effort.test_seconds)
        start = min((each.seconds for each in observed), default=0.0)  # most of a quick test is its process
        seconds = _LEAST_SECONDS + 2 * start + 4 * sum(each.seconds - start for each in quick)
        tests = [each.test for each in (*quick, *slow)]
        # Where all that fails is slow, it may loop for ever: then the first of it decides what is worth more time.
        more_at = len(quick) if any(not each.passed for each in quick) else 1
        if more_at == 1:
            tests = [each.test for each in (*slow, *quick)]
        job = {"tests": tests, "more_at": more_at}
        left = self._effort.search_seconds
        answers: dict[int, _Answer] = {}
        # A candidate may loop for ever: it is given little time at first, and more once all others have failed.
        for kind, times, share in (("exchange", 1, 0.7), ("files", 4, 0.7), ("exchange", 8, 1.0)):
            if times == 1:
                chosen = [(at, each) for at, each in numbered if not each.outside]
            elif kind == "files":  # also those that could not be tried in the process that holds the program
                unknown = {at for at, answer in answers.items() if answer.unknown}
                chosen = [(at, each) for at, each in numbered if each.outside or not answers or at in unknown]
            else:
                chosen = [(at, each) for at, each in numbered if at in answers and answers[at].ended]
            if not chosen or left <= 0:
                continue
            batch = self._try(kind, chosen, {**job, "seconds": times * seconds, "budget": share * left})
            answers |= {each.candidate: each for each in batch}
            left -= sum(each.seconds for each in batch)
            if any(each.passed for each in batch):
                break
        passing = (each.candidate for each in answers.values() if each.passed)
        return Search(sum(not each.unknown for each in answers.values()), min(passing, default=None))

    def _try(self, kind: str, numbered: Sequence[tuple[int, Candidate]], job: Mapping[str, object]) -> list[_Answer]:
        rows = [
            {"number": at, "path": each.path, **{key: getattr(each.change, key) for key in ("start", "end", "text")}}
            for at, each in numbered
        ]
        files = sorted({each.path for _, each in numbered})
        answers = self._run({**job, "kind": kind, "files": files, "candidates": rows}, self._effort.search_seconds)
        known = {at for at, _ in numbered}
        return [each for each in _read(answers, _Answer) if each.candidate in known]

    def _run(self, job: Mapping[str, object], seconds: float) -> bytes:
        workspace = self._place.workspace
        files = list(dict.fromkeys(test.partition("::")[0] for test in self._oracle))
        line = _root() + suite_command(self._line, files) + " --assert=plain --tb=short -p no:randomly"
        with workspace.restored():
            workspace.write(f"{_PLUGIN}.py", _sandboxed("sandboxed_plugin.py"))
            workspace.write(f"{_FOLDER}/job.json", json.dumps({**job, "oracle": self._oracle}).encode())
            environment = {"PYTEST_PLUGINS": _PLUGIN}
            limits = Limits(seconds=20 + _WALL * seconds)
            workspace.run(["/bin/sh", "-c", line], limits=limits, environment=environment)
            return self._read(f"{_FOLDER}/results.jsonl")

    def _read(self, path: str) -> bytes:
        return self._place.workspace.read(path) if self._place.workspace.exists(path) else b""

    def _one_by_one(self, candidates: Sequence[Candidate]) -> Search:
        workspace = self._place.workspace
        chosen = candidates[: self._effort.candidates]
        started = time.monotonic()
        for number, candidate in enumerate(chosen):
            if time.monotonic() - started > self._effort.one_by_one_seconds:
                return Search(number, None)
            with workspace.restored():
                text = workspace.read(candidate.path).decode()
                workspace.write(candidate.path, changed(text, candidate.change).encode())
                if self._place.run_tests().passed:
                    return Search(number + 1, number)
        return Search(len(chosen), None)


def _sandboxed(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


def _root(folder: str = "") -> str:
    """What tells programs of the sandbox where the workspace is, and lets them import from there or a folder of it."""
    return f'export MISSTEP_SEARCH_ROOT="$PWD" PYTHONPATH="$PWD{folder}:$PWD${{PYTHONPATH:+:$PYTHONPATH}}"; '


def _for_pytest(case: RepairCase, paths: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the case's test command as one of pytest, and its oracle's names there; empty if that cannot be."""
    runner, command = runner_of(case.test_command), case.test_command
    if runner == "unittest":
        command = as_pytest(command)
        oracle = tuple(pytest_id(test, paths) for test in case.oracle)
    else:
        oracle = case.oracle
    if runner not in ("pytest", "unittest") or not all(oracle) or not case.alone:
        return "", ()
    return command.replace("PYTHONPATH=", 'PYTHONPATH="$MISSTEP_SEARCH_ROOT":'), oracle


def _wanted(observed: Sequence[Observed], most_seconds: float) -> tuple[list[Observed], list[Observed]]:
    """Return the tests that a repair must pass, quick and slow ones, in their order: they may lean on each other."""
    beside: set[str] = set()
    spent = 0.0
    for each in sorted(observed, key=lambda each: each.seconds):
        if each.passed and not each.oracle:
            spent += each.seconds
            beside |= {each.test} if spent <= _MOST_TEST_SECONDS else set()
    wanted = [each for each in observed if each.oracle or each.test in beside]
    quick = [each for each in wanted if each.seconds < most_seconds / 2]
    return quick, [each for each in wanted if each not in quick]


def _read(data: bytes, form: type[_Form]) -> list[_Form]:
    """What the sandbox answered; a line that was cut off or has another form is left out: a program may write it."""
    records = []
    for line in data.splitlines():
        with suppress(*NOT_JSON):
            records.append(msgspec.json.decode(line, type=form))
    return records


_FRAME = re.compile(r"(?:File \"([^\"\n]+)\", line (\d+))|(?:^|[\s(])([\w./-]+\.py):(\d+)", re.MULTILINE)
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_NAMED = (ast.Name, ast.Attribute)
_ON_TRACE = 0.35
"""How much of the suspicion the end of a failing test's trace decides, if there is one."""
_NEAR = (1.0, 0.75, 0.6)
"""Suspicion of the last line of a trace, of the one that called it, and of all that called those."""


class Suspect(Struct, frozen=True):
    """A line that may be wrong, from 0 to 1, and why."""

    path: str
    line: int
    score: float
    reason: str


def by_spectrum(observed: Sequence[Observed], sources: Mapping[str, ProgramSource]) -> list[Suspect]:
    """Return the lines that failing tests of the oracle execute, the most suspicious first."""
    failed = [each for each in observed if each.oracle and not each.passed]
    passed = [each for each in observed if each.passed]
    failing, passing = _executions(failed), _executions(passed)
    ends = dict(_on_traces("\n".join(each.said for each in failed), sources)) if failed else {}
    suspects = []
    for (path, line), hits in failing.items():
        others = passing.get((path, line), 0)
        score = hits / math.sqrt(len(failed) * (hits + others))
        reason = f"{hits} of {len(failed)} failing and {others} of {len(passed)} passing tests execute it"
        if ends:
            score = (1 - _ON_TRACE) * score + _ON_TRACE * ends.get((path, line), 0.0)
            reason += ", and the failure's trace names it" if (path, line) in ends else ""
        suspects.append(Suspect(path, line, round(score, 6), reason))
    return _sorted(suspects)


def by_text(text: str, tests: Sequence[str], sources: Mapping[str, ProgramSource]) -> list[Suspect]:
    """Return the lines that a failure's trace names, then those of functions that it or the texts of `tests` call."""
    scores: dict[tuple[str, int], tuple[float, str]] = {}

    def suspect(path: str, line: int, score: float, reason: str) -> None:
        if score > scores.get((path, line), (0.0, ""))[0]:
            scores[path, line] = score, reason

    for (path, line), score in _on_traces(text, sources):
        suspect(path, line, score, "the failure's trace names it")
        for near in _function_lines(sources[path], line):
            suspect(path, near, 0.5 * score, "the failure's trace names its function")
    named = set(_CALLED.findall(text))
    tested = {name for each in tests for name in _CALLED.findall(each)}
    reached = {
        name for _, function in _functions(sources) if function.name in named | tested for name in _calls(function)
    }
    for path, function in _functions(sources):
        for names, score, reason in (
            (named, 0.6, "the failure names its function"),
            (tested, 0.45, "the failing tests call its function"),
            (reached, 0.3, "it is called by what the failing tests call"),
        ):
            if function.name in names:
                for line in _body_lines(function):
                    suspect(path, line, score, reason)
    return _sorted([Suspect(path, line, score, reason) for (path, line), (score, reason) in scores.items()])


def _executions(observed: Sequence[Observed]) -> dict[tuple[str, int], int]:
    return Counter((path, line) for each in observed for path, lines in each.lines.items() for line in lines)


def _on_traces(text: str, sources: Mapping[str, ProgramSource]) -> Iterator[tuple[tuple[str, int], float]]:
    """Return the program's lines that a text names as places, with their suspicion: the last ones first."""
    places = []
    for frame in _FRAME.finditer(text):
        name, line = frame[1] or frame[3], int(frame[2] or frame[4])
        path = next((path for path in sources if f"/{name}".endswith(f"/{path}")), None)
        if path is not None and line <= len(sources[path].lines):
            places.append((path, line))
    return zip(dict.fromkeys(reversed(places)), chain(_NEAR, repeat(_NEAR[-1])), strict=False)


def _function_lines(source: ProgramSource, line: int) -> range:
    functions = (node for node in ast.walk(source.tree) if isinstance(node, Function))
    around = [node for node in functions if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return _body_lines(max(around, key=lambda node: node.lineno)) if around else range(0)


def _body_lines(function: Function) -> range:
    return range(function.body[0].lineno, (function.end_lineno or function.lineno) + 1)


def _functions(sources: Mapping[str, ProgramSource]) -> Iterator[tuple[str, Function]]:
    nodes = ((path, node) for path, source in sources.items() for node in ast.walk(source.tree))
    return ((path, node) for path, node in nodes if isinstance(node, Function))


def _calls(function: Function) -> Iterator[str]:
    called = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return (one.id if isinstance(one, ast.Name) else one.attr for one in called if isinstance(one, _NAMED))


def _sorted(suspects: list[Suspect]) -> list[Suspect]:
    return sorted(suspects, key=lambda each: (-each.score, each.path, each.line))


def suspects(folder: CaseFolder) -> tuple[dict[str, ProgramSource], list[Suspect]]:
    """Return the Python files of the broken tree by path, and the suspicious lines in them, the worst first."""
    root = folder.before
    paths = sorted(path for path in regular_files(root) if path.endswith(".py"))
    sources, tests = sources_and_tests(paths, lambda path: beneath.read_file(root, path), folder.case.oracle)
    return sources, by_text(folder.case.task, tests, sources)
