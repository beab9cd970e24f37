"""Read a program's sources: its functions, the changes that templates make, and the names that code may refer to."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from misstep_harness.errors import MisstepError
from misstep_harness.repair.validators import oracle_files

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


Kind = Literal["number", "sequence", "text", "object", "function", "mapping", "truth"]

_MOST_DONORS = 40
_NUMERIC = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow)
_OF_NUMBERS = ("range", "abs", "chr", "round")
_OF_SEQUENCES = ("len", "sum", "sorted", "enumerate", "reversed", "any", "all")
_KINDS: dict[str, Kind] = {
    "len": "number", "int": "number", "abs": "number", "sum": "number", "float": "number", "round": "number",
    "ord": "number", "list": "sequence", "sorted": "sequence", "set": "sequence", "tuple": "sequence",
    "range": "sequence", "str": "text", "chr": "text", "dict": "mapping", "any": "truth", "all": "truth",
}  # fmt: skip
_METHODS: dict[Kind, frozenset[str]] = {
    "sequence": frozenset(
        ("append", "extend", "insert", "pop", "remove", "sort", "popleft", "add", "update", "discard")
    ),
    "text": frozenset(("split", "join", "strip", "lower", "upper", "startswith", "endswith", "format", "replace")),
    "mapping": frozenset(("keys", "values", "items", "get", "setdefault")),
}


@cache
def likeness(one: str, other: str) -> float:
    """Return how like two names are, from 0 to 1."""
    return SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio()


class Scope:
    """A function of a file, or the file's own level (`None`): its names and the expressions in it."""

    def __init__(self, source: ProgramSource, function: Function | None) -> None:
        self.source = source
        self.function = function
        self.body: ast.AST = function or source.tree

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Return every node of it, with those of functions within."""
        return list(ast.walk(self.body))

    @cached_property
    def parameters(self) -> list[str]:
        """Return the names of its arguments."""
        return _parameters(self.function) if self.function else []

    @cached_property
    def variables(self) -> list[str]:
        """Return the variables that may be read in it, its own first, without functions and modules."""
        around = [each for each in self.source.above(self.body) if isinstance(each, Function)] if self.function else []
        names = [*self.parameters, *_stored(self.body)]
        names += (name for each in around for name in (*_parameters(each), *_stored(each)))
        return [name for name in dict.fromkeys(names) if name != "_"]

    @cached_property
    def attributes_by_name(self) -> dict[str, set[str]]:
        """Map each name to the attributes that it is used with here."""
        attributes: dict[str, set[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                attributes.setdefault(node.value.id, set()).add(node.attr)
        return attributes

    @cached_property
    def kinds(self) -> dict[str, set[Kind]]:
        """Map each name to the kinds that its uses say."""
        kinds: dict[str, set[Kind]] = {}
        for name, kind in (use for node in self.nodes for use in _uses(node)):
            kinds.setdefault(name, set()).add(kind)
        return kinds

    def of_kind(self, *kinds: Kind) -> list[str]:
        """Return the variables that are used as one of these."""
        return [name for name in self.variables if self.kinds.get(name, set()) & set(kinds)]

    def may_be(self, name: str, *kinds: Kind) -> bool:
        """Return whether nothing speaks against a name being of these kinds."""
        known = self.kinds.get(name, set())
        return not known or bool(known & set(kinds))

    def instead(self, node: ast.expr, texts: Iterable[str], template: str, prior: float) -> Iterator[Change]:
        """Return other expressions in the place of a node."""
        return (self.source.replaced(node, text, template, prior) for text in texts)

    def others(self, name: str) -> Iterator[tuple[str, float]]:
        """Return the variables that may have been meant by a name, and how near each is."""
        own = self.kinds.get(name, set())
        for other in self.variables:
            if other == name:
                continue
            kinds = self.kinds.get(other, set())
            near = 1.0 if own & kinds else 0.7 if not own or not kinds else 0.35
            yield other, near * (0.7 + 0.3 * likeness(name, other))

    @cached_property
    def expressions(self) -> dict[str, ast.expr]:
        """Return the compound expressions that are read in it, by their text."""
        donors: dict[str, ast.expr] = {}
        for node in self.nodes:
            if isinstance(node, ast.Subscript | ast.Attribute | ast.Call | ast.BinOp | ast.Tuple | ast.List | ast.Dict):
                text = self.source.segment(node)
                if "\n" not in text and len(text) <= 60:
                    donors.setdefault(text, node)
            if len(donors) >= _MOST_DONORS:
                break
        return donors

    @cached_property
    def conditions(self) -> list[str]:
        """Return the texts of the comparisons in it."""
        texts = [self.source.segment(node) for node in self.nodes if isinstance(node, ast.Compare)]
        return list(dict.fromkeys(text for text in texts if "\n" not in text))[:_MOST_DONORS]


def _parameters(function: Function) -> list[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [each.arg for each in named if each is not None]


def _stored(body: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            yield from _stored(node)


def _uses(node: ast.AST) -> Iterator[tuple[str, Kind]]:
    match node:
        case ast.Compare(ops=[ast.In() | ast.NotIn(), *_], comparators=[container, *_]):
            yield from _named([container], "sequence")
        case ast.BinOp() | ast.Compare():
            sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.left, *node.comparators]
            kinds = {kind for side in sides if (kind := kind_of(side))}
            if isinstance(node, ast.BinOp) and isinstance(node.op, _NUMERIC):
                kinds.add("number")
            for kind in kinds:
                yield from _named(sides, kind)
        case ast.For():
            yield from _named([node.iter], "sequence")
            match node.iter:
                case ast.Call(func=ast.Name(id="range")):
                    yield from _named([node.target], "number")
        case ast.Assign() | ast.AugAssign():
            if kind := kind_of(node.value):
                yield from _named(node.targets if isinstance(node, ast.Assign) else [node.target], kind)
        case ast.Subscript():
            yield from _named([node.value], "sequence")
            if isinstance(node.slice, ast.Slice):
                yield from _named([node.slice.lower, node.slice.upper], "number")
        case ast.Attribute(value=ast.Name(id=name), attr=used):
            yield name, next((kind for kind, methods in _METHODS.items() if used in methods), "object")
        case ast.Call(func=ast.Name(id=name)):
            yield name, "function"
            if name in _OF_NUMBERS:
                yield from _named(node.args, "number")
            if name in _OF_SEQUENCES:
                yield from _named(node.args, "sequence")


def _named(nodes: Iterable[ast.expr | None], kind: Kind) -> Iterator[tuple[str, Kind]]:
    return ((node.id, kind) for node in nodes if isinstance(node, ast.Name))


def kind_of(node: ast.expr | None) -> Kind | None:
    """Return what an expression is, if its form tells."""
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return "truth"
        case ast.Constant(value=int() | float()) | ast.UnaryOp(op=ast.USub()):
            return "number"
        case ast.Constant(value=str()) | ast.JoinedStr():
            return "text"
        case ast.List() | ast.ListComp() | ast.Tuple() | ast.Set() | ast.SetComp():
            return "sequence"
        case ast.Dict() | ast.DictComp():
            return "mapping"
        case ast.Call(func=ast.Name(id=name)):
            return _KINDS.get(name)
        case ast.BinOp():
            return "number" if isinstance(node.op, _NUMERIC) else kind_of(node.left) or kind_of(node.right)
    return None
