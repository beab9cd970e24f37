"""Propose changes for a node of a suspicious statement that would undo a common mistake there.

Which mistakes are common, and how common, is taken from what is published of people's fixes (PAR, Kim et al. 2013; the
fix patterns of TBar, Liu et al. 2019; the classes of BugsInPy and Defects4J) and from plain reason; no figure here was
fitted to a benchmark.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise, permutations, product
from typing import Any

from misstep_harness.repair.search import expression_templates
from misstep_harness.repair.search.scope import Change, Function, ProgramSource, Scope, kind_of

_COMPARISONS: dict[type[ast.cmpop], tuple[str, dict[str, float]]] = {
    ast.Lt: ("<", {"<=": 1.0, ">": 0.6, ">=": 0.5, "!=": 0.3, "==": 0.2}),
    ast.LtE: ("<=", {"<": 1.0, ">=": 0.6, ">": 0.5, "==": 0.3, "!=": 0.2}),
    ast.Gt: (">", {">=": 1.0, "<": 0.6, "<=": 0.5, "!=": 0.3, "==": 0.2}),
    ast.GtE: (">=", {">": 1.0, "<=": 0.6, "<": 0.5, "==": 0.3, "!=": 0.2}),
    ast.Eq: ("==", {"!=": 0.8, "<=": 0.6, ">=": 0.6, "<": 0.3, ">": 0.3, "in": 0.2}),
    ast.NotEq: ("!=", {"==": 0.8, "<": 0.5, ">": 0.5, "<=": 0.3, ">=": 0.3, "not in": 0.2}),
    ast.In: ("in", {"not in": 0.8, "==": 0.3}),
    ast.NotIn: ("not in", {"in": 0.8, "!=": 0.3}),
    ast.Is: ("is", {"is not": 0.8, "==": 0.4}),
    ast.IsNot: ("is not", {"is": 0.8, "!=": 0.4}),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, dict[str, float]]] = {
    ast.Add: ("+", {"-": 0.9, "*": 0.5, "//": 0.1, "%": 0.1, "|": 0.1}),
    ast.Sub: ("-", {"+": 0.9, "//": 0.2, "*": 0.2, "%": 0.2}),
    ast.Mult: ("*", {"+": 0.5, "**": 0.5, "/": 0.4, "//": 0.4, "-": 0.2, "%": 0.1}),
    ast.Div: ("/", {"//": 0.9, "*": 0.5, "%": 0.4, "-": 0.1}),
    ast.FloorDiv: ("//", {"/": 0.8, "%": 0.7, "*": 0.3, "-": 0.2}),
    ast.Mod: ("%", {"//": 0.8, "/": 0.4, "*": 0.2, "-": 0.2}),
    ast.Pow: ("**", {"*": 0.8, "+": 0.1}),
    ast.BitAnd: ("&", {"|": 0.8, "^": 0.8, "%": 0.1, "-": 0.1}),
    ast.BitOr: ("|", {"&": 0.8, "^": 0.7, "+": 0.2}),
    ast.BitXor: ("^", {"&": 0.8, "|": 0.8, "**": 0.4}),
    ast.LShift: ("<<", {">>": 0.9, "*": 0.1}),
    ast.RShift: (">>", {"<<": 0.9, "//": 0.1}),
}


def compared(node: ast.Compare, scope: Scope) -> Iterator[Change]:
    """Another comparison, the two sides swapped, or one comparison of a chain left out."""
    source = scope.source
    sides = [node.left, *node.comparators]
    for (left, right), operator in zip(pairwise(sides), node.ops, strict=True):
        sign, others = _COMPARISONS[type(operator)]
        yield from _other(source, left, right, sign, others, "comparison operator", 0.95)
    is_word = len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
    if is_word and not isinstance(sides[1], ast.Constant):
        one, two = (source.segment(side) for side in sides)
        yield source.replaced(node, f"{two} {_COMPARISONS[type(node.ops[0])][0]} {one}", "swapped operands", 0.2)


def _other(
    source: ProgramSource, left: ast.AST, right: ast.AST, old: str, others: Mapping[str, float], name: str, prior: float
) -> Iterator[Change]:
    for other, share in others.items():
        if span := source.between(left, right, old, other):
            yield Change(*span, left.lineno, name, prior * share)  # type: ignore[attr-defined]


def augmented(node: ast.AugAssign, scope: Scope) -> Iterator[Change]:
    """Another operator of an assignment, or none."""
    sign, others = _ARITHMETIC.get(type(node.op), ("", {}))
    old, new = f"{sign}=", {f"{other}=": prior for other, prior in others.items()}
    if sign:
        yield from _other(scope.source, node.target, node.value, old, new, "arithmetic operator", 0.85)
        yield from _other(scope.source, node.target, node.value, old, {"=": 1.0}, "assignment operator", 0.4)


def computed(node: ast.BinOp, scope: Scope) -> Iterator[Change]:
    """Another arithmetic operator, swapped operands, or only one of them."""
    source = scope.source
    sign, others = _ARITHMETIC.get(type(node.op), ("", {}))
    if not sign:
        return
    yield from _other(source, node.left, node.right, sign, others, "arithmetic operator", 0.8)
    left, right = source.segment(node.left), source.segment(node.right)
    constant = isinstance(node.right, ast.Constant)
    if left != right and not (isinstance(node.op, ast.Add | ast.Mult) and constant):
        swapped = f"{_operand(right, node.right)} {sign} {_operand(left, node.left)}"
        yield source.replaced(node, swapped, "swapped operands", 0.45)
    yield source.replaced(node, left, "operand too many", 0.5 if constant else 0.3)
    yield source.replaced(node, right, "operand too many", 0.35 if isinstance(node.left, ast.Constant) else 0.25)
    for inner in (node.left, node.right):
        if isinstance(inner, ast.BinOp) and type(inner.op) is not type(node.op) and type(inner.op) in _ARITHMETIC:
            own, one, two = _ARITHMETIC[type(inner.op)][0], source.segment(inner.left), source.segment(inner.right)
            is_left = inner is node.left
            text = f"{one} {own} ({two} {sign} {right})" if is_left else f"({left} {sign} {one}) {own} {two}"
            yield source.replaced(node, text, "grouping", 0.25)


def _operand(text: str, node: ast.expr) -> str:
    loose = isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Lambda)
    return f"({text})" if loose else text


def joined(node: ast.BoolOp, scope: Scope) -> Iterator[Change]:
    """`and` for `or`, a part of a condition too many or negated."""
    source = scope.source
    sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in pairwise(node.values):
        yield from _other(source, left, right, sign, {other: 1.0}, "boolean operator", 0.8)
    for part in node.values:
        rest = [source.segment(each) for each in node.values if each is not part]
        yield source.replaced(node, f" {sign} ".join(rest), "condition too many", 0.55)
        yield source.replaced(part, f"not {_operand(source.segment(part), part)}", "negation", 0.3)


def negated(node: ast.UnaryOp, scope: Scope) -> Iterator[Change]:
    """A `not` or a minus too many."""
    if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        prior = 0.7 if isinstance(node.op, ast.Not) else 0.45
        yield scope.source.replaced(node, scope.source.segment(node.operand), "negation", prior)


OPERATOR_TEMPLATES = (
    (ast.Compare, compared),
    (ast.AugAssign, augmented),
    (ast.BinOp, computed),
    (ast.BoolOp, joined),
    (ast.UnaryOp, negated),
)


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
STATEMENT_TEMPLATES = ((ast.stmt, deleted), (ast.AST, reordered), (ast.stmt, inserted), (_GUARDED, guarded))


_EMPTY = ("[]", "{}", "()", "''", '""', "0", "None", "set()")


def constant(node: ast.Constant, scope: Scope) -> Iterator[Change]:
    """Another constant: one more or less, the other sign, the other truth, a constant or a variable of the function."""
    source, value = scope.source, node.value
    is_docstring = isinstance(source.parents.get(node), ast.Expr)
    if is_docstring or any(isinstance(each, ast.JoinedStr) for each in source.above(node)):
        return
    if isinstance(value, bool):
        yield source.replaced(node, str(not value), "constant", 0.7)
        return
    if isinstance(value, int):
        near = {value + 1: 0.75, value - 1: 0.75, 0: 0.5, 1: 0.5, -1: 0.3, 2: 0.25, -value: 0.3, 10: 0.08}
        others = ((str(other), prior) for other, prior in near.items() if other != value)
        yield from (source.replaced(node, other, "constant", prior) for other, prior in others)
    elif isinstance(value, float):
        yield from scope.instead(node, map(str, (value + 1, value - 1, -value, 0.0, 1.0)), "constant", 0.3)
    elif isinstance(value, str):
        texts = [each.value for each in scope.nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        for text in dict.fromkeys(["", " ", value.strip(), value.lower(), value.upper(), f"{value} ", *texts]):
            if text != value and len(text) < 40:
                yield source.replaced(node, repr(text), "constant", 0.3 if text in texts else 0.2)
    elif value is None:
        yield from scope.instead(node, ("[]", "0", "False", "''"), "constant", 0.15)
    if isinstance(value, int | float | str):
        kind = kind_of(node)
        for name in scope.variables:
            known = kind is not None and scope.may_be(name, kind)
            yield source.replaced(node, name, "variable for a constant", 0.25 if known else 0.1)


def one_off(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """A number that is one too small or too large; likeliest where it bounds something."""
    prior, text = _bound(node, scope), scope.source.segment(node)
    # The operator and the constant of `i + 1` are changed by templates of their own.
    is_step = isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) and node.right.value == 1
    if prior and not is_step:
        yield from scope.instead(node, (f"{text} + 1", f"{text} - 1"), "off by one", prior)


def _bound(node: ast.expr, scope: Scope) -> float:
    """Return how likely a node's number is one off by its place; 0 where it cannot be a number."""
    held = scope.source.parents.get(node)
    is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    is_other = isinstance(node, ast.Name) and not scope.may_be(node.id, "number")
    if is_other or not is_read or kind_of(node) not in (None, "number"):
        return 0.0
    if isinstance(held, ast.Slice):
        return 0.6
    if isinstance(held, ast.Call) and node is not held.func:
        called = held.func.id if isinstance(held.func, ast.Name) else ""
        return 0.7 if called == "range" else 0.0 if called in ("len", "sum", "sorted", "any", "all") else 0.3
    if isinstance(held, ast.Subscript):
        return 0.5 if node is held.slice else 0.0
    if isinstance(held, ast.Compare):
        return 0.4
    if isinstance(held, ast.Tuple):
        return 0.35 if isinstance(scope.source.parents.get(held), ast.Subscript) else 0.2
    if isinstance(held, ast.BinOp):
        return 0.3 if isinstance(held.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod) else 0.15
    return 0.3 if isinstance(held, ast.Return | ast.Assign | ast.AugAssign) else 0.0


def with_number(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """A number to or from which a variable should be added, or which should be squared, halved, negated."""
    if not _bound(node, scope):
        return
    text = scope.source.segment(node)
    for name in scope.of_kind("number"):
        if name != text:
            yield from scope.instead(node, (f"{text} - {name}", f"{text} + {name}"), "missing term", 0.16)
    factors = (f"{text} ** 2", f"{text} * 2", f"{text} // 2", f"-{text}")
    yield from scope.instead(node, factors, "missing factor", 0.13)


def returned(node: ast.Return | ast.Yield, scope: Scope) -> Iterator[Change]:
    """Another value returned: a variable, a condition on one, a value wrapped in a list, what is returned elsewhere."""
    source, value = scope.source, node.value
    if value is None:
        return
    old = source.segment(value)
    if not isinstance(value, ast.Name):
        yield from scope.instead(value, scope.variables, "return value", 0.3)
    if kind_of(value) == "truth":
        for name in scope.variables:
            tests = (f"{name} == 0", f"not {name}", f"bool({name})", f"len({name}) == 0")
            yield from scope.instead(value, tests, "return value", 0.18)
        yield from scope.instead(value, scope.conditions, "return value", 0.25)
    returns = (each.value for each in scope.nodes if isinstance(each, ast.Return) and each.value is not None)
    others = (text for text in map(source.segment, returns) if text != old and "\n" not in text)
    yield from scope.instead(value, others, "return value", 0.3)
    if isinstance(value, ast.Constant | ast.List | ast.Dict | ast.Name | ast.Tuple):
        yield from scope.instead(value, (text for text in _EMPTY if text != old), "return value", 0.12)
    if isinstance(value, ast.Compare | ast.BoolOp | ast.Name | ast.Call):
        yield source.replaced(value, f"not ({old})", "negation", 0.3 if kind_of(value) == "truth" else 0.15)


def listed(node: ast.List, scope: Scope) -> Iterator[Change]:
    """A list's elements: one missing, one too many, the list around a value missing or doubled."""
    if not isinstance(node.ctx, ast.Load):
        return
    inner = [scope.source.segment(each) for each in node.elts]
    if not inner:
        yield from scope.instead(node, (f"[{name}]" for name in scope.variables), "element", 0.25)
        yield from scope.instead(node, ("[[]]", "[0]", "[1]", "['']"), "element", 0.15)
    fewer = (", ".join(inner[:place] + inner[place + 1 :]) for place in range(len(inner)))
    yield from scope.instead(node, (f"[{rest}]" for rest in fewer), "element", 0.2)
    if len(inner) == 1:
        yield scope.source.replaced(node, inner[0], "element", 0.25)


def exchanged(node: ast.List | ast.Tuple, scope: Scope) -> Iterator[Change]:
    """Two neighbouring elements of a list in each other's place."""
    source = scope.source
    if not isinstance(node.ctx, ast.Load):
        return
    prior = 0.45 if isinstance(source.parents.get(node), ast.Subscript | ast.Assign) else 0.3
    for one, two in pairwise(node.elts):
        (start, middle), (below, end) = source.span(one), source.span(two)
        between = source.text[middle:below]
        if between.strip() == ",":
            text = f"{source.segment(two)}{between}{source.segment(one)}"
            yield Change(start, end, text, one.lineno, "swapped elements", prior)


VALUE_TEMPLATES = (
    (ast.Constant, constant),
    ((ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.BinOp), one_off),
    ((ast.Name, ast.Subscript, ast.Attribute, ast.Call), with_number),
    ((ast.Return, ast.Yield), returned),
    (ast.List, listed),
    ((ast.List, ast.Tuple), exchanged),
)


_TEMPLATES: tuple[tuple[Any, Callable[[Any, Scope], Iterator[Change]]], ...] = (
    *OPERATOR_TEMPLATES,
    *VALUE_TEMPLATES,
    *expression_templates.NAME_TEMPLATES,
    *expression_templates.CALL_TEMPLATES,
    *expression_templates.CONDITION_TEMPLATES,
    *STATEMENT_TEMPLATES,
)


def changes_of(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return what all templates propose for a node."""
    for kinds, template in _TEMPLATES:
        if isinstance(node, kinds):
            yield from template(node, scope)
