"""Mistakes of many lines: a function that was not written, not finished, copied from its neighbour, or taken out."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from misstep.harness.repair.build.syntax import Edit, Fault, Module

if TYPE_CHECKING:
    from tree_sitter import Node

_LEAST = 2


def _functions(module: Module) -> "Iterator[tuple[Node, Node, list[Node]]]":
    """Functions with their body and its statements, the docstring not counted."""
    for node in module.nodes():
        if node.type not in module.language.functions or module.function(node) != node:
            continue
        body = node.child_by_field_name("body")
        if body is None or body.type not in module.language.blocks:
            continue
        inside = [each for each in body.named_children if each.type != "comment"]
        if inside and inside[0].named_child_count == 1 and inside[0].named_children[0].type == "string":
            inside = inside[1:]
        if len(inside) >= _LEAST:
            yield node, body, inside


def unwritten_body(module: Module) -> Iterator[Fault]:
    """Return a function that is only declared."""
    for node, _, inside in _functions(module):
        lines = module.whole_lines(inside[0], inside[-1])
        if lines:
            text = module.indent(inside[0]) + module.language.unwritten.encode() + b"\n"
            said = "Write the body of {function}, which is not implemented."
            yield module.fault("unwritten_body", node, (Edit(*lines, text),), said)


def unfinished_body(module: Module) -> Iterator[Fault]:
    """Return a function whose second half is missing."""
    for node, _, inside in _functions(module):
        half = len(inside) // 2
        lines = module.whole_lines(inside[half], inside[-1])
        if lines and half:
            said = "Finish {function}: the second half of what it has to do is missing."
            yield module.fault("unfinished_body", node, (Edit(*lines, b""),), said)


def copied_body(module: Module) -> Iterator[Fault]:
    """Return a function with the body of its neighbour of the same parameters."""
    known = list(_functions(module))
    for (one, _, first), (other, _, second) in pairwise(known):
        given, wanted = (each.child_by_field_name("parameters") for each in (one, other))
        source, target = module.whole_lines(first[0], first[-1]), module.whole_lines(second[0], second[-1])
        if given is None or wanted is None or source is None or target is None:
            continue
        if module.text(given) == module.text(wanted) and module.indent(first[0]) == module.indent(second[0]):
            said = "Correct {function}: it does what its neighbour is for."
            edit = Edit(*target, module.source[source[0] : source[1]])
            yield module.fault("copied_body", other, (edit,), said)


def removed_feature(module: Module) -> Iterator[Fault]:
    """Return a function taken out together with the statements of this file that only call it."""
    for node, _, _ in _functions(module):
        named = node.child_by_field_name("name")
        decorated = node.parent is not None and node.parent.type == "decorated_definition"
        lines = module.whole_lines(node.parent if decorated and node.parent is not None else node)
        if named is None or lines is None:
            continue
        name, edits = module.text(named), [Edit(*lines, b"")]
        for call in module.nodes():
            called = call.child_by_field_name("function") if call.type in module.language.calls else None
            statement = call.parent
            if called is None or statement is None or statement.type != "expression_statement":
                continue
            own = module.whole_lines(statement)
            if module.text(called).rpartition(".")[2] == name and own and not lines[0] <= own[0] < lines[1]:
                edits.append(Edit(*own, b""))
        said = f"Bring back `{name}`, which was taken out of `{module.path}`, with the calls of it."
        yield module.fault("removed_feature", node, tuple(edits), said)
