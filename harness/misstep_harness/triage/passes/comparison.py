"""Compare how the agent's result behaves beside the gold result, also where the tests do not look.

Both are made anew in replicas. What differs between two runs of the gold result itself is left out.
"""

import ast
import copy
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from json import JSONDecoder
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from misstep_harness.triage.passes.observed_calls import NOTES
from misstep_harness.triage.passes.record import texts_of
from misstep_harness.triage.protocols import ReadOnlyAccess, Replica, Result, SandboxAccess
from misstep_harness.triage.protocols import Result as Start
from misstep_harness.triage.records import Evidence
from misstep_harness.values import NOT_JSON
from misstep_harness.workspace import Finished
from misstep_harness.workspace.suite.output import saw_tests

MOST = 4
_COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: Mapping[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add}
_SHELL = {"-gt": "-ge", "-ge": "-gt", "-lt": "-le", "-le": "-lt", "-eq": "-ne", "-ne": "-eq", "&&": "||", "sort": "cat"}
_SHELL_WORD = re.compile(r"(?<=\s)(?:-gt|-ge|-lt|-le|-eq|-ne|&&|sort)(?=\s)")


class Mutant(Struct, frozen=True):
    """A program with one thing changed: its path, its new text, the line, and what was changed."""

    path: str
    text: str
    line: int
    change: str


class TriedMutant(Struct, frozen=True):
    """Mutants that behave otherwise: how many there were, and those that pass the tests."""

    wrong: int
    passed: tuple[Mutant, ...]

    def evidence(self) -> tuple[Evidence, ...]:
        """Return the mutants that pass, as evidence."""
        return tuple(Evidence("assertion", f"{one.path}:{one.line}", f"{one.change}: passes") for one in self.passed)


class ObservedCall(Struct, frozen=True):
    """A call of the result: what was called with which arguments, and whether the tests themselves did so."""

    name: str
    given: str
    own: bool
    number: int = 0

    @property
    def text(self) -> str:
        """Return the call as evidence shows it."""
        return f"{self.name}{self.given}"


Observed = Mapping[ObservedCall, str]
"""Call → what it gave, as JSON."""


class Behaviour(Struct, frozen=True):
    """What one result made, printed and gave."""

    passed: bool
    output: str
    files: dict[str, str]
    printed: str | None
    observed: Observed


def try_mutants(access: SandboxAccess, start: Result, known: Behaviour | None = None, most: int = MOST) -> TriedMutant:
    """Run the tests on mutants of a result."""
    own = known or behaviour(access, start)
    if not own.observed:
        return TriedMutant(0, ())
    wrong, passed = 0, []
    names = {call.name.split(".")[0] for call in own.observed}
    called = " ".join(call.given for call in own.observed if call.name == "run")
    with access.replica(start, tests=False) as replica:
        texts = {
            path: data.decode(errors="replace")
            for path in replica.files()
            if path.endswith((".py", ".sh"))
            and (path.removesuffix(".py").split("/")[0] in names or path.rsplit("/", 1)[-1] in called)
            and (data := replica.read(path)) is not None
        }
    choices = [mutant for path, text in texts.items() for mutant in mutants(path, text)]
    for mutant in islice(choices[:: max(1, len(choices) // most)], most):
        outcome = behaviour(access, start, {mutant.path: mutant.text})
        differs = any(outcome.observed.get(call, text) != text for call, text in own.observed.items())
        if differs or not outcome.passed:
            wrong += 1
            passed += [mutant] if outcome.passed else []
    return TriedMutant(wrong, tuple(passed))


def mutants(path: str, text: str) -> Iterator[Mutant]:
    """Return every mutant of a program; none of text that is neither Python nor shell, or cannot be read."""
    yield from _of_python(path, text) if path.endswith(".py") else _of_shell(path, text)


def _of_python(path: str, text: str) -> Iterator[Mutant]:
    try:
        tree = ast.parse(text)
        copy.deepcopy(tree)  # which nested code does not allow either
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for place, node in enumerate(ast.walk(tree)):
        for number, change in enumerate(_changes(node)):
            changed = copy.deepcopy(tree)
            list(_changes(next(islice(ast.walk(changed), place, None)), do=number))
            yield Mutant(path, ast.unparse(ast.fix_missing_locations(changed)), getattr(node, "lineno", 0), change)


def _changes(node: ast.AST, do: int | None = None) -> Iterator[str]:
    """Return what can be changed in a node, in words; the one with the number `do` is done."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        if do is not None:
            node.ops = [_COMPARISONS[type(node.ops[0])]()]
        yield "another comparison"
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC and not _is_text(node):
        if do is not None:
            node.op = _ARITHMETIC[type(node.op)]()
        yield "another operation"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        if do is not None:
            node.value += 1
        yield "a number one higher"
    elif isinstance(node, ast.Return) and node.value is not None:
        if do is not None:
            node.value = ast.Constant(None)
        yield "nothing returned"
    elif isinstance(node, ast.FunctionDef | ast.For | ast.If | ast.While) and len(node.body) > 1:
        if do is not None:
            node.body = node.body[:-1] if not isinstance(node, ast.FunctionDef) else node.body[1:]
        yield "a statement left out"


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _of_shell(path: str, text: str) -> Iterator[Mutant]:
    for word in _SHELL_WORD.finditer(text):
        changed = text[: word.start()] + _SHELL[word[0]] + text[word.end() :]
        line = text.count("\n", 0, word.start()) + 1
        yield Mutant(path, changed, line, f"`{_SHELL[word[0]]}` for `{word[0]}`")


_DRIVER = ".observed_commands.py"
_QUICK = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
_FIXED = "export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1"


def watched_tests(tests: Mapping[str, str]) -> dict[str, str]:
    """Python tests with the program that notes calls at their head, and shell scripts that print what they run."""
    watched = {}
    for path, text in tests.items():
        if path.endswith(".py") and not path.endswith("conftest.py"):
            watched[path] = _with_program(text)
        elif path.endswith((".sh", ".bash", ".bats")):
            first, _, rest = text.partition("\n")
            watched[path] = f"{first}\nset -x\n{rest}" if first.startswith("#!") else f"set -x\n{text}"
    return watched


def observe(
    replica: Replica, tests: Mapping[str, str], command: str, programs: Sequence[str] = ()
) -> tuple[Finished, Observed]:
    """Run the tests with notes taken; how that ended, and the notes."""
    for path, text in tests.items():
        replica.write(f"tests/{path}", text.encode())
    replica.write(NOTES, b"")
    finished = replica.run(f"{_FIXED} {_QUICK}\n{command}")
    commands: dict[tuple[str, ...], None] = {}
    for traced in re.findall(r"^\++( .*)$", finished.output, re.MULTILINE):
        with suppress(ValueError):
            words = shlex.split(traced)
            if any(word.removeprefix("./") in programs for word in words[:2]):
                commands.setdefault(tuple(words))
    return finished, _noted(replica, [list(words) for words in commands])


def observe_commands(replica: Replica, commands: Sequence[Sequence[str]]) -> Observed:
    """Run commands with notes taken, and again with other arguments."""
    replica.write(NOTES, b"")
    return _noted(replica, commands)


def _noted(replica: Replica, commands: Sequence[Sequence[str]]) -> Observed:
    if commands:
        replica.write(_DRIVER, _driver(commands).encode())
        replica.run(f"{_FIXED}\npython {_DRIVER}")
    notes = replica.read(NOTES) or b""
    calls: dict[ObservedCall, str] = {}
    for line in notes.splitlines():
        try:
            kind, name, arguments, result = msgspec.json.decode(line, type=tuple[str, str, Any, Any])
        except NOT_JSON:
            continue  # a test that was stopped leaves half a line
        number = 0
        shown = msgspec.json.encode(arguments).decode()
        while (call := ObservedCall(name, shown, kind == "own", number)) in calls:
            number += 1
        calls[call] = msgspec.json.encode(result).decode()
    return calls


@cache
def _head() -> str:
    program = Path(__file__).with_name("observed_calls.py").read_text(encoding="utf-8")
    return f"exec(compile({program!r}, 'observed_calls', 'exec'), {{'__name__': 'observed_calls'}})\n"


def _with_program(text: str) -> str:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    last = 0
    for place, node in enumerate(tree.body):
        is_docstring = place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        last = node.end_lineno or last
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:last], "\n" if last else "", _head(), *lines[last:]])


def _driver(commands: Sequence[Sequence[str]]) -> str:
    return (
        f"{_head()}import subprocess\nfor words in {[list(words) for words in commands]!r}:\n"
        "    try:\n        subprocess.run(words, capture_output=True, text=True, errors='replace', timeout=20)\n"
        "    except (OSError, subprocess.SubprocessError):\n        continue\n"
    )


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
