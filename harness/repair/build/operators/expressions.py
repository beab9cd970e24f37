"""Mistakes within an expression: a wrong operator, bound, condition or argument."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from misstep.harness.repair.build.syntax import Edit, Fault, Module, exchanged, replaced

if TYPE_CHECKING:
    from tree_sitter import Node

_BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_COMPARISON = {
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "//": "%", "%": "//", "**": "*", "<<": ">>", ">>": "<<"}
_JAVASCRIPT_ONLY = {"//": "", "%": "/"}
_CONNECTIVE = {"and": "or", "or": "and", "&&": "||", "||": "&&", "??": "&&"}
_BINARY = frozenset({"binary_operator", "boolean_operator", "comparison_operator", "binary_expression"})
_OFF = (
    "subscript",
    "slice",
    "binary_operator",
    "binary_expression",
    "comparison_operator",
    "argument_list",
    "arguments",
)


def wrong_boundary(module: Module) -> Iterator[Fault]:
    """Return a comparison that takes its bound in, or leaves it out, wrongly."""
    return _operators(module, "wrong_boundary", _BOUNDARY, "a comparison in {function} treats its boundary wrongly")


def wrong_comparison(module: Module) -> Iterator[Fault]:
    """Return a comparison the other way round."""
    return _operators(module, "wrong_comparison", _COMPARISON, "a comparison in {function} is the wrong way round")


def wrong_arithmetic(module: Module) -> Iterator[Fault]:
    """Return a calculation with another operator."""
    table = _ARITHMETIC if module.path.endswith(".py") else {**_ARITHMETIC, **_JAVASCRIPT_ONLY}
    return _operators(module, "wrong_arithmetic", table, "a calculation in {function} uses the wrong operator")


def wrong_connective(module: Module) -> Iterator[Fault]:
    """`and` for `or`, or the reverse."""
    return _operators(module, "wrong_connective", _CONNECTIVE, "two conditions in {function} are joined wrongly")


def _operators(module: Module, name: str, table: Mapping[str, str], what: str) -> Iterator[Fault]:
    for node in module.nodes():
        if node.type not in _BINARY or (sign := _sign(node)) is None or not (other := table.get(module.text(sign))):
            continue
        if name == "wrong_arithmetic" and any("string" in child.type for child in node.children):
            continue
        yield module.fault(name, node, replaced(sign, other), f"Correct {{function}}: {what}.")


def _sign(node: "Node") -> "Node | None":
    """Return the operator of a binary expression; `None` of a chain of several."""
    named = node.child_by_field_name("operator")
    if named is not None and node.type != "comparison_operator":
        return named
    signs = [child for child in node.children if not child.is_named]
    return signs[0] if len(signs) == 1 else None


def off_by_one(module: Module) -> Iterator[Fault]:
    """Return a number in an index, bound or sum that is one too many."""
    for node in module.nodes():
        if node.type not in module.language.numbers or node.parent is None or node.parent.type not in _OFF:
            continue
        text = module.text(node)
        if text.isdecimal() and len(text) < 6:
            said = "Correct {function}: a number in it is off by one."
            yield module.fault("off_by_one", node, replaced(node, str(int(text) + 1)), said)
            if int(text):
                yield module.fault("off_by_one", node, replaced(node, str(int(text) - 1)), said)


def inverted_condition(module: Module) -> Iterator[Fault]:
    """Return a condition that lost its `not`, or got one."""
    said = "Correct {function}: a condition in it is inverted."
    for node in module.nodes():
        if node.type in ("not_operator", "unary_expression") and node.named_child_count == 1:
            if module.text(node).startswith(("not", "!")):
                inner = node.named_children[0]
                yield module.fault("inverted_condition", node, replaced(node, module.text(inner)), said)
        elif node.type in module.language.conditionals:
            condition = node.child_by_field_name("condition")
            if condition is None or condition.type in ("not_operator", "named_expression"):
                continue
            if condition.type == "parenthesized_expression":
                condition = condition.named_children[0]
            before, after = module.language.negation
            text = f"{before}{module.text(condition)}{after}"
            yield module.fault("inverted_condition", node, replaced(condition, text), said)


def forgotten_condition(module: Module) -> Iterator[Fault]:
    """Return one of two joined conditions left out."""
    for node in module.nodes():
        sign = _sign(node) if node.type in _BINARY else None
        if sign is None or module.text(sign) not in _CONNECTIVE:
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        for kept in (left, right):
            if kept is not None:
                said = "Correct {function}: one of the conditions that it has to check is missing."
                yield module.fault("forgotten_condition", node, replaced(node, module.text(kept)), said)


def _arguments(module: Module) -> "Iterator[tuple[Node, list[Node]]]":
    """Calls with their plain arguments by position."""
    for node in module.nodes():
        if node.type in module.language.calls and (given := node.child_by_field_name("arguments")) is not None:
            plain = [
                each
                for each in given.named_children
                if each.type not in ("keyword_argument", "comment", "list_splat", "dictionary_splat", "spread_element")
            ]
            if given.type != "generator_expression" and len(plain) == len(given.named_children):
                yield node, plain


def swapped_arguments(module: Module) -> Iterator[Fault]:
    """Return two neighbouring arguments of a call in each other's place."""
    for node, given in _arguments(module):
        for one, other in pairwise(given):
            if module.text(one) != module.text(other):
                said = "Correct {function}: a call in it passes its arguments in the wrong order."
                yield module.fault("swapped_arguments", node, exchanged(module, one, other), said)


def dropped_argument(module: Module) -> Iterator[Fault]:
    """Return a call without its last argument."""
    for node, given in _arguments(module):
        if len(given) > 1:
            edit = Edit(given[-2].end_byte, given[-1].end_byte, b"")
            said = "Correct {function}: a call in it lacks an argument."
            yield module.fault("dropped_argument", node, (edit,), said)


def missing_await(module: Module) -> Iterator[Fault]:
    """Return a call whose result is not awaited."""
    for node in module.nodes():
        if node.type in ("await", "await_expression") and node.named_child_count == 1:
            inner = module.text(node.named_children[0])
            said = "Correct {function}: it does not wait for a result."
            yield module.fault("missing_await", node, replaced(node, inner), said)
