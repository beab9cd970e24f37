"""Mistakes in statements: a missing guard, branch, return or handler, a wrong order, a copied branch."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from misstep.harness.repair.build.syntax import Edit, Fault, Module, replaced

if TYPE_CHECKING:
    from tree_sitter import Node

_LEAVING = ("return_statement", "raise_statement", "throw_statement", "continue_statement", "break_statement")
_SIMPLE = ("expression_statement", "lexical_declaration", "variable_declaration", "delete_statement")
_LOOPS = ("for_statement", "for_in_statement", "while_statement")


def _without(module: Module, first: "Node", last: "Node | None" = None) -> tuple[Edit, ...]:
    """Return the edit that takes whole lines away; none where something else stands on them."""
    lines = module.whole_lines(first, last)
    return (Edit(*lines, b""),) if lines else ()


def _statements(module: Module, block: "Node | None") -> "list[Node]":
    if block is None:
        return []
    if block.type not in module.language.blocks:
        return [block]
    return [each for each in block.named_children if each.type != "comment"]


def missing_guard(module: Module) -> Iterator[Fault]:
    """Return a check that leaves early, left out."""
    for node in module.nodes():
        if node.type != "if_statement" or _alternatives(node) or node.parent is None:
            continue
        inside = _statements(module, node.child_by_field_name("consequence"))
        siblings = _statements(module, node.parent)
        if inside and inside[-1].type in _LEAVING and len(siblings) > 1 and (edits := _without(module, node)):
            said = "Correct {function}: it lacks a check that has to come before the rest."
            yield module.fault("missing_guard", node, edits, said)


def _alternatives(node: "Node") -> "list[Node]":
    return [child for child in node.named_children if child.type in ("elif_clause", "else_clause")]


def missing_branch(module: Module) -> Iterator[Fault]:
    """Return a branch left out."""
    for node in module.nodes():
        branches = _alternatives(node) if node.type == "if_statement" else []
        for branch in branches:
            if module.path.endswith(".py"):
                edits = _without(module, branch)
            else:
                before = branch.prev_sibling
                edits = (Edit(before.end_byte, branch.end_byte, b""),) if before is not None else ()
            if edits:
                yield module.fault(
                    "missing_branch", branch, edits, "Correct {function}: one of its branches is missing."
                )


def copied_branch(module: Module) -> Iterator[Fault]:
    """Return a branch that was copied from its sibling and not changed."""
    for node in module.nodes():
        if node.type != "if_statement":
            continue
        blocks = [node.child_by_field_name("consequence")]
        for branch in _alternatives(node):
            blocks += [each for each in branch.named_children if each.type in module.language.blocks]
        known = [block for block in blocks if block is not None and block.type in module.language.blocks]
        for one, other in pairwise(known):
            if module.text(one) != module.text(other):
                edits = replaced(other, module.text(one))
                said = "Correct {function}: one of its branches does what another is for."
                yield module.fault("copied_branch", other, edits, said)


def missing_return(module: Module) -> Iterator[Fault]:
    """Return a result that is computed and not returned."""
    for node in module.nodes():
        if node.type == "return_statement" and node.named_child_count == 1 and module.function(node) is not None:
            value = node.named_children[0]
            edit = Edit(node.start_byte, value.start_byte, b"")
            if value.type not in ("object", "identifier", "none", "true", "false"):
                said = "Correct {function}: it does not return what it has computed."
                yield module.fault("missing_return", node, (edit,), said)


def early_return(module: Module) -> Iterator[Fault]:
    """Return a return after a loop that slipped into it."""
    for node in module.nodes():
        following = node.next_named_sibling
        if node.type not in _LOOPS or following is None or following.type != "return_statement":
            continue
        inside = _statements(module, node.child_by_field_name("body"))
        away = _without(module, following)
        if not inside or not away or module.whole_lines(inside[-1]) is None:
            continue
        line = module.whole_lines(inside[-1])
        text = module.indent(inside[0]) + module.text(following).encode() + b"\n"
        if line and b"\n" not in text[:-1]:
            edits = (Edit(line[1], line[1], text), *away)
            yield module.fault("early_return", following, edits, "Correct {function}: it returns too early.")


def swapped_statements(module: Module) -> Iterator[Fault]:
    """Return two neighbouring statements in the wrong order."""
    for node in module.nodes():
        if node.type not in module.language.blocks:
            continue
        inside = _statements(module, node)
        for one, other in pairwise(inside):
            if one.type in _SIMPLE and other.type in (*_SIMPLE, "if_statement") and "string" not in _kind(one):
                first, second = module.whole_lines(one), module.whole_lines(other)
                if first and second and module.text(one) != module.text(other):
                    gap = module.source[first[1] : second[0]]
                    text = module.source[second[0] : second[1]] + gap + module.source[first[0] : first[1]]
                    edits = (Edit(first[0], second[1], text),)
                    said = "Correct {function}: two of its steps are in the wrong order."
                    yield module.fault("swapped_statements", one, edits, said)


def _kind(statement: "Node") -> str:
    """Return the type of what a statement consists of: `string` for a docstring."""
    return statement.named_children[0].type if statement.named_child_count == 1 else ""


def lost_update(module: Module) -> Iterator[Fault]:
    """Return an update left out, or one that overwrites instead of adding."""
    for node in module.nodes():
        if node.type in ("augmented_assignment", "augmented_assignment_expression"):
            sign = node.child_by_field_name("operator")
            if sign is not None:
                said = "Correct {function}: it overwrites a value that it has to add to."
                yield module.fault("lost_update", node, replaced(sign, "="), said)
        elif node.type == "expression_statement" and module.function(node) is not None:
            only = len(_statements(module, node.parent)) < 2
            is_update = _kind(node) in (*module.language.assignments, *module.language.calls, "update_expression")
            if is_update and not only and (edits := _without(module, node)):
                said = "Correct {function}: one of its steps is missing."
                yield module.fault("lost_update", node, edits, said)


def removed_error_handling(module: Module) -> Iterator[Fault]:
    """Return what was tried, done without a handler."""
    for node in module.nodes():
        body = node.child_by_field_name("body") if node.type == "try_statement" else None
        inside = _statements(module, body)
        if not inside or (lines := module.whole_lines(node)) is None:
            continue
        if module.whole_lines(inside[0], inside[-1]) is None:
            continue
        kept = module.whole_lines(inside[0], inside[-1])
        if kept is None:
            continue
        outer, inner = module.indent(node), module.indent(inside[0])
        text = b"".join(
            outer + line.removeprefix(inner) if line.startswith(inner) else line
            for line in module.source[kept[0] : kept[1]].splitlines(keepends=True)
        )
        said = "Correct {function}: it does not handle an error that can occur in it."
        yield module.fault("removed_error_handling", node, (Edit(*lines, text),), said)
