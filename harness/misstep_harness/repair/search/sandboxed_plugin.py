"""Run in the sandbox as a plugin of pytest: per-test line coverage, and many candidate changes in one run.

Nothing of this project can be imported there. Its orders are in `JOB`, its answers a JSON value a line in `RESULTS`.
The tests are collected once; then each candidate gets a forked process, in which the code of the function that it
changes is exchanged. A candidate outside functions, or one in a function that the tests do not hold, is written to its
file in a process that has not collected yet.
"""

import ast
import gc
import json
import os
import resource
import signal
import sys
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

FOLDER = ".misstep-search"
JOB = f"{FOLDER}/job.json"
RESULTS = f"{FOLDER}/results.jsonl"
_ROOT = Path(os.environ.get("MISSTEP_SEARCH_ROOT") or Path.cwd())
_FUTURE_FLAGS = 0x1FF0000
Codes = dict[tuple[str, int], types.CodeType]
_WALL = 10  # how many times its processor time a process may take by the clock: the machine may be busy
_MORE_SECONDS = 3.0  # of processor time for the slow tests, for a candidate that has passed the quick ones


class OutOfTime(BaseException):
    """A test took its time; no handler of the program under test catches it."""


class SearchPlugin:
    """Carries out a job instead of the session that pytest had begun."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.results = os.open(_ROOT / RESULTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.fresh: dict[str, Any] | None = None
        self.pipe = -1
        self.failed: dict[str, str] = {}

    def say(self, value: object) -> None:
        """Add a line to the results."""
        os.write(self.results, json.dumps(value).encode() + b"\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """Before anything of the project is imported: the candidates that are written to their files."""
        if self.job["kind"] != "files":
            return
        for candidate in self.job["candidates"]:
            text = (original := (path := _ROOT / candidate["path"]).read_bytes()).decode()
            changed = text[: candidate["start"]] + candidate["text"] + text[candidate["end"] :]
            if _functions(changed) is None:
                continue
            path.write_bytes(changed.encode())
            pid, reading, writing = _fork()
            if pid == 0:
                self.fresh, self.pipe = candidate, writing
                _limit(self.job["seconds"])
                return
            try:
                if self.keep(candidate["number"], pid, reading, writing):
                    os._exit(0)
            finally:
                path.write_bytes(original)
        os._exit(0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Keep the tests in this process where the project spreads them over several."""
        if hasattr(config.option, "numprocesses"):
            config.option.numprocesses = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In the place of the tests' run: the job."""
        items = self.ordered(session)
        if self.fresh is not None:
            self.answer({"passed": bool(items) and not session.testsfailed and not self.run(items)})
        if self.job["kind"] == "spectrum":
            for item in sorted(session.items, key=lambda item: not self.of_oracle(item)):
                if self.job["budget"] > 0:
                    self.say({"test": item.nodeid, "oracle": self.of_oracle(item), **self.observed(item)})
        elif not session.testsfailed and items:
            self.exchange(items)
        os._exit(0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep how a test failed."""
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)[-2000:]

    def ordered(self, session: pytest.Session) -> list[pytest.Item]:
        """Return the tests that a candidate must pass, in the order of the job."""
        wanted = {name: place for place, name in enumerate(self.job.get("tests", ()))}
        chosen = [item for item in session.items if item.nodeid in wanted]
        return sorted(chosen, key=lambda item: wanted[item.nodeid])

    def of_oracle(self, item: pytest.Item) -> bool:
        """Return whether a test is one of the oracle."""
        name = item.nodeid
        return any(name == test or name.startswith((f"{test}::", f"{test}[")) for test in self.job["oracle"])

    def run(self, items: list[pytest.Item], more_at: int = -1) -> bool:
        """Run tests up to the first that fails, and return whether one did; those from `more_at` on get more time."""
        for place, item in enumerate(items):
            if place == more_at:
                signal.setitimer(signal.ITIMER_PROF, _MORE_SECONDS + self.job["seconds"])
                os.write(self.pipe, b" ")
            following = items[place + 1] if place + 1 < len(items) else None
            for report in runtestprotocol(item, log=False, nextitem=following):
                self.pytest_runtest_logreport(report)
            if self.failed:
                return True
        return False

    def answer(self, value: object) -> None:
        """Tell the process above and end."""
        os.write(self.pipe, json.dumps(value).encode())
        os._exit(0)

    def keep(self, number: int, pid: int, reading: int, writing: int) -> bool:
        """Wait for a candidate's process and note what came of it; whether the job is done."""
        outcome, seconds = _await(pid, reading, writing, self.job["seconds"])
        known = {key: bool(outcome.get(key)) for key in ("passed", "unknown")}
        self.say({"candidate": number, **known, "ended": not outcome, "seconds": seconds})
        self.job["budget"] -= seconds
        return known["passed"] or self.job["budget"] <= 0

    def observed(self, item: pytest.Item) -> dict[str, Any]:
        """Return what one test does: whether it passes and in what time, and the lines that it executes."""
        result: dict[str, Any] = {}
        for traced in (False, True):
            pid, reading, writing = _fork()
            if pid == 0:
                self.pipe = writing
                _limit(2 * self.job["seconds"] + 2)
                lines = _Lines(self.job["files"])
                self.failed.clear()
                signal.signal(signal.SIGPROF, _out_of_time)
                signal.setitimer(signal.ITIMER_PROF, self.job["seconds"])
                if traced:
                    sys.settrace(lines.call)
                failed = self.run([item])
                sys.settrace(None)
                signal.setitimer(signal.ITIMER_PROF, 0)
                self.answer({"passed": not failed, "lines": lines.lines, "said": "".join(self.failed.values())})
            outcome, seconds = _await(pid, reading, writing, 2 * self.job["seconds"])
            self.job["budget"] -= seconds
            if traced:
                result["lines"] = outcome.get("lines", {})
            else:
                result.update(passed=bool(outcome.get("passed")), said=outcome.get("said", ""), seconds=seconds)
        return result

    def exchange(self, items: list[pytest.Item]) -> None:
        """Try the candidates one after the other, each in a process of its own."""
        swaps = Swaps(self.job["files"])
        for item in items:
            item.repr_failure = _nothing  # type: ignore[method-assign]  # a trace that nobody reads takes its time
        gc.freeze()
        for candidate in self.job["candidates"]:
            new = swaps.of(candidate)
            if new is None:
                continue
            if not new:
                self.say({"candidate": candidate["number"], "passed": False, "unknown": True, "seconds": 0.0})
                continue
            pid, reading, writing = _fork()
            if pid == 0:
                self.pipe = writing
                _limit(self.job["seconds"])
                self.failed.clear()
                try:
                    for function, code in new:
                        function.__code__ = code
                except ValueError:  # it holds other variables of the function around it
                    self.answer({"passed": False, "unknown": True})
                self.answer({"passed": not self.run(items, self.job["more_at"])})
            if self.keep(candidate["number"], pid, reading, writing):
                break


class _Lines:
    def __init__(self, files: list[str]) -> None:
        self.files = {str(_ROOT / path): path for path in files}
        self.lines: dict[str, list[int]] = {}
        self.seen: dict[str, set[int]] = {}

    def call(self, frame: types.FrameType, event: str, argument: object) -> Any:  # noqa: ARG002
        """Watch the lines of a function of these files, and of no other."""
        path = self.files.get(_absolute(frame.f_code.co_filename))
        if path is None:
            return None
        seen = self.seen.setdefault(path, set())
        lines = self.lines.setdefault(path, [])

        def line(frame: types.FrameType, event: str, argument: object) -> Any:  # noqa: ARG001
            if event == "line" and frame.f_lineno not in seen:
                seen.add(frame.f_lineno)
                lines.append(frame.f_lineno)
            return line

        return line


class Swaps:
    """Finds the functions that are alive and what a candidate makes of their code."""

    def __init__(self, files: list[str]) -> None:
        self.texts: dict[str, tuple[str, ast.Module]] = {}
        self.before: dict[tuple[str, int], Codes | None] = {}
        self.alive: dict[tuple[str, str, int], list[types.FunctionType]] = {}
        known = {str(_ROOT / path): path for path in files}
        for each in gc.get_objects():
            if isinstance(each, types.FunctionType):
                code = each.__code__
                path = known.get(_absolute(code.co_filename))
                if path is not None:
                    self.alive.setdefault((path, code.co_qualname, code.co_firstlineno), []).append(each)

    def of(self, candidate: dict[str, Any]) -> list[tuple[types.FunctionType, types.CodeType]] | None:
        """Return the new code of each live function that the candidate changes; `None` if it does not parse."""
        path = candidate["path"]
        if path not in self.texts:
            text = (_ROOT / path).read_bytes().decode()
            self.texts[path] = (text, ast.parse(text))
        text, tree = self.texts[path]
        start, end = candidate["start"], candidate["end"]
        first, last = _top_level(tree, text, start)
        padding = "\n" * text.count("\n", 0, first)
        if (path, first) not in self.before:
            self.before[path, first] = _functions(padding + text[first:last])
        before = self.before[path, first]
        new = padding + text[first:start] + candidate["text"] + text[end:last]
        after = _functions(new)
        if before is None or after is None:
            return None
        swapped = []
        for key, code in after.items():
            was = before.get(key)
            if was is None or _same(was, code):
                continue
            for function in self.alive.get((path, key[0], was.co_firstlineno), ()):
                flags = function.__code__.co_flags & _FUTURE_FLAGS
                swapped.append((function, (_functions(new, flags) or after)[key] if flags else code))
        return swapped


@cache
def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 -- `Path.absolute` leaves `..` in it


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    shapes = [(code.co_code, code.co_names, code.co_varnames, len(code.co_consts)) for code in (one, other)]
    return shapes[0] == shapes[1] and all(
        _same(a, b) if isinstance(a, types.CodeType) and isinstance(b, types.CodeType) else repr(a) == repr(b)
        for a, b in zip(one.co_consts, other.co_consts, strict=True)
    )


def _top_level(tree: ast.Module, text: str, place: int) -> tuple[int, int]:
    line = text.count("\n", 0, place) + 1
    lines = text.split("\n")
    for each in tree.body:
        first = min([each.lineno, *(d.lineno for d in getattr(each, "decorator_list", ()))])
        if first <= line <= (each.end_lineno or first):
            start = sum(len(above) + 1 for above in lines[: first - 1])
            end = sum(len(above) + 1 for above in lines[: each.end_lineno])
            return start, min(end, len(text))
    return 0, len(text)


def _functions(text: str, flags: int = 0) -> Codes | None:
    """(Qualified name, which of that name) → code of each function of a text."""
    try:
        module = compile(text, "candidate", "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    codes: Codes = {}
    counts: Counter[str] = Counter()
    for code in _codes(module):
        codes[code.co_qualname, counts[code.co_qualname]] = code
        counts[code.co_qualname] += 1
    return codes


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield each
            yield from _codes(each)


def _nothing(excinfo: object, style: object = None) -> str:  # noqa: ARG001
    return ""


def _out_of_time(number: int, frame: object) -> None:  # noqa: ARG001
    raise OutOfTime("the test took longer than the limit")


def _limit(seconds: float) -> None:
    """Bound what this process may take; a program under repair may run or grow for ever."""
    whole = int(_MORE_SECONDS + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    silent = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(silent, number)


def _fork() -> tuple[int, int, int]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.setpgid(0, 0)
    return pid, reading, writing


def _await(pid: int, reading: int, writing: int, seconds: float) -> tuple[dict[str, Any], float]:
    """Return what a process said, and its processor time; it is ended where it takes far too long by the clock."""
    os.close(writing)
    parts: list[bytes] = []
    signal.signal(signal.SIGALRM, _out_of_time)
    try:
        signal.setitimer(signal.ITIMER_REAL, 3 + _WALL * seconds)
        while part := os.read(reading, 1 << 16):
            parts.append(part)
            if part == b" ":
                signal.setitimer(signal.ITIMER_REAL, 3 + _WALL * (_MORE_SECONDS + seconds))
    except OutOfTime:
        parts = []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    for end in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)
    used = os.wait4(pid, 0)[2]
    os.close(reading)
    outcome = {}
    with suppress(ValueError):
        outcome = json.loads(b"".join(parts) or b"{}")
    return outcome if isinstance(outcome, dict) else {}, used.ru_utime + used.ru_stime


if (_ROOT / JOB).is_file():  # else it is a process that a test has started, in another folder
    _plugin = SearchPlugin(json.loads((_ROOT / JOB).read_bytes()))
    pytest_load_initial_conftests = _plugin.pytest_load_initial_conftests
    pytest_cmdline_main = _plugin.pytest_cmdline_main
    pytest_runtestloop = _plugin.pytest_runtestloop
    pytest_runtest_logreport = _plugin.pytest_runtest_logreport
