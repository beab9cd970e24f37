"""Parse the files of a package by tree-sitter, and change their text by position (in bytes), so that layout is kept."""

from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from misstep_harness.agent.code_index import parser_of

if TYPE_CHECKING:
    from tree_sitter import Node


class _Language(Struct, frozen=True):
    """How a language's grammar calls what the operators look for."""

    functions: frozenset[str]
    classes: frozenset[str]
    calls: frozenset[str]
    blocks: frozenset[str]
    attributes: Mapping[str, tuple[str, str]]
    assignments: frozenset[str]
    numbers: frozenset[str]
    defaults: Mapping[str, str]
    conditionals: frozenset[str]
    negation: tuple[str, str]
    unwritten: str


LANGUAGES: dict[str, _Language] = {
    "python": _Language(
        functions=frozenset({"function_definition"}),
        classes=frozenset({"class_definition"}),
        calls=frozenset({"call"}),
        blocks=frozenset({"block"}),
        attributes={"attribute": ("object", "attribute")},
        assignments=frozenset({"assignment"}),
        numbers=frozenset({"integer"}),
        defaults={"default_parameter": "value", "typed_default_parameter": "value"},
        conditionals=frozenset({"if_statement", "elif_clause", "while_statement", "conditional_expression"}),
        negation=("not (", ")"),
        unwritten="raise NotImplementedError",
    ),
    "javascript": _Language(
        functions=frozenset({"function_declaration", "method_definition", "function_expression", "arrow_function"}),
        classes=frozenset({"class_declaration"}),
        calls=frozenset({"call_expression"}),
        blocks=frozenset({"statement_block"}),
        attributes={"member_expression": ("object", "property")},
        assignments=frozenset({"assignment_expression"}),
        numbers=frozenset({"number"}),
        defaults={"assignment_pattern": "right"},
        conditionals=frozenset({"if_statement", "while_statement", "ternary_expression"}),
        negation=("!(", ")"),
        unwritten="throw new Error('not written yet')",
    ),
}


class Edit(Struct, frozen=True):
    """What replaces the bytes from `start` to `end`."""

    start: int
    end: int
    text: bytes


class Fault(Struct, frozen=True):
    """A planted mistake: by which operator, where, as which edits, and how a person would ask for its repair."""

    operator: str
    file: str
    function: str
    line: int
    edits: Mapping[str, tuple[Edit, ...]]
    request: str


class Site(NamedTuple):
    """Where a mistake can be made, as which edits, and a request of its own if the operator's does not fit."""

    node: "Node"
    edits: tuple[Edit, ...]
    request: str = ""


class Module(Struct, frozen=True):
    """A source file: its path, text, language and tree, and all modules of its package by path."""

    path: str
    source: bytes
    language: _Language
    root: "Node"
    package: "Mapping[str, Module]"

    @property
    def is_python(self) -> bool:
        """Return whether the file is one of Python."""
        return self.path.endswith(".py")

    def text(self, node: "Node") -> str:
        """Return the text of a node."""
        return self.source[node.start_byte : node.end_byte].decode()

    def nodes(self, types: "Container[str] | None" = None, within: "Node | None" = None) -> "Iterator[Node]":
        """Return every named node, or those of some types, in the order of the text."""
        waiting = [within or self.root]
        while waiting:
            node = waiting.pop()
            if types is None or node.type in types:
                yield node
            waiting.extend(reversed(node.named_children))

    def functions(self) -> "Iterator[Node]":
        """Return the functions that are in no other function."""
        return (node for node in self.nodes(self.language.functions) if self.function(node) == node)

    def function(self, node: "Node") -> "Node | None":
        """Return the outermost function that a node is in, itself if it is one."""
        outermost: Node | None = None
        at: Node | None = node
        while at is not None and (outermost is None or at.type not in self.language.classes):
            if at.type in self.language.functions:
                outermost = at
            at = at.parent
        return outermost

    def function_name(self, node: "Node") -> str:
        """Return the name of the function that a node is in, with its class; empty at the top of the file."""
        function = self.function(node)
        if function is None:
            return ""
        parent = function.parent
        named = function.child_by_field_name("name")
        if named is None and parent is not None:  # a function of JavaScript that is assigned to a name
            named = parent.child_by_field_name("name") or parent.child_by_field_name("left")
        parts = [self.text(named)] if named is not None else []
        while parent is not None:
            if parent.type in self.language.classes and (name := parent.child_by_field_name("name")) is not None:
                parts.append(self.text(name))
            parent = parent.parent
        return ".".join(reversed(parts))

    def whole_lines(self, first: "Node", last: "Node | None" = None) -> tuple[int, int] | None:
        """Return the bytes of the lines that nodes fill by themselves; `None` if something else is on them."""
        start = self.source.rfind(b"\n", 0, first.start_byte) + 1
        end = self.source.find(b"\n", (last or first).end_byte)
        end = len(self.source) if end < 0 else end + 1
        before = self.source[start : first.start_byte].strip()
        after = self.source[(last or first).end_byte : end].strip()
        return None if before or after not in (b"", b";") else (start, end)

    def without(self, node: "Node") -> "Iterator[Site]":
        """Give the site at which a node's whole lines are taken away; none if something else is on them."""
        if lines := self.whole_lines(node):
            yield Site(node, (Edit(*lines, b""),))

    def indent(self, node: "Node") -> bytes:
        """Return the blanks before the line on which a node begins."""
        start = self.source.rfind(b"\n", 0, node.start_byte) + 1
        line = self.source[start : node.start_byte + 1]
        return line[: len(line) - len(line.lstrip())]


def replaced(node: "Node", text: str) -> tuple[Edit, ...]:
    """Return the edit that puts a text in a node's place."""
    return (Edit(node.start_byte, node.end_byte, text.encode()),)


def exchanged(module: Module, one: "Node", other: "Node") -> tuple[Edit, ...]:
    """Return the edits that put two nodes in each other's place."""
    return (*replaced(one, module.text(other)), *replaced(other, module.text(one)))


def with_edits(source: bytes, edits: tuple[Edit, ...]) -> bytes:
    """Return a text with edits made in it."""
    result, at = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if edit.start < at:
            raise ValueError("two edits overlap")
        result += [source[at : edit.start], edit.text]
        at = edit.end
    return b"".join([*result, source[at:]])


def read_modules(language: str, sources: Mapping[str, bytes]) -> dict[str, Module]:
    """Return the modules of a package by path; files that do not parse, or are not plain text, are left out."""
    known: dict[str, Module] = {}
    for path, source in sorted(sources.items()):
        if b"\r" in source or not source.endswith(b"\n"):
            continue
        with suppress(UnicodeDecodeError):
            source.decode()
            root = parser_of(language).parse(source).root_node
            if not root.has_error:
                known[path] = Module(path, source, LANGUAGES[language], root, known)
    return known
