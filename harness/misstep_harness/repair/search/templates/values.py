"""Values that are one off or another: constants, bounds, numbers, and what is returned."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from misstep_harness.repair.search.scope import Scope, kind_of
from misstep_harness.repair.search.source import Change

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


TEMPLATES = (
    (ast.Constant, constant),
    ((ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.BinOp), one_off),
    ((ast.Name, ast.Subscript, ast.Attribute, ast.Call), with_number),
    ((ast.Return, ast.Yield), returned),
    (ast.List, listed),
    ((ast.List, ast.Tuple), exchanged),
)
