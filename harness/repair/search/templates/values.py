"""Values that are one off or another: constants, bounds, numbers, and what is returned."""

import ast
from collections.abc import Iterator

from misstep.harness.repair.search.scope import Scope, kind_of
from misstep.harness.repair.search.source import Change

_FLIPS = {True: "False", False: "True"}
_EMPTY = ("[]", "{}", "()", "''", '""', "0", "None", "set()")


def constant(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Another constant: one more or less, the other sign, the other truth, a constant or a variable of the function."""
    if not isinstance(node, ast.Constant) or _within_text(node, scope) or _is_docstring(node, scope):
        return
    source, value = scope.source, node.value
    if isinstance(value, bool):
        yield source.replaced(node, _FLIPS[value], "constant", 0.7)
        return
    if isinstance(value, int):
        near = {value + 1: 0.75, value - 1: 0.75, 0: 0.5, 1: 0.5, -1: 0.3, 2: 0.25, -value: 0.3, 10: 0.08}
        for other, prior in near.items():
            if other != value:
                yield source.replaced(node, str(other), "constant", prior)
    elif isinstance(value, float):
        for text, prior in (
            (f"{value + 1}", 0.3),
            (f"{value - 1}", 0.3),
            (f"{-value}", 0.3),
            ("0.0", 0.3),
            ("1.0", 0.3),
        ):
            yield source.replaced(node, text, "constant", prior)
    elif isinstance(value, str):
        texts = [each.value for each in scope.nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        for text in dict.fromkeys(["", " ", value.strip(), value.lower(), value.upper(), f"{value} ", *texts]):
            if text != value and len(text) < 40:
                yield source.replaced(node, repr(text), "constant", 0.3 if text in texts else 0.2)
    elif value is None:
        for text in ("[]", "0", "False", "''"):
            yield source.replaced(node, text, "constant", 0.15)
    if isinstance(value, int | float | str):
        kind = kind_of(node)
        for name in scope.variables:
            known = kind is not None and scope.may_be(name, kind)
            yield source.replaced(node, name, "variable for a constant", 0.25 if known else 0.1)


def one_off(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return a number that is one too small or too large; likeliest where it bounds something."""
    if not isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.BinOp):
        return
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    prior = _bound(node, scope)
    if not prior:
        return
    text = scope.source.segment(node)
    for sign in ("+", "-"):
        written = f"{text} {sign} 1"
        if isinstance(node, ast.BinOp) and _is_one(node.right):
            continue  # its operator and its constant are changed by templates of their own
        yield scope.source.replaced(node, written, "off by one", prior)


def _bound(node: ast.expr, scope: Scope) -> float:
    """Return how likely a node's number is one off by where it stands; 0 where it cannot be a number."""
    held = scope.source.parents.get(node)
    if isinstance(node, ast.Name) and not scope.may_be(node.id, "number"):
        return 0.0
    if kind_of(node) not in (None, "number"):
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


def with_number(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return a number to or from which a variable should be added, or which should be squared, halved, negated."""
    if not isinstance(node, ast.Name | ast.Subscript | ast.Attribute | ast.Call):
        return
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or not _bound(node, scope):
        return
    source, text = scope.source, scope.source.segment(node)
    for name in scope.of_kind("number"):
        if name != text:
            yield source.replaced(node, f"{text} - {name}", "missing term", 0.16)
            yield source.replaced(node, f"{text} + {name}", "missing term", 0.16)
    for written in (f"{text} ** 2", f"{text} * 2", f"{text} // 2", f"-{text}"):
        yield source.replaced(node, written, "missing factor", 0.13)


def returned(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Another value returned: a variable, a condition on one, a value wrapped in a list, what is returned elsewhere."""
    if not isinstance(node, ast.Return | ast.Yield) or node.value is None:
        return
    source, value = scope.source, node.value
    old = source.segment(value)
    if not isinstance(value, ast.Name):
        for name in scope.variables:
            yield source.replaced(value, name, "return value", 0.3)
    if kind_of(value) == "truth":
        for name in scope.variables:
            for text in (f"{name} == 0", f"not {name}", f"bool({name})", f"len({name}) == 0"):
                yield source.replaced(value, text, "return value", 0.18)
        for text in scope.conditions:
            yield source.replaced(value, text, "return value", 0.25)
    for other in scope.nodes:
        if isinstance(other, ast.Return) and other.value is not None:
            text = source.segment(other.value)
            if text != old and "\n" not in text:
                yield source.replaced(value, text, "return value", 0.3)
    for text in _EMPTY:
        if isinstance(value, ast.Constant | ast.List | ast.Dict | ast.Name | ast.Tuple) and text != old:
            yield source.replaced(value, text, "return value", 0.12)
    if isinstance(value, ast.Compare | ast.BoolOp | ast.Name | ast.Call):
        yield source.replaced(value, f"not ({old})", "negation", 0.3 if kind_of(value) == "truth" else 0.15)


def listed(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return a list's elements: one missing, one too many, the list around a value missing or doubled."""
    source = scope.source
    if isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load):
        held = source.parents.get(node)
        if isinstance(node, ast.List):
            inner = [source.segment(each) for each in node.elts]
            if not inner:
                for name in scope.variables:
                    yield source.replaced(node, f"[{name}]", "element", 0.25)
                for text in ("[[]]", "[0]", "[1]", "['']"):
                    yield source.replaced(node, text, "element", 0.15)
            else:
                for place in range(len(inner)):
                    rest = ", ".join(inner[:place] + inner[place + 1 :])
                    yield source.replaced(node, f"[{rest}]", "element", 0.2)
            if len(inner) == 1:
                yield source.replaced(node, inner[0], "element", 0.25)
        for place in range(len(node.elts) - 1):
            one, two = node.elts[place], node.elts[place + 1]
            start, end = source.span(one)[0], source.span(two)[1]
            between = source.text[source.span(one)[1] : source.span(two)[0]]
            if between.strip() == ",":
                text = f"{source.segment(two)}{between}{source.segment(one)}"
                prior = 0.45 if isinstance(held, ast.Subscript | ast.Assign) else 0.3
                yield Change(start, end, text, one.lineno, "swapped elements", prior)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _within_text(node: ast.AST, scope: Scope) -> bool:
    return any(isinstance(each, ast.JoinedStr) for each in scope.source.above(node))


def _is_docstring(node: ast.AST, scope: Scope) -> bool:
    return isinstance(scope.source.parents.get(node), ast.Expr)


TEMPLATES = (constant, one_off, with_number, returned, listed)
