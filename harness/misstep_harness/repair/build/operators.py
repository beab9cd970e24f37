"""Plant mistakes as people make them: each operator walks a module and gives every fault it could plant.

They share nothing, neither code nor a table, with the repair templates of `harness.repair.search`: a policy that
repairs cases made here is not scored on the inverse of its own rules.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from misstep_harness.repair.build.syntax import Edit, Fault, Module, Site, exchanged, replaced

if TYPE_CHECKING:
    from tree_sitter import Node
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


class Operator(Struct, frozen=True):
    """A kind of mistake: what a person says of it (`{function}` is where it is), and where it can be made."""

    fault: str
    sites: Callable[[Module], Iterator[Site]]

    def faults(self, name: str, module: Module) -> Iterator[Fault]:
        """Give every fault of this kind that a module can have."""
        for site in self.sites(module):
            function = module.function_name(site.node)
            place = f"`{function}`" if function else f"`{module.path}`"
            request = (site.request or f"Correct {{function}}: {self.fault}").replace("{function}", place)
            yield Fault(name, module.path, function, site.node.start_point.row + 1, {module.path: site.edits}, request)


_SIGNS = {
    "wrong_boundary": (BOUNDARY, "a comparison in {function} treats its boundary wrongly."),
    "wrong_comparison": (COMPARISON, "a comparison in {function} is the wrong way round."),
    "wrong_arithmetic": (ARITHMETIC, "a calculation in {function} uses the wrong operator."),
    "wrong_connective": (CONNECTIVE, "two conditions in {function} are joined wrongly."),
}
OPERATORS = {
    **{name: Operator(fault, partial(other_operator, table=table)) for name, (table, fault) in _SIGNS.items()},
    "off_by_one": Operator("a number in it is off by one.", off_by_one),
    "inverted_condition": Operator("a condition in it is inverted.", inverted_condition),
    "forgotten_condition": Operator("one of the conditions that it has to check is missing.", forgotten_condition),
    "swapped_arguments": Operator("a call in it passes its arguments in the wrong order.", swapped_arguments),
    "dropped_argument": Operator("a call in it lacks an argument.", dropped_argument),
    "wrong_variable": Operator("it uses the wrong variable in one place.", wrong_variable),
    "wrong_attribute": Operator("it uses the wrong attribute or method of an object.", wrong_attribute),
    "wrong_key": Operator("it uses the wrong key or name of something.", wrong_key),
    "wrong_default": Operator("a parameter of it has the wrong default.", wrong_default),
    "changed_signature": Operator(
        "its parameters are not in the order in which its callers pass them.", changed_signature
    ),
    "incomplete_rename": Operator("", incomplete_rename),
    "missing_guard": Operator("it lacks a check that has to come before the rest.", missing_guard),
    "missing_branch": Operator("one of its branches is missing.", missing_branch),
    "copied_branch": Operator("one of its branches does what another is for.", copied_branch),
    "missing_return": Operator("it does not return what it has computed.", missing_return),
    "early_return": Operator("it returns too early.", early_return),
    "swapped_statements": Operator("two of its steps are in the wrong order.", swapped_statements),
    "lost_update": Operator("one of its steps is missing.", lost_update),
    "removed_error_handling": Operator("it does not handle an error that can occur in it.", removed_error_handling),
    "unwritten_body": Operator("", unwritten_body),
    "unfinished_body": Operator("", unfinished_body),
    "copied_body": Operator("it does what its neighbour is for.", copied_body),
    "removed_feature": Operator("", removed_feature),
}
"""Name → operator. Sites of an operator without a sentence bring their own requests."""
