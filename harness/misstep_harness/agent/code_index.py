"""Search over a workspace's code: SQLite's full text for strings, tree-sitter for classes and methods.

Find the classes and methods in a file, by the grammars of tree-sitter for nine languages.

A class is whatever holds methods: a struct, interface, trait, module, the type of an `impl`.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
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


MOST_BYTES = 1 << 20
"""Files that are longer are not indexed: they are data or generated."""

_TRIGRAM = 3
_MOST_NEAR = 5


class Hit(Struct, frozen=True):
    """A line in which a searched string is; lines count from 1."""

    path: str
    line: int
    text: str


class CodeIndex:
    """The files of a workspace, searchable."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes]) -> None:
        self._read = read
        self._symbols: dict[str, tuple[Symbol, ...]] = {}
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute("CREATE VIRTUAL TABLE code USING fts5(path UNINDEXED, text, tokenize='trigram')")
        self._rows: dict[str, int | None] = {}
        for path in paths:
            self.update(path)

    @property
    def paths(self) -> list[str]:
        """Return every file, sorted."""
        return sorted(self._rows)

    def update(self, path: str) -> None:
        """Read a file again, as after an edit; one that is gone leaves the index."""
        self._symbols.pop(path, None)
        if (row := self._rows.pop(path, None)) is not None:
            self._database.execute("DELETE FROM code WHERE rowid = ?", (row,))
        try:
            data = self._read(path)
        except OSError:
            return
        self._rows[path] = None
        if len(data) <= MOST_BYTES and b"\0" not in data:
            text = data.decode("utf-8", "replace")
            self._rows[path] = self._database.execute("INSERT INTO code VALUES (?, ?)", (path, text)).lastrowid

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def search(self, text: str, within: str | None = None) -> list[Hit]:
        """The lines with a string, in the order of the files; whatever its case if no file has it as written."""
        lines = text.strip("\n").split("\n")
        files = list(self._files_with(text.strip("\n"), within))
        exact = [hit for path, body in files for hit in _hits(path, body, lines, str)]
        return exact or [hit for path, body in files for hit in _hits(path, body, lines, str.casefold)]

    def symbols(self, path: str) -> tuple[Symbol, ...]:
        """Return the classes and methods of one file."""
        if path not in self._symbols:
            row = self._rows.get(path)
            stored = self._database.execute("SELECT text FROM code WHERE rowid = ?", (row,)).fetchone() if row else None
            self._symbols[path] = symbols_in(path, stored[0].encode()) if stored else ()
        return self._symbols[path]

    def find(
        self, kind: str, name: str, *, within: str | None = None, parent: str | None = None
    ) -> list[tuple[str, Symbol]]:
        """Return the classes or methods of a name with their files: in one file, in the class `parent`, or anywhere."""
        paths = [path for path, _ in self._files_with(name, within) if language_of(path)]
        return [
            (path, symbol)
            for path in paths
            for symbol in self.symbols(path)
            if symbol.kind == kind and symbol.name == name and parent in (None, symbol.parent)
        ]

    def near_symbols(self, kind: str, name: str, within: str | None = None) -> list[str]:
        """Names of classes or methods that are nearly `name`, in one file or among those that share its beginning."""
        paths = [within] if within else [path for path, _ in self._files_with(name[:_TRIGRAM], None)]
        known = {symbol.name for path in paths for symbol in self.symbols(path) if symbol.kind == kind}
        return get_close_matches(name, sorted(known), n=_MOST_NEAR, cutoff=0.5)

    def near_paths(self, path: str) -> list[str]:
        """Files that may have been meant by a path that is not there: of the same name first, then of a like path."""
        name = PurePosixPath(path).name
        same = [known for known in self.paths if PurePosixPath(known).name == name]
        alike = get_close_matches(path, self.paths, n=_MOST_NEAR, cutoff=0.6)
        return [*dict.fromkeys(same + alike)][:_MOST_NEAR]

    def _files_with(self, text: str, within: str | None) -> Iterator[tuple[str, str]]:
        if within is not None:
            row = self._rows.get(within)
            yield from self._database.execute("SELECT path, text FROM code WHERE rowid = ?", (row,))
        elif len(text) < _TRIGRAM:
            yield from self._database.execute("SELECT path, text FROM code WHERE instr(text, ?) ORDER BY path", (text,))
        else:
            phrase = text.replace("\0", "").replace('"', '""')
            query = "SELECT path, text FROM code WHERE code MATCH ? ORDER BY path"
            yield from self._database.execute(query, (f'text : "{phrase}"',))


def _hits(path: str, body: str, lines: list[str], fold: Callable[[str], str]) -> Iterator[Hit]:
    """Where consecutive lines hold the searched ones: the first ends with its line, the last begins with its own."""
    wanted = [fold(line) for line in lines]
    have = body.split("\n")
    folded = [fold(line) for line in have]
    for number in range(len(have) - len(wanted) + 1):
        if len(wanted) == 1:
            matches = wanted[0] in folded[number]
        else:
            first, *between, last = wanted
            stop = number + len(wanted) - 1
            matches = (
                folded[number].endswith(first)
                and folded[number + 1 : stop] == between
                and folded[stop].startswith(last)
            )
        if matches:
            yield Hit(path, number + 1, have[number])


__all__ = ["CodeIndex", "Hit", "Symbol"]
