"""What a function's code may refer to, and how it uses its names: what templates choose their ingredients from."""

import ast
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache, cached_property
from typing import Literal

from misstep.harness.repair.search.source import Function, ProgramSource

Kind = Literal["number", "sequence", "text", "object", "function", "mapping", "truth"]

_MOST_DONORS = 40
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
    """A function of a file, or the file's own level: its names and the expressions in it.

    - `source`: The file.
    - `function`: The function; `None` for what stands outside functions.
    """

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
        found = dict.fromkeys(self.parameters)
        around = [each for each in self.source.above(self.body) if isinstance(each, Function)] if self.function else []
        found.update(dict.fromkeys(_stored(self.body)))
        for each in around:
            found.update(dict.fromkeys([*_parameters(each), *_stored(each)]))
        return [name for name in found if name != "_"]

    @property
    def functions(self) -> dict[str, int]:
        """Return the functions of the file by the number of their arguments."""
        return self.source.functions

    @property
    def attributes(self) -> Counter[str]:
        """Return how often each attribute is used in the file."""
        return self.source.attributes

    @cached_property
    def attributes_by_name(self) -> dict[str, set[str]]:
        """Name → the attributes that it is used with here."""
        found: dict[str, set[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.setdefault(node.value.id, set()).add(node.attr)
        return found

    @cached_property
    def kinds(self) -> dict[str, set[Kind]]:
        """Name → what its uses say that it is."""
        found: dict[str, set[Kind]] = {}
        for node in self.nodes:
            for name, kind in _uses(node):
                found.setdefault(name, set()).add(kind)
        return found

    def of_kind(self, *kinds: Kind) -> list[str]:
        """Return the variables that are used as one of these."""
        return [name for name in self.variables if self.kinds.get(name, set()) & set(kinds)]

    def may_be(self, name: str, *kinds: Kind) -> bool:
        """Return whether nothing speaks against a name being of these kinds."""
        known = self.kinds.get(name, set())
        return not known or bool(known & set(kinds))

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
        found: dict[str, ast.expr] = {}
        for node in self.nodes:
            if isinstance(node, ast.Subscript | ast.Attribute | ast.Call | ast.BinOp | ast.Tuple | ast.List | ast.Dict):
                text = self.source.segment(node)
                if "\n" not in text and len(text) <= 60:
                    found.setdefault(text, node)
            if len(found) >= _MOST_DONORS:
                break
        return found

    @cached_property
    def conditions(self) -> list[str]:
        """Return the texts of the comparisons in it."""
        found = [self.source.segment(node) for node in self.nodes if isinstance(node, ast.Compare)]
        return list(dict.fromkeys(text for text in found if "\n" not in text))[:_MOST_DONORS]


def _parameters(function: Function) -> list[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [each.arg for each in named if each is not None]


def _stored(body: ast.AST) -> Iterator[str]:
    """Return the names that a function binds, but for what functions within it bind."""
    for node in ast.iter_child_nodes(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            yield from _stored(node)


def _uses(node: ast.AST) -> Iterator[tuple[str, Kind]]:
    """Return what a node says of the names right below it."""
    if isinstance(node, ast.BinOp | ast.Compare):
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.left, *node.comparators]
        kinds = {known for side in sides if (known := kind_of(side))}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Pow):
            kinds.add("number")
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            if isinstance(node.comparators[0], ast.Name):
                yield node.comparators[0].id, "sequence"
            return
        for side in sides:
            if isinstance(side, ast.Name):
                yield from ((side.id, kind) for kind in kinds)
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.For):
        value = node.iter if isinstance(node, ast.For) else node.value
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.For):
            if isinstance(value, ast.Name):
                yield value.id, "sequence"
            numbers = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "range"
            if numbers and isinstance(node.target, ast.Name):
                yield node.target.id, "number"
            return
        if kind := kind_of(value):
            yield from ((target.id, kind) for target in targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.Subscript):
        if isinstance(node.value, ast.Name):
            yield node.value.id, "sequence"
        parts = [node.slice.lower, node.slice.upper] if isinstance(node.slice, ast.Slice) else []
        yield from ((part.id, "number") for part in parts if isinstance(part, ast.Name))
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield node.value.id, next((kind for kind, methods in _METHODS.items() if node.attr in methods), "object")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield node.func.id, "function"
        name = node.func.id
        for argument in node.args:
            if isinstance(argument, ast.Name) and name in ("range", "abs", "chr", "round"):
                yield argument.id, "number"
            if isinstance(argument, ast.Name) and name in (
                "len",
                "sum",
                "sorted",
                "enumerate",
                "reversed",
                "any",
                "all",
            ):
                yield argument.id, "sequence"


def kind_of(node: ast.expr | None) -> Kind | None:
    """Return what an expression is, where its form tells."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            return "truth"
        if isinstance(node.value, int | float):
            return "number"
        return "text" if isinstance(node.value, str) else None
    if isinstance(node, ast.List | ast.ListComp | ast.Tuple | ast.Set | ast.SetComp):
        return "sequence"
    if isinstance(node, ast.Dict | ast.DictComp):
        return "mapping"
    if isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return "truth"
    if isinstance(node, ast.JoinedStr):
        return "text"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        named: dict[str, Kind] = {
            "len": "number", "int": "number", "abs": "number", "sum": "number", "float": "number", "round": "number",
            "ord": "number", "list": "sequence", "sorted": "sequence", "set": "sequence", "tuple": "sequence",
            "range": "sequence", "str": "text", "chr": "text", "dict": "mapping", "any": "truth", "all": "truth",
        }  # fmt: skip
        return named.get(node.func.id)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Sub | ast.FloorDiv | ast.Div | ast.Pow):
            return "number"
        return kind_of(node.left) or kind_of(node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "number"
    return None
