"""Mistakes within an expression: a wrong operator, condition, argument, variable, attribute, key, default or name."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from misstep_harness.repair.build.syntax import Edit, Module, Site, exchanged, replaced

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
_DEFAULTS = {
    "True": "False",
    "False": "True",
    "true": "false",
    "false": "true",
    "None": "False",
    "null": "false",
    "()": "None",
    "''": "' '",
    '""': '" "',
}
_OWN = ("self", "cls", "this", "super", "arguments")
_KEY = re.compile(r"(['\"])([A-Za-z_][A-Za-z0-9_]*)\1")
_KEYED = ("subscript", "subscript_expression", "pair", "argument_list")
_PARAMETERS = ("identifier", "typed_parameter")
_NAMES = ("identifier", "property_identifier")
_NOT_READ = ("parameters", "formal_parameters", "keyword_argument", "variable_declarator")


def other_operator(module: Module, table: Mapping[str, str]) -> Iterator[Site]:
    """An operator replaced by that of a table; `+` of strings is not arithmetic."""
    for node in module.nodes(_BINARY):
        if (sign := _sign(node)) is None or (other := table.get(module.text(sign))) is None:
            continue
        if table is not ARITHMETIC or not any("string" in child.type for child in node.children):
            # In JavaScript two slashes begin a comment.
            yield Site(node, replaced(sign, "/" if other == "//" and not module.is_python else other))


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
            numbers = (int(text) + 1, int(text) - 1)
            yield from (Site(node, replaced(node, str(number))) for number in numbers if number >= 0)


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


def wrong_variable(module: Module) -> Iterator[Site]:
    """A variable of the same function in another's place."""
    used: dict[Node, list[Node]] = defaultdict(list)
    for node in module.nodes(("identifier",)):
        if (function := module.function(node)) is not None:
            used[function].append(node)
    for function, nodes in used.items():
        parameters = function.child_by_field_name("parameters")
        named = list(module.nodes(("identifier",), parameters)) if parameters is not None else []
        for node in module.nodes((*module.language.assignments, "variable_declarator"), function):
            left = node.child_by_field_name("name" if node.type == "variable_declarator" else "left")
            named += [left] if left is not None and left.type == "identifier" else []
        local = {module.text(node) for node in named} - {*_OWN}
        yield from _others(module, [node for node in nodes if module.text(node) in local and _is_read(node)], local)


def _others(module: Module, nodes: "list[Node]", names: set[str]) -> Iterator[Site]:
    """Each node with another of some names, which one is decided by its place."""
    for node in nodes:
        if others := sorted(names - {module.text(node)}):
            yield Site(node, replaced(node, others[(node.start_byte * 7 + len(others)) % len(others)]))


def _is_read(node: "Node") -> bool:
    parent = node.parent
    if parent is None or parent.type in _NOT_READ:
        return False
    if parent.type.endswith(("parameter", "_pattern", "_definition", "_declaration", "function")):
        return False
    return parent.child_by_field_name("left") != node or parent.type.startswith(("binary", "boolean", "comparison"))


def wrong_attribute(module: Module) -> Iterator[Site]:
    """Another attribute of the same object."""
    by_owner: dict[str, list[Node]] = defaultdict(list)
    for node in module.nodes(module.language.attributes):
        owner, name = (node.child_by_field_name(field) for field in module.language.attributes[node.type])
        if owner is not None and name is not None and owner.type in ("identifier", "this"):
            by_owner[module.text(owner)].append(name)
    for nodes in by_owner.values():
        yield from _others(module, nodes, {module.text(node) for node in nodes})


def wrong_key(module: Module) -> Iterator[Site]:
    """A key misspelt."""
    for node in module.nodes(("string",)):
        match = _KEY.fullmatch(module.text(node))
        if match and len(match[2]) > 1 and node.parent is not None and node.parent.type in _KEYED:
            key = match[2].removesuffix("s") if match[2].endswith("s") else f"{match[2]}s"
            yield Site(node, replaced(node, f"{match[1]}{key}{match[1]}"))


def wrong_default(module: Module) -> Iterator[Site]:
    """A parameter with another default."""
    for node in module.nodes(module.language.defaults):
        value = node.child_by_field_name(module.language.defaults[node.type])
        text = module.text(value) if value is not None else ""
        other = str(int(text) + 1) if text.isdecimal() else _DEFAULTS.get(text)
        if value is not None and other is not None:
            yield Site(node, replaced(value, other))


def changed_signature(module: Module) -> Iterator[Site]:
    """Two parameters in another order, while the calls stay as they were."""
    for node in module.functions():
        parameters = node.child_by_field_name("parameters")
        nodes = parameters.named_children if parameters is not None else []
        plain = [each for each in nodes if each.type in _PARAMETERS and module.text(each) not in _OWN]
        yield from (Site(node, exchanged(module, one, other)) for one, other in pairwise(plain))


def incomplete_rename(module: Module) -> Iterator[Site]:
    """A function or method renamed in its file, while another file goes on to use the old name."""
    others = [other for other in module.package.values() if other.path != module.path]
    elsewhere = {other.text(node) for other in others for node in other.nodes(_NAMES)}
    uses: dict[str, list[Node]] = defaultdict(list)
    for node in module.nodes(_NAMES):
        uses[module.text(node)].append(node)
    for node in module.functions():
        name = node.child_by_field_name("name")
        text = module.text(name) if name is not None else ""
        if text in elsewhere and len(text) > 3 and not text.startswith("__") and text != "constructor":
            renamed = f"{text}_of" if "_" in text else f"{text}Of" if module.path.endswith("js") else f"{text}_value"
            edits = tuple(Edit(each.start_byte, each.end_byte, renamed.encode()) for each in uses[text])
            request = f"{{function}} was renamed here, but other files still call `{text}`: make the names agree again."
            yield Site(node, edits, request)
