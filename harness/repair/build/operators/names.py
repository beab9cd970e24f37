"""Mistakes in names: another variable, attribute, key, default, a signature or a name changed in one place only."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from misstep.harness.repair.build.syntax import Edit, Fault, Module, exchanged, replaced

if TYPE_CHECKING:
    from tree_sitter import Node

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
_PARAMETERS = ("identifier", "typed_parameter")


def wrong_variable(module: Module) -> Iterator[Fault]:
    """Return a variable of the same function in another's place."""
    by_function: dict[int, list[Node]] = defaultdict(list)
    functions: dict[int, Node] = {}
    for node in module.nodes():
        if node.type == "identifier" and (function := module.function(node)) is not None:
            by_function[function.id].append(node)
            functions[function.id] = function
    for key, used in by_function.items():
        local = _local_names(module, functions[key])
        reads = [node for node in used if module.text(node) in local and _is_read(node)]
        for node in reads:
            others = sorted(local - {module.text(node)})
            if others:
                other = others[(node.start_byte * 7 + len(others)) % len(others)]
                said = "Correct {function}: it uses the wrong variable in one place."
                yield module.fault("wrong_variable", node, replaced(node, other), said)


def _local_names(module: Module, function: "Node") -> set[str]:
    """Return the parameters of a function, and what is assigned in it by a plain name."""
    parameters = function.child_by_field_name("parameters")
    named = [each for each in module.nodes(parameters) if each.type == "identifier"] if parameters is not None else []
    for node in module.nodes(function):
        left = node.child_by_field_name("left" if node.type in module.language.assignments else "name")
        if node.type in (*module.language.assignments, "variable_declarator") and left is not None:
            named.append(left)
    return {module.text(node) for node in named if node.type == "identifier"} - {*_OWN}


def _is_read(node: "Node") -> bool:
    parent = node.parent
    if parent is None or parent.type in ("parameters", "formal_parameters", "keyword_argument", "variable_declarator"):
        return False
    if parent.type.endswith(("parameter", "_pattern", "_definition", "_declaration", "function")):
        return False
    return parent.child_by_field_name("left") != node or parent.type.startswith(("binary", "boolean", "comparison"))


def wrong_attribute(module: Module) -> Iterator[Fault]:
    """Another attribute of the same object."""
    seen: dict[str, list[tuple[Node, str]]] = defaultdict(list)
    for node in module.nodes():
        if node.type in module.language.attributes:
            owner, name = (node.child_by_field_name(field) for field in module.language.attributes[node.type])
            if owner is not None and name is not None and owner.type in ("identifier", "this"):
                seen[module.text(owner)].append((name, module.text(name)))
    for used in seen.values():
        names = sorted({text for _, text in used})
        for node, text in used:
            others = [other for other in names if other != text]
            if others:
                other = others[(node.start_byte * 7 + len(others)) % len(others)]
                said = "Correct {function}: it uses the wrong attribute or method of an object."
                yield module.fault("wrong_attribute", node, replaced(node, other), said)


def wrong_key(module: Module) -> Iterator[Fault]:
    """Another key that the file knows, or the key misspelt."""
    for node in module.nodes():
        inside = node.parent.type if node.parent is not None else ""
        if node.type != "string" or inside not in ("subscript", "subscript_expression", "pair", "argument_list"):
            continue
        found = _KEY.fullmatch(module.text(node))
        if found and len(found[2]) > 1:
            text = f"{found[1]}{found[2][:-1] if found[2].endswith('s') else found[2] + 's'}{found[1]}"
            said = "Correct {function}: it uses the wrong key or name of something."
            yield module.fault("wrong_key", node, replaced(node, text), said)


def wrong_default(module: Module) -> Iterator[Fault]:
    """Return a parameter with another default."""
    for node in module.nodes():
        if node.type not in module.language.defaults:
            continue
        value = node.child_by_field_name(module.language.defaults[node.type])
        if value is None:
            continue
        text = module.text(value)
        other = str(int(text) + 1) if text.isdecimal() else _DEFAULTS.get(text)
        if other is not None:
            said = "Correct {function}: a parameter of it has the wrong default."
            yield module.fault("wrong_default", node, replaced(value, other), said)


def changed_signature(module: Module) -> Iterator[Fault]:
    """Return two parameters in another order, while the calls stay as they were."""
    for node in module.nodes():
        given = node.child_by_field_name("parameters") if node.type in module.language.functions else None
        if given is None or module.function(node) != node:
            continue
        plain = [each for each in given.named_children if each.type in _PARAMETERS]
        plain = [each for each in plain if module.text(each) not in _OWN]
        for one, other in pairwise(plain):
            said = "Correct {function}: its parameters are not in the order in which its callers pass them."
            yield module.fault("changed_signature", node, exchanged(module, one, other), said)


def incomplete_rename(module: Module) -> Iterator[Fault]:
    """Return a function or method renamed in its file, while another file goes on to use the old name."""
    elsewhere = {
        other.text(node)
        for other in module.package.values()
        if other.path != module.path
        for node in other.nodes()
        if node.type in ("identifier", "property_identifier")
    }
    uses: dict[str, list[Node]] = defaultdict(list)
    for node in module.nodes():
        if node.type in ("identifier", "property_identifier"):
            uses[module.text(node)].append(node)
    for node in module.nodes():
        name = node.child_by_field_name("name") if node.type in module.language.functions else None
        if name is None or module.function(node) != node:
            continue
        text = module.text(name)
        if text in elsewhere and len(text) > 3 and not text.startswith("__") and text != "constructor":
            renamed = f"{text}_of" if "_" in text else f"{text}Of" if module.path.endswith("js") else f"{text}_value"
            edits = tuple(Edit(each.start_byte, each.end_byte, renamed.encode()) for each in uses[text])
            said = f"{{function}} was renamed here, but other files still call `{text}`: make the names agree again."
            yield module.fault("incomplete_rename", node, edits, said)
