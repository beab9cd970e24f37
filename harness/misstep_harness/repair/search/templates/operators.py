"""Operators that people mix up: comparison, arithmetic, boolean, and operands that are swapped or too many."""

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise

from misstep_harness.repair.search.scope import Scope
from misstep_harness.repair.search.source import Change, ProgramSource

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


TEMPLATES = (
    (ast.Compare, compared),
    (ast.AugAssign, augmented),
    (ast.BinOp, computed),
    (ast.BoolOp, joined),
    (ast.UnaryOp, negated),
)
