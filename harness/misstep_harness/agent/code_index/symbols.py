"""Find the classes and methods in a file, by the grammars of tree-sitter for nine languages.

A class is whatever holds methods: a struct, interface, trait, module, the type of an `impl`.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from misstep_harness.errors import MissingPrerequisite

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


class Grammar(Struct, frozen=True):
    """Where a language's grammar is, and which of its nodes are classes and methods."""

    package: str
    classes: frozenset[str]
    methods: frozenset[str]
    function: str = "language"


class Symbol(Struct, frozen=True):
    """A class or method: its name, the class that it is in (empty for none), its lines, counted from 1."""

    kind: Literal["class", "method"]
    name: str
    parent: str
    first: int
    last: int


_JAVASCRIPT = frozenset({"function_declaration", "generator_function_declaration", "method_definition"})
_TYPESCRIPT = frozenset(
    {"class_declaration", "abstract_class_declaration", "interface_declaration", "enum_declaration"}
)
_SIGNATURES = frozenset({"function_signature", "method_signature", "abstract_method_signature"})
_C_TYPES = frozenset({"struct_specifier", "union_specifier", "enum_specifier"})

GRAMMARS: dict[str, Grammar] = {
    "python": Grammar("tree_sitter_python", frozenset({"class_definition"}), frozenset({"function_definition"})),
    "javascript": Grammar("tree_sitter_javascript", frozenset({"class_declaration", "class"}), _JAVASCRIPT),
    "typescript": Grammar(
        "tree_sitter_typescript", _TYPESCRIPT, _JAVASCRIPT | _SIGNATURES, function="language_typescript"
    ),
    "tsx": Grammar("tree_sitter_typescript", _TYPESCRIPT, _JAVASCRIPT | _SIGNATURES, function="language_tsx"),
    "java": Grammar(
        "tree_sitter_java",
        frozenset({"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}),
        frozenset({"method_declaration", "constructor_declaration"}),
    ),
    "go": Grammar(
        "tree_sitter_go", frozenset({"type_spec"}), frozenset({"function_declaration", "method_declaration"})
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        frozenset({"struct_item", "enum_item", "trait_item", "impl_item", "union_item"}),
        frozenset({"function_item", "function_signature_item"}),
    ),
    "c": Grammar("tree_sitter_c", _C_TYPES, frozenset({"function_definition"})),
    "cpp": Grammar("tree_sitter_cpp", _C_TYPES | {"class_specifier"}, frozenset({"function_definition"})),
    "ruby": Grammar("tree_sitter_ruby", frozenset({"class", "module"}), frozenset({"method", "singleton_method"})),
}
LANGUAGES: dict[str, str] = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".tsx": "tsx",
    ".java": "java",
    ".go": "go",
    ".rs": "rust",
    ".c": "c",
    ".h": "cpp",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".hpp": "cpp",
    ".rb": "ruby",
}


def language_of(path: str) -> str | None:
    """Return the language of a file by the end of its name; `None` where no grammar is known for it."""
    return LANGUAGES.get(PurePosixPath(path).suffix.lower())


def symbols_in(path: str, source: bytes) -> tuple[Symbol, ...]:
    """Return the classes and methods of a file in the order of their lines; none where its language is not known."""
    language = language_of(path)
    if language is None:
        return ()
    grammar = GRAMMARS[language]
    return tuple(_walk(parser_of(language).parse(source).root_node, grammar))


@cache
def parser_of(language: str) -> "Parser":
    """Return the parser of a language."""
    grammar = GRAMMARS[language]
    try:
        tree_sitter = import_module("tree_sitter")
        module = import_module(grammar.package)
    except ImportError as error:
        advice = "Install them with `pip install 'misstep[repair]'`."
        raise MissingPrerequisite(
            f"the grammars that the code index needs are not installed ({error})", advice
        ) from error
    parser: Parser = tree_sitter.Parser(tree_sitter.Language(getattr(module, grammar.function)()))
    return parser


def _walk(root: "Node", grammar: Grammar) -> Iterator[Symbol]:
    waiting: list[tuple[Node, str]] = [(root, "")]
    while waiting:
        node, parent = waiting.pop()
        inside = parent
        if node.type in grammar.classes:
            named = node.child_by_field_name("type" if node.type == "impl_item" else "name")
            name = _text(named).split("<")[0] if named else ""
            if name:
                if node.type != "impl_item":
                    yield Symbol("class", name, parent, node.start_point.row + 1, node.end_point.row + 1)
                inside = name
        elif node.type in grammar.methods and (method := _method(node, parent)):
            name, owner = method
            yield Symbol("method", name, owner, node.start_point.row + 1, node.end_point.row + 1)
        waiting.extend((child, inside) for child in reversed(node.named_children))


def _method(node: "Node", parent: str) -> tuple[str, str] | None:
    named = node.child_by_field_name("name")
    if named is not None:
        receiver = node.child_by_field_name("receiver")
        owner = _text(receiver).strip("()").split()[-1].lstrip("*").split("[")[0] if receiver else parent
        return _text(named), owner
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and (inner := declarator.child_by_field_name("declarator")) is not None:
        declarator = inner
    if declarator is None:
        return None
    owner, _, name = _text(declarator).rpartition("::")
    return name, owner.rpartition("::")[2] or parent


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace").strip()
