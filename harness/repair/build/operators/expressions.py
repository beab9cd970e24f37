"""Mistakes within an expression: a wrong operator, bound, condition or argument."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from misstep.harness.repair.build.syntax import Edit, Module, Site, exchanged, replaced

if TYPE_CHECKING:
    from tree_sitter import Node

BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
COMPARISON = {
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
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "//": "%", "%": "//", "**": "*", "<<": ">>", ">>": "<<"}
CONNECTIVE = {"and": "or", "or": "and", "&&": "||", "||": "&&", "??": "&&"}
_BINARY = ("binary_operator", "boolean_operator", "comparison_operator", "binary_expression")
_OFF = ("subscript", "slice", "argument_list", "arguments", *_BINARY[:1], *_BINARY[2:])
_NOT_PLAIN = ("keyword_argument", "comment", "list_splat", "dictionary_splat", "spread_element")


def other_operator(module: Module, table: Mapping[str, str]) -> Iterator[Site]:
    """An operator replaced by that of a table; `+` of strings is not arithmetic."""
    for node in module.nodes(_BINARY):
        sign = _sign(node)
        other = table.get(module.text(sign)) if sign else None
        if sign is None or other is None:
            continue
        if table is ARITHMETIC and any("string" in child.type for child in node.children):
            continue
        if other == "//" and not module.is_python:
            other = "/"  # there, two begin a comment
        yield Site(node, replaced(sign, other))


def _sign(node: "Node") -> "Node | None":
    named = node.child_by_field_name("operator")
    if named is not None and node.type != "comparison_operator":
        return named
    signs = [child for child in node.children if not child.is_named]
    return signs[0] if len(signs) == 1 else None


def off_by_one(module: Module) -> Iterator[Site]:
    """A number in an index, bound or sum that is one too many or too few."""
    for node in module.nodes(module.language.numbers):
        text = module.text(node)
        if node.parent is not None and node.parent.type in _OFF and text.isdecimal() and len(text) < 6:
            yield Site(node, replaced(node, str(int(text) + 1)))
            if int(text):
                yield Site(node, replaced(node, str(int(text) - 1)))


def inverted_condition(module: Module) -> Iterator[Site]:
    """A condition that lost its `not`, or got one."""
    before, after = module.language.negation
    for node in module.nodes():
        if node.type in ("not_operator", "unary_expression") and node.named_child_count == 1:
            if module.text(node).startswith(("not", "!")):
                yield Site(node, replaced(node, module.text(node.named_children[0])))
        elif node.type in module.language.conditionals:
            condition = node.child_by_field_name("condition")
            if condition is None or condition.type in ("not_operator", "named_expression"):
                continue
            if condition.type == "parenthesized_expression":
                condition = condition.named_children[0]
            yield Site(node, replaced(condition, f"{before}{module.text(condition)}{after}"))


def forgotten_condition(module: Module) -> Iterator[Site]:
    """One of two joined conditions left out."""
    for node in module.nodes(_BINARY):
        sign = _sign(node)
        if sign is not None and module.text(sign) in CONNECTIVE:
            sides = (node.child_by_field_name(side) for side in ("left", "right"))
            yield from (Site(node, replaced(node, module.text(side))) for side in sides if side is not None)


def _calls(module: Module) -> "Iterator[tuple[Node, list[Node]]]":
    for node in module.nodes(module.language.calls):
        arguments = node.child_by_field_name("arguments")
        if arguments is None or arguments.type == "generator_expression":
            continue
        if all(each.type not in _NOT_PLAIN for each in arguments.named_children):
            yield node, arguments.named_children


def swapped_arguments(module: Module) -> Iterator[Site]:
    """Two neighbouring arguments of a call in each other's place."""
    for node, arguments in _calls(module):
        for one, other in pairwise(arguments):
            if module.text(one) != module.text(other):
                yield Site(node, exchanged(module, one, other))


def dropped_argument(module: Module) -> Iterator[Site]:
    """A call without its last argument."""
    for node, arguments in _calls(module):
        if len(arguments) > 1:
            yield Site(node, (Edit(arguments[-2].end_byte, arguments[-1].end_byte, b""),))
