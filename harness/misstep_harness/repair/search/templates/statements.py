"""Statements: one missing, too many, in the wrong order or on the wrong level."""

import ast
from collections.abc import Iterator
from itertools import pairwise, permutations, product

from misstep_harness.repair.search.scope import Scope
from misstep_harness.repair.search.source import Change, Function, ProgramSource

_JUMPS = {
    "break": ("continue", "return", "pass"),
    "continue": ("break", "pass"),
    "pass": ("continue", "break", "return"),
}
_KEPT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_ADDING = ("append", "add", "extend", "update", "appendleft", "remove", "discard")
_MOST_INSERTED = 60


def deleted(node: ast.stmt, scope: Scope) -> Iterator[Change]:
    """A statement too many, or a jump of another kind."""
    source = scope.source
    if isinstance(node, _KEPT) or (not source.indent(node) and scope.function):
        return
    text = source.segment(node)
    start, end = source.span(node)
    for other in _JUMPS.get(text, ()):
        yield Change(start, end, other, node.lineno, "jump", 0.4)
    if not _is_text(node) and text != "pass":
        compound = isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try)
        yield Change(start, end, "pass", node.lineno, "statement too many", 0.15 if compound else 0.3)
    if isinstance(node, ast.If | ast.With) and not getattr(node, "orelse", None) and text.startswith(("if ", "with ")):
        first = source.line_start(node.body[0].lineno)
        if first > start:
            inner = _shifted(source.text[first:end], source.indent(node.body[0]), source.indent(node))
            yield Change(start, end, inner.removeprefix(source.indent(node)), node.lineno, "branch too many", 0.3)
    if isinstance(node, ast.If) and node.orelse and not isinstance(node.orelse[0], ast.If):
        one, two = _block(source, node.body), _block(source, node.orelse)
        if one and two and source.text[slice(*one)].strip():
            swapped = source.text[slice(*two)] + source.text[one[1] : two[0]] + source.text[slice(*one)]
            yield Change(one[0], two[1], swapped, node.lineno, "swapped branches", 0.2)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield Change(start, start, "return ", node.lineno, "missing return", 0.35)


def reordered(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Two statements in the other order; the last statement of a block behind it, or the one behind it within."""
    source = scope.source
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        if not isinstance(block, list) or not block or not isinstance(block[0], ast.stmt):
            continue
        for one, two in pairwise(block):
            if isinstance(one, _KEPT) or isinstance(two, _KEPT) or _is_text(one) or not _own_lines(source, one, two):
                continue
            (start, middle), (below, end) = source.span(one), source.span(two)
            text = source.text[below:end] + source.text[middle:below] + source.text[start:middle]
            yield Change(start, end, text, two.lineno, "swapped statements", 0.25)
            if isinstance(one, ast.For | ast.While | ast.If | ast.With):
                last = (one.orelse or one.body)[-1] if not isinstance(one, ast.With) else one.body[-1]
                moved = _shifted(source.text[below:end], source.indent(two), source.indent(last))
                yield Change(middle, end, f"\n{source.indent(last)}{moved}", two.lineno, "wrong level", 0.3)
        last = block[-1]
        if isinstance(node, ast.For | ast.While | ast.If) and len(block) > 1 and _own_lines(source, block[-2], last):
            start, end = source.line_start(last.lineno), source.span(last)[1]
            text = _shifted(source.text[start:end], source.indent(last), source.indent(node))
            if name == "orelse" or not node.orelse:
                yield Change(start, end, text, last.lineno, "wrong level", 0.35)


def inserted(node: ast.stmt, scope: Scope) -> Iterator[Change]:
    """A statement that is missing before or behind another."""
    source, indent = scope.source, scope.source.indent(node)
    if not indent or not scope.function or not isinstance(source.parents.get(node), ast.stmt):
        return
    start, end = source.span(node)
    lines = sorted(_missing(scope, node), key=lambda each: -each[1])
    for text, prior in lines[:_MOST_INSERTED]:
        yield Change(start, start, f"{text}\n{indent}", node.lineno, "missing statement", prior)
        if _is_last(node, source) and not isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise):
            yield Change(end, end, f"\n{indent}{text}", node.lineno, "missing statement", prior)
    body = scope.function.body
    first = body[1] if _is_text(body[0]) and len(body) > 1 else body[0]
    if node is first or isinstance(node, ast.Return | ast.For | ast.While):
        step = _step(source)
        for text, prior in _guards(scope):
            guard = text.replace("\n", f"\n{indent}{step}") + f"\n{indent}"
            yield Change(start, start, guard, node.lineno, "missing guard", prior if node is first else prior / 2)


def _missing(scope: Scope, node: ast.stmt) -> Iterator[tuple[str, float]]:
    source, variables = scope.source, scope.variables
    if any(isinstance(each, ast.For | ast.While) for each in source.above(node)):
        yield from (("break", 0.25), ("continue", 0.2))
    is_last = _is_last(node, source)
    yield from ((f"return {name}", 0.3 if is_last else 0.12) for name in variables)
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    near = {name: 1.0 if name in used else 0.7 for name in variables}
    for name in scope.of_kind("number"):
        yield f"{name} += 1", 0.25 * near[name]
        yield f"{name} -= 1", 0.18 * near[name]
    stored = {each.id for each in scope.nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for one, two in permutations(variables, 2):
        kinds = scope.kinds.get(one, set())
        if one in stored and (kinds & scope.kinds.get(two, set()) or not kinds):
            yield f"{one} = {two}", 0.22 * near[one] * near[two]
    calls = ((each.func, len(each.args)) for each in scope.nodes if isinstance(each, ast.Call))
    methods = ((each, count) for each, count in calls if isinstance(each, ast.Attribute))
    called = [(each.value.id, each.attr, count) for each, count in methods if isinstance(each.value, ast.Name)]
    for method, holder in {method: holder for holder, method, count in called if count == 1}.items():
        if method in _ADDING:
            yield from ((f"{holder}.{method}({name})", 0.28 * near[name]) for name in variables if name != holder)
    holders = {holder for holder, _, _ in called}
    for holder, name in product(scope.of_kind("sequence"), variables):
        if holder not in holders and name != holder:
            yield from ((f"{holder}.{method}({name})", 0.14 * near[name]) for method in ("append", "add"))
    texts = {source.segment(each) for each in scope.nodes if isinstance(each, ast.Assign | ast.AugAssign | ast.Expr)}
    for text in sorted(texts):
        if "\n" not in text and len(text) < 60 and not text.startswith(("'", '"')) and text != source.segment(node):
            yield text, 0.15


def _guards(scope: Scope) -> Iterator[tuple[str, float]]:
    returns = (each.value for each in scope.nodes if isinstance(each, ast.Return) and each.value is not None)
    texts = dict.fromkeys(map(scope.source.segment, returns))
    chosen = [text for text in texts if len(text) <= 20 and "\n" not in text]
    for name in scope.parameters:
        if name in ("self", "cls"):
            continue
        tests = {f"not {name}": 0.25}
        if scope.may_be(name, "number"):
            tests |= {f"{name} == 0": 0.15, f"{name} <= 0": 0.12, f"{name} == 1": 0.12, f"{name} < 0": 0.12}
        if scope.may_be(name, "sequence"):
            tests |= {f"len({name}) <= 1": 0.15, f"len({name}) == 0": 0.1}
        tests[f"{name} is None"] = 0.15
        values = dict.fromkeys([*chosen, name, "[]", "0", "None", "True", "False"])
        for (test, prior), value in product(tests.items(), values):
            yield f"if {test}:\nreturn {value}", prior * (1.0 if value in chosen else 0.7)


def guarded(node: ast.stmt, scope: Scope) -> Iterator[Change]:
    """A condition that is missing around a statement."""
    source, indent = scope.source, scope.source.indent(node)
    start, end = source.span(node)
    text = source.text[start:end]
    if _is_text(node) or not indent or not scope.function or "\n" in text:
        return
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    tests = [(condition, 0.2) for condition in scope.conditions]
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
        item, holder = source.segment(call.args[0]), source.segment(call.func.value)
        tests += [(f"{item} not in {holder}", 0.3), (f"{item} in {holder}", 0.15)]
    for name in scope.variables:
        prior = 0.2 if name in names else 0.12
        tests += [(name, prior), (f"not {name}", prior)]
        if name in names and scope.may_be(name, "object"):
            tests.append((f"{name} is not None", prior))
    for test, prior in tests:
        yield Change(start, end, f"if {test}:\n{indent}{_step(source)}{text}", node.lineno, "missing guard", prior)


def _block(source: ProgramSource, statements: list[ast.stmt]) -> tuple[int, int] | None:
    if any(not source.indent(each) for each in statements):
        return None
    return source.line_start(statements[0].lineno), source.span(statements[-1])[1]


def _own_lines(source: ProgramSource, *statements: ast.stmt) -> bool:
    """Return whether each begins a line of its own and has no decorators."""
    lines = {each.lineno for each in statements}
    before = "".join(source.lines[each.lineno - 1][: each.col_offset] for each in statements)
    return len(lines) == len(statements) and not before.strip()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_last(node: ast.stmt, source: ProgramSource) -> bool:
    held = source.parents.get(node)
    return any(node is (getattr(held, name, None) or [None])[-1] for name in ("body", "orelse", "finalbody"))


def _shifted(text: str, old: str, new: str) -> str:
    return "\n".join(
        f"{new}{line.removeprefix(old)}" if line.startswith(old) and line.strip() else line for line in text.split("\n")
    )


def _step(source: ProgramSource) -> str:
    for node in ast.walk(source.tree):
        if isinstance(node, Function | ast.If | ast.For | ast.While) and source.indent(node.body[0]):
            inner = source.indent(node.body[0])
            outer = source.lines[node.lineno - 1][: node.col_offset]
            if not outer.strip() and len(inner) > len(outer):
                return inner[len(outer) :]
    return "    "


_GUARDED = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue)
TEMPLATES = ((ast.stmt, deleted), (ast.AST, reordered), (ast.stmt, inserted), (_GUARDED, guarded))
