"""Mutants: small wrong variants of a result, and whether the tests tell them from it."""

import ast
import copy
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from msgspec import Struct

from misstep_harness.triage.passes.comparison import Behaviour, behaviour
from misstep_harness.triage.protocols import Result, SandboxAccess
from misstep_harness.triage.records import Evidence

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
