"""Operators that people mix up: comparison, arithmetic, boolean, and operands that are swapped or too many."""

import ast
from collections.abc import Iterator

from misstep.harness.repair.search.scope import Scope
from misstep.harness.repair.search.source import Change

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


def compared(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Another comparison, the two sides swapped, or one comparison of a chain left out."""
    if not isinstance(node, ast.Compare):
        return
    source = scope.source
    sides = [node.left, *node.comparators]
    for place, operator in enumerate(node.ops):
        written, others = _COMPARISONS[type(operator)]
        for other, prior in others.items():
            if span := source.between(sides[place], sides[place + 1], written, other):
                yield Change(*span, sides[place].lineno, "comparison operator", 0.95 * prior)
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
        left, right = (source.segment(side) for side in sides)
        if not isinstance(sides[1], ast.Constant):
            word = _COMPARISONS[type(node.ops[0])][0]
            yield source.replaced(node, f"{right} {word} {left}", "swapped operands", 0.2)


def computed(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Another arithmetic operator, swapped operands, or only one of them."""
    source = scope.source
    if isinstance(node, ast.AugAssign):
        written, others = _ARITHMETIC.get(type(node.op), ("", {}))
        for other, prior in others.items():
            if span := source.between(node.target, node.value, f"{written}=", f"{other}="):
                yield Change(*span, node.lineno, "arithmetic operator", 0.85 * prior)
        if written and (span := source.between(node.target, node.value, f"{written}=", "=")):
            yield Change(*span, node.lineno, "assignment operator", 0.4)
        return
    if not isinstance(node, ast.BinOp):
        return
    written, others = _ARITHMETIC.get(type(node.op), ("", {}))
    if not written:
        return
    for other, prior in others.items():
        if span := source.between(node.left, node.right, written, other):
            yield Change(*span, node.lineno, "arithmetic operator", 0.8 * prior)
    left, right = source.segment(node.left), source.segment(node.right)
    constant = isinstance(node.right, ast.Constant)
    if left != right and not (isinstance(node.op, ast.Add | ast.Mult) and constant):
        swapped = f"{_operand(right, node.right)} {written} {_operand(left, node.left)}"
        yield source.replaced(node, swapped, "swapped operands", 0.45)
    yield source.replaced(node, left, "operand too many", 0.5 if constant else 0.3)
    yield source.replaced(node, right, "operand too many", 0.35 if isinstance(node.left, ast.Constant) else 0.25)
    for inner in (node.left, node.right):
        if isinstance(inner, ast.BinOp) and type(inner.op) is not type(node.op):
            yield from _grouped(node, inner, written, scope)


def _grouped(node: ast.BinOp, inner: ast.BinOp, written: str, scope: Scope) -> Iterator[Change]:
    """Return the same operands and operators in another grouping: parentheses that are missing or too many."""
    source, own = scope.source, _ARITHMETIC.get(type(inner.op), ("", {}))[0]
    if not own:
        return
    one, two = source.segment(inner.left), source.segment(inner.right)
    if inner is node.left:
        text = f"{one} {own} ({two} {written} {source.segment(node.right)})"
    else:
        text = f"({source.segment(node.left)} {written} {one}) {own} {two}"
    yield source.replaced(node, text, "grouping", 0.25)


def _operand(text: str, node: ast.expr) -> str:
    loose = isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Lambda)
    return f"({text})" if loose else text


def joined(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """`and` for `or`, a part of a condition too many or negated."""
    if not isinstance(node, ast.BoolOp):
        return
    source = scope.source
    written, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in zip(node.values, node.values[1:], strict=False):
        if span := source.between(left, right, written, other):
            yield Change(*span, left.lineno, "boolean operator", 0.8)
    for part in node.values:
        rest = [source.segment(each) for each in node.values if each is not part]
        yield source.replaced(node, f" {written} ".join(rest), "condition too many", 0.55)
        yield source.replaced(part, f"not {_operand(source.segment(part), part)}", "negation", 0.3)


def negated(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return a `not` or a minus too many."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        prior = 0.7 if isinstance(node.op, ast.Not) else 0.45
        yield scope.source.replaced(node, scope.source.segment(node.operand), "negation", prior)


TEMPLATES = (compared, computed, joined, negated)
