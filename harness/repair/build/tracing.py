"""Trace which lines of a package's sources each of its tests executes: one run of the whole suite, in the sandbox.

For Python lines that run while a module is imported count for every test. For JavaScript node's own coverage is read,
by test file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from misstep.harness.errors import InputError
from misstep.harness.repair.build.packages import Package
from misstep.harness.repair.case import CaseFolder, RepairCase
from misstep.harness.repair.scoring import open_case
from misstep.harness.repair.validators.test_files import is_test_file
from misstep.harness.workspace import Limits, Sandbox, Workspace
from misstep.harness.workspace.suite.command import runner_of
from misstep.harness.workspace.suite.report import SuiteReport
from misstep.harness.workspace.suite.run import run_suite

WHOLE_SUITE = Limits(seconds=240.0, output_bytes=8 << 20)
_ONE_FILE = 20
"""Seconds that a test file of JavaScript may take."""

_PLUGIN, _LINES, _V8 = "misstep_lines", ".misstep-lines.json", ".misstep-coverage"
_TRACER = """\
import json, os, sys, threading
ROOT = os.getcwd() + os.sep
executed, names, current = {}, {}, [""]

def in_call(frame, event, argument):
    name = names.get(frame.f_code.co_filename)
    if name is None:
        path = os.path.realpath(frame.f_code.co_filename)
        name = names[frame.f_code.co_filename] = path[len(ROOT):] if path.startswith(ROOT) else ""
    if not name or "test" in name:
        return None
    note = executed.setdefault(current[0], {}).setdefault(name, set()).add
    def in_line(frame, event, argument):
        if event == "line":
            note(frame.f_lineno)
        return in_line
    return in_line

def pytest_configure(config):
    threading.settrace(in_call)
    sys.settrace(in_call)

def pytest_runtest_logstart(nodeid, location):
    current[0] = nodeid.partition("[")[0]
    sys.settrace(in_call)

def pytest_runtest_logfinish(nodeid, location):
    current[0] = ""

def pytest_sessionfinish(session, exitstatus):
    sys.settrace(None)
    found = {test: {name: sorted(lines) for name, lines in files.items()} for test, files in list(executed.items())}
    with open(os.path.join(ROOT, ".misstep-lines.json"), "w") as file:
        json.dump(found, file)
"""


class Traced(Struct, frozen=True, dict=True):
    """The traced suite of an untouched package; `lines` is test → file → lines, under `""` those of imports."""

    lines: dict[str, dict[str, list[int]]]
    failing: tuple[str, ...]
    seconds: float

    def tests_of(self, file: str, lines: range) -> set[str]:
        """Return the tests that execute some of the lines of a file."""
        by_line = self._by_line.get(file, {})
        return set[str]().union(*(by_line.get(line, ()) for line in lines))

    @cached_property
    def _by_line(self) -> dict[str, dict[int, set[str]]]:
        executed: dict[str, dict[int, set[str]]] = {}
        for test, files in self.lines.items():
            for file, lines in files.items() if test else ():
                by_line = executed.setdefault(file, {})
                for line in lines:
                    by_line.setdefault(line, set()).add(test)
        return executed

    def executed(self, tests: tuple[str, ...], file: str) -> set[int]:
        """Return the lines of a file that tests execute, those of imports too."""
        return {line for test in ("", *tests) for line in self.lines.get(test, {}).get(file, ())}


def source_files(tree: Path, package: Package) -> dict[str, bytes]:
    """Return the files of a package in which faults may be planted, by path."""
    ends = (".py",) if package.language == "python" else (".js", ".cjs", ".mjs")
    sources: dict[str, bytes] = {}
    for place in (tree / named for named in package.sources):
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            path = file.relative_to(tree).as_posix()
            if file.is_file() and path.endswith(ends) and not is_test_file(path) and "node_modules/" not in path:
                sources[path] = file.read_bytes()
    return sources


class _Untouched(CaseFolder, frozen=True):
    @property
    def before(self) -> Path:
        return self.folder


def untouched(tree: Path, package: Package) -> CaseFolder:
    """Return a package as a case without a fault, so that it is laid out as its cases are."""
    return _Untouched(RepairCase(package.key, package.language, "", package.test_command, ("",)), tree)


def trace(tree: Path, package: Package, sandbox: Sandbox) -> Traced:
    """Run a package's whole suite once and note what each test executes; kept beside the tree."""
    record = tree.with_name(f"{tree.name}.lines.json")
    if record.is_file():
        return msgspec.json.decode(record.read_bytes(), type=Traced)
    with open_case(untouched(tree, package), sandbox) as workspace:
        is_python = runner_of(package.test_command) == "pytest"
        if is_python:
            workspace.write(f"{_PLUGIN}.py", _TRACER.encode())
            report = run_suite(workspace, f"{package.test_command} -p {_PLUGIN}", (), WHOLE_SUITE)
            data = workspace.read(_LINES) if workspace.exists(_LINES) else b"{}"
            lines = msgspec.json.decode(data, type=dict[str, dict[str, list[int]]])
        else:
            report, lines = _node(workspace, package, tree)
        if report.ended != "exited" or not lines:
            raise InputError(f"the suite of {package.name} did not run: {report.feedback(1_000)}")
        failing = {test_of(test.id) for test in report.failed} if is_python else failing_files(workspace, sorted(lines))
    traced = Traced(lines, tuple(sorted(failing)), report.seconds)
    draft = record.with_suffix(".new")
    draft.write_bytes(msgspec.json.encode(traced))
    draft.rename(record)
    return traced


def failing_files(workspace: Workspace, files: Sequence[str], most: int | None = None) -> set[str]:
    """Return those of some test files of JavaScript that fail, in a run that ends once more than `most` do."""
    enough = "" if most is None else f"n=$((n + 1)); [ $n -le {most} ] || break; "
    failed = f'{{ echo "failed: $file"; {enough}}}'
    script = f'n=0; for file in "$@"; do timeout {_ONE_FILE} node "$file" > /dev/null 2>&1 || {failed}; done'
    done = workspace.run(["/bin/sh", "-c", script, "sh", *files], limits=WHOLE_SUITE)
    failures = {line.removeprefix("failed: ") for line in done.output.splitlines() if line.startswith("failed: ")}
    return failures | ({*files} if done.ended != "exited" else set())


def test_of(test: str) -> str:
    """Return a test without its parameters."""
    return test.partition("[")[0]


class _Function(Struct):
    ranges: list[dict[str, int]]


class _Script(Struct):
    url: str
    functions: list[_Function]


class _Coverage(Struct):
    result: list[_Script]


def _node(workspace: Workspace, package: Package, tree: Path) -> tuple[SuiteReport, dict[str, dict[str, list[int]]]]:
    # Node takes the variable from its environment, which a shell line can set.
    report = run_suite(workspace, f'NODE_V8_COVERAGE="$PWD/{_V8}" {package.test_command}', (), WHOLE_SUITE)
    sources = source_files(tree, package)
    lines: dict[str, dict[str, list[int]]] = {}
    for file in workspace.files():
        if not file.startswith(f"{_V8}/"):
            continue
        scripts = {_inside(each.url): each for each in msgspec.json.decode(workspace.read(file), type=_Coverage).result}
        test = next((path for path in scripts if path not in sources and is_test_file(path)), "")
        if test:
            lines[test] = {path: sorted(_executed(scripts[path], sources[path])) for path in sources if path in scripts}
    return report, lines


_ROOT = re.compile(r"^.*?/(?:ws|misstep-[^/]+/tree(?:/[^/]+)?)/")


def _inside(url: str) -> str:
    """Return the path in the workspace of a script; empty of one from elsewhere, or of a package beside it."""
    path = unquote(urlsplit(url).path) if url.startswith("file:") else ""
    inside = _ROOT.sub("", path) if _ROOT.match(path) else ""
    return "" if inside.startswith("node_modules/") else inside


def _executed(script: _Script, source: bytes) -> Iterator[int]:
    """Return the lines of which something was executed; a range within another says more of its part."""
    text = source.decode("utf-8", "replace")
    counted = [1] * len(text)
    ranges = [each for function in script.functions for each in function.ranges]
    for each in sorted(ranges, key=lambda each: each["startOffset"] - each["endOffset"]):
        start, end = each["startOffset"], min(each["endOffset"], len(text))
        counted[start:end] = [each["count"]] * (end - start)
    at = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if any(count and not char.isspace() for count, char in zip(counted[at : at + len(line)], line, strict=True)):
            yield number
        at += len(line)


def share_executed(lines: Mapping[str, set[int]], executed: Mapping[str, set[int]]) -> float | None:
    """Return the share of lines that was executed; `None` without lines."""
    total = sum(map(len, lines.values()))
    hit = sum(len(wanted & executed.get(path, set())) for path, wanted in lines.items())
    return round(hit / total, 4) if total else None


def executable(language: str, source: bytes) -> set[int]:
    """Return the lines of a file that can be executed: those with code, for JavaScript more than a bracket."""
    if language != "python":
        lines = enumerate(source.decode("utf-8", "replace").splitlines(), 1)
        return {at for at, line in lines if re.search(r"\w", line) and not line.lstrip().startswith(("//", "*", "/*"))}
    numbers: set[int] = set()
    waiting: list[Any] = [compile(source, "<source>", "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        numbers |= {line for _, _, line in code.co_lines() if line}
        waiting += [each for each in code.co_consts if hasattr(each, "co_lines")]
    return numbers
