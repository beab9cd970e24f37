"""Hold a Python file as text and tree; edits are made by text spans, so that all else keeps its layout."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from misstep_harness.errors import MisstepError
from misstep_harness.repair.validators.test_files import oracle_files

Function = ast.FunctionDef | ast.AsyncFunctionDef

_ATOMS = (
    ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.JoinedStr,
)  # fmt: skip
_TEST_FILE = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|setup)\.py$")
_MOST_BYTES = 200_000
_MOST_FILES = 400
_TIGHT = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Starred, ast.Await)


class Change(Struct, frozen=True):
    """A piece of a file's text and what replaces it, blamed on a `line`; a `prior` of 1 is the likeliest mistake."""

    start: int
    end: int
    text: str
    line: int
    template: str
    prior: float


class ProgramSource:
    """A file of Python."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.tree = ast.parse(text)
        self.lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self._ascii = text.isascii()

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Node → what holds it."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def functions(self) -> dict[str, int]:
        """Return the functions outside classes by the number of their arguments."""
        functions = (node for node in ast.walk(self.tree) if isinstance(node, Function))
        outside = (node for node in functions if not isinstance(self.parents[node], ast.ClassDef))
        return {node.name: len(node.args.args) for node in outside}

    @cached_property
    def function_lines(self) -> list[tuple[int, int]]:
        """First and last line of each function."""
        functions = [node for node in ast.walk(self.tree) if isinstance(node, Function)]
        return [(node.lineno, node.end_lineno or node.lineno) for node in functions]

    @cached_property
    def attributes(self) -> Counter[str]:
        """Return how often each attribute is used."""
        return Counter(node.attr for node in ast.walk(self.tree) if isinstance(node, ast.Attribute))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the characters of a node that has a place."""
        return (
            self._place(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._place(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def segment(self, node: ast.AST) -> str:
        """Return the text of a node that has a place."""
        start, end = self.span(node)
        return self.text[start:end]

    def line_of(self, place: int) -> int:
        """Return the line of a character, from 1."""
        return self.text.count("\n", 0, place) + 1

    def line_start(self, line: int) -> int:
        """Return the first character of a line, from 1."""
        return self._starts[line - 1]

    def indent(self, node: ast.stmt) -> str:
        """Return the text before a statement in its line; empty where that is more than white space."""
        before = self.lines[node.lineno - 1][: node.col_offset]
        return before if not before.strip() else ""

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Return what holds a node, from within to without."""
        while (held := self.parents.get(node)) is not None:
            yield held
            node = held

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """Return the smallest statement that a node is in, itself if it is one."""
        return next((each for each in (node, *self.above(node)) if isinstance(each, ast.stmt)), None)

    def function(self, node: ast.AST) -> Function | None:
        """Return the innermost function that a node is in."""
        return next((each for each in self.above(node) if isinstance(each, Function)), None)

    def fitting(self, node: ast.expr, text: str) -> str:
        """Return a new expression's text for the place of a node, in parentheses where it would be read otherwise."""
        held = self.parents.get(node)
        tight = (
            isinstance(held, _TIGHT)
            or (isinstance(held, ast.Attribute | ast.Subscript) and held.value is node)
            or (isinstance(held, ast.Call) and held.func is node)
        )
        if not tight:
            return text
        try:
            new = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            return text
        is_plain = (
            isinstance(new, _ATOMS)
            or (text.startswith("(") and isinstance(new, ast.Tuple | ast.GeneratorExp))
            or (isinstance(held, ast.BoolOp) and isinstance(new, ast.Compare | ast.BinOp))
            or (isinstance(held, ast.Compare) and isinstance(new, ast.BinOp))
        )
        return text if is_plain else f"({text})"

    def replaced(self, node: ast.expr, text: str, template: str, prior: float) -> Change:
        """Another expression in the place of a node."""
        start, end = self.span(node)
        return Change(start, end, self.fitting(node, text), node.lineno, template, prior)

    def between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> tuple[int, int, str] | None:
        """Return an operator between two nodes replaced by another."""
        start, end = self.span(left)[1], self.span(right)[0]
        pattern = r"\s+".join(re.escape(word) for word in old.split())
        if old[0].isalpha():
            pattern = rf"\b{pattern}\b"
        match = re.search(pattern, self.text[start:end])
        return (start + match.start(), start + match.end(), new) if match else None

    def _place(self, line: int, column: int) -> int:
        if not self._ascii:
            column = len(self.lines[line - 1].encode()[:column].decode())
        return self._starts[line - 1] + column


def changed(text: str, change: Change) -> str:
    """Return a text with a change made, its lines ended as the others are."""
    new = change.text.replace("\n", "\r\n") if "\r\n" in text else change.text
    return text[: change.start] + new + text[change.end :]


def sources_and_tests(
    paths: Iterable[str], read: Callable[[str], bytes], oracle: Iterable[str]
) -> tuple[dict[str, ProgramSource], list[str]]:
    """Return the Python files of a tree that may be wrong, by path, and the texts of the oracle's own files."""
    paths = list(paths)
    own = oracle_files(oracle, paths)
    sources: dict[str, ProgramSource] = {}
    tests: list[str] = []
    for path in [path for path in paths if path.endswith(".py")][:_MOST_FILES]:
        try:
            data = read(path)
            if len(data) > _MOST_BYTES:
                continue
            text = data.decode()
            if path in own:
                tests.append(text)
            elif not _TEST_FILE.search(path):
                sources[path] = ProgramSource(path, text)
        except (
            MisstepError,
            OSError,
            SyntaxError,
            ValueError,
            RecursionError,
            MemoryError,
        ):  # no Python of this version: it cannot be mended here
            continue
    return sources, tests
