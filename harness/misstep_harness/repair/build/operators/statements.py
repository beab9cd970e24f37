"""Mistakes in statements and bodies: something is missing, in the wrong order, copied, or not written."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from misstep_harness.repair.build.syntax import Edit, Module, Site, replaced

if TYPE_CHECKING:
    from tree_sitter import Node

_LEAVING = ("return_statement", "raise_statement", "throw_statement", "continue_statement", "break_statement")
_SIMPLE = ("expression_statement", "lexical_declaration", "variable_declaration", "delete_statement")
_LOOPS = ("for_statement", "for_in_statement", "while_statement")
_PLAIN = ("object", "identifier", "none", "true", "false")


def _statements(module: Module, block: "Node | None") -> "list[Node]":
    if block is None or block.type not in module.language.blocks:
        return [block] if block is not None else []
    return [each for each in block.named_children if each.type != "comment"]


def _alternatives(node: "Node") -> "list[Node]":
    return [child for child in node.named_children if child.type in ("elif_clause", "else_clause")]


def _kind(statement: "Node") -> str:
    """Return the type of what a statement consists of: `string` for a docstring."""
    return statement.named_children[0].type if statement.named_child_count == 1 else ""


def missing_guard(module: Module) -> Iterator[Site]:
    """A check that leaves early, left out."""
    for node in module.nodes(("if_statement",)):
        inside = _statements(module, node.child_by_field_name("consequence"))
        alone = len(_statements(module, node.parent)) < 2
        if inside and inside[-1].type in _LEAVING and not alone and not _alternatives(node):
            yield from module.without(node)


def missing_branch(module: Module) -> Iterator[Site]:
    """A branch left out."""
    for node in module.nodes(("if_statement",)):
        for branch in _alternatives(node):
            if module.is_python:
                yield from module.without(branch)
            elif (before := branch.prev_sibling) is not None:
                yield Site(branch, (Edit(before.end_byte, branch.end_byte, b""),))


def copied_branch(module: Module) -> Iterator[Site]:
    """A branch that was copied from its sibling and not changed."""
    for node in module.nodes(("if_statement",)):
        first = node.child_by_field_name("consequence")
        blocks = [first, *(each for branch in _alternatives(node) for each in branch.named_children)]
        known = [block for block in blocks if block is not None and block.type in module.language.blocks]
        for one, other in pairwise(known):
            if module.text(one) != module.text(other):
                yield Site(other, replaced(other, module.text(one)))


def missing_return(module: Module) -> Iterator[Site]:
    """A result that is computed and not returned."""
    for node in module.nodes(("return_statement",)):
        if _kind(node) not in ("", *_PLAIN) and module.function(node) is not None:
            yield Site(node, (Edit(node.start_byte, node.named_children[0].start_byte, b""),))


def early_return(module: Module) -> Iterator[Site]:
    """A return after a loop that slipped into it."""
    for node in module.nodes(_LOOPS):
        following = node.next_named_sibling
        inside = _statements(module, node.child_by_field_name("body"))
        if following is None or following.type != "return_statement" or not inside:
            continue
        last, text = module.whole_lines(inside[-1]), module.text(following).encode()
        if last and b"\n" not in text:
            for site in module.without(following):
                moved = Edit(last[1], last[1], module.indent(inside[0]) + text + b"\n")
                yield Site(following, (moved, *site.edits))


def swapped_statements(module: Module) -> Iterator[Site]:
    """Two neighbouring statements in the wrong order."""
    source = module.source
    for node in module.nodes(module.language.blocks):
        for one, other in pairwise(_statements(module, node)):
            if one.type in _SIMPLE and other.type in (*_SIMPLE, "if_statement") and "string" not in _kind(one):
                first, second = module.whole_lines(one), module.whole_lines(other)
                if first and second and module.text(one) != module.text(other):
                    text = source[slice(*second)] + source[first[1] : second[0]] + source[slice(*first)]
                    yield Site(one, (Edit(first[0], second[1], text),))


def lost_update(module: Module) -> Iterator[Site]:
    """An update left out, or one that overwrites instead of adding."""
    updates = (*module.language.assignments, *module.language.calls, "update_expression")
    for node in module.nodes():
        if node.type in ("augmented_assignment", "augmented_assignment_expression"):
            if (sign := node.child_by_field_name("operator")) is not None:
                request = "Correct {function}: it overwrites a value that it has to add to."
                yield Site(node, replaced(sign, "="), request)
            continue
        is_update = node.type == "expression_statement" and _kind(node) in updates
        if is_update and module.function(node) is not None and len(_statements(module, node.parent)) > 1:
            yield from module.without(node)


def removed_error_handling(module: Module) -> Iterator[Site]:
    """What was tried, done without a handler."""
    for node in module.nodes(("try_statement",)):
        inside = _statements(module, node.child_by_field_name("body"))
        lines = module.whole_lines(node)
        tried = module.whole_lines(inside[0], inside[-1]) if inside else None
        if lines and tried:
            outer, inner = module.indent(node), module.indent(inside[0])
            text = b"".join(
                outer + line.removeprefix(inner) if line.startswith(inner) else line
                for line in module.source[slice(*tried)].splitlines(keepends=True)
            )
            yield Site(node, (Edit(*lines, text),))


def _bodies(module: Module) -> "Iterator[tuple[Node, list[Node]]]":
    for node in module.functions():
        body = node.child_by_field_name("body")
        if body is None or body.type not in module.language.blocks:
            continue
        inside = _statements(module, body)
        if inside and _kind(inside[0]) == "string":
            inside = inside[1:]
        if len(inside) > 1:
            yield node, inside


def unwritten_body(module: Module) -> Iterator[Site]:
    """A function that is only declared."""
    for node, inside in _bodies(module):
        if lines := module.whole_lines(inside[0], inside[-1]):
            text = module.indent(inside[0]) + module.language.unwritten.encode() + b"\n"
            yield Site(node, (Edit(*lines, text),), "Write the body of {function}, which is not implemented.")


def unfinished_body(module: Module) -> Iterator[Site]:
    """A function whose second half is missing."""
    request = "Finish {function}: the second half of what it has to do is missing."
    for node, inside in _bodies(module):
        if lines := module.whole_lines(inside[len(inside) // 2], inside[-1]):
            yield Site(node, (Edit(*lines, b""),), request)


def copied_body(module: Module) -> Iterator[Site]:
    """A function with the body of its neighbour of the same parameters."""
    for (one, first), (other, second) in pairwise(_bodies(module)):
        parameters = [each.child_by_field_name("parameters") for each in (one, other)]
        source, target = module.whole_lines(first[0], first[-1]), module.whole_lines(second[0], second[-1])
        if None in parameters or source is None or target is None:
            continue
        texts = {module.text(each) for each in parameters if each is not None}
        if len(texts) == 1 and module.indent(first[0]) == module.indent(second[0]):
            yield Site(other, (Edit(*target, module.source[slice(*source)]),))


def removed_feature(module: Module) -> Iterator[Site]:
    """A function taken out together with the statements of this file that only call it."""
    for node, _ in _bodies(module):
        named, parent = node.child_by_field_name("name"), node.parent
        lines = module.whole_lines(parent if parent is not None and parent.type == "decorated_definition" else node)
        if named is None or lines is None:
            continue
        name, edits = module.text(named), [Edit(*lines, b"")]
        for call in module.nodes(module.language.calls):
            called, statement = call.child_by_field_name("function"), call.parent
            if called is None or statement is None or statement.type != "expression_statement":
                continue
            own = module.whole_lines(statement)
            if module.text(called).rpartition(".")[2] == name and own and not lines[0] <= own[0] < lines[1]:
                edits.append(Edit(*own, b""))
        request = f"Bring back `{name}`, which was taken out of `{module.path}`, with the calls of it."
        yield Site(node, tuple(edits), request)
