"""Find suspicious lines: those that failing tests execute rather than passing ones, or that the failure's text names.

The spectrum's score is Ochiai's: of a line, failing tests on it / sqrt(failing tests * tests on it)
(Abreu, Zoeteweij & van Gemund 2007). A line that a failing test's trace ends in counts for more than the others.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.search.scope import Function, ProgramSource, sources_and_tests
from misstep_harness.repair.search.testing import Observed
from misstep_harness.workspace.trees import regular_files

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
