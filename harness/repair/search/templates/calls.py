"""Calls: arguments swapped, missing or too many, another function, a call around a value missing or too many."""

import ast
from collections.abc import Iterator

from misstep.harness.repair.search.scope import Kind, Scope, kind_of, likeness
from misstep.harness.repair.search.source import Change

_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("min", "max", "sum", "len"),
    ("any", "all"),
    ("int", "float", "round", "str", "bool"),
    ("list", "set", "tuple", "sorted", "reversed", "iter"),
    ("range", "enumerate", "zip"),
    ("ord", "chr", "str"),
    ("append", "extend", "add", "appendleft", "insert", "remove"),
    ("update", "add", "union", "intersection", "difference", "discard"),
    ("pop", "popleft", "remove"),
    ("upper", "lower", "title", "capitalize", "swapcase"),
    ("isupper", "islower", "isdigit", "isalpha", "isalnum", "isnumeric"),
    ("strip", "lstrip", "rstrip"),
    ("split", "rsplit", "splitlines", "partition"),
    ("find", "rfind", "index", "rindex", "count"),
    ("startswith", "endswith"),
    ("keys", "values", "items"),
    ("floor", "ceil", "trunc"),
    ("sort", "reverse"),
    ("read", "readline", "readlines"),
)
_AROUND: dict[Kind, tuple[str, ...]] = {
    "number": ("abs", "int", "round", "str", "float"),
    "sequence": ("len", "sorted", "list", "reversed", "set", "sum", "max", "min"),
    "text": ("len", "str", "int", "sorted", "reversed"),
}


def called(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Another function: of a like purpose among the built-in ones, or another of the file."""
    if not isinstance(node, ast.Call):
        return
    source = scope.source
    if isinstance(node.func, ast.Attribute):
        name, end = node.func.attr, source.span(node.func)[1]
    elif isinstance(node.func, ast.Name):
        name, end = node.func.id, source.span(node.func)[1]
    else:
        return
    start = end - len(name)
    for family in _FAMILIES:
        if name in family:
            for other in family:
                if other != name:
                    yield Change(start, end, other, node.lineno, "other function", 0.7 if len(family) == 2 else 0.3)
    if isinstance(node.func, ast.Name) and name not in scope.variables:
        for other, arity in scope.functions.items():
            if other != name:
                near = 0.5 if arity == len(node.args) else 0.2
                yield Change(
                    start, end, other, node.lineno, "other function", near * (0.5 + 0.5 * likeness(name, other))
                )


def argued(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Arguments: two swapped, one too many, one missing."""
    if not isinstance(node, ast.Call):
        return
    source = scope.source
    texts = [source.segment(each) for each in node.args]
    for one, left in enumerate(node.args):
        for two in range(one + 1, len(node.args)):
            right = node.args[two]
            if texts[one] == texts[two]:
                continue
            start, end = source.span(left)[0], source.span(right)[1]
            between = source.text[source.span(left)[1] : source.span(right)[0]]
            prior = 0.6 if two == one + 1 else 0.3
            yield Change(start, end, texts[two] + between + texts[one], left.lineno, "swapped arguments", prior)
    first = source.span(node.func)[1]
    if node.args and not node.keywords and source.text[first : first + 1] == "(":
        last = source.span(node)[1] - 1
        for place in range(len(texts)):
            if len(texts) > 1:
                rest = ", ".join(texts[:place] + texts[place + 1 :])
                yield Change(first + 1, last, rest, node.lineno, "argument too many", 0.2)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "range":
            yield from _ranged(node, texts, first + 1, last)
        elif name in ("min", "max") or (name in scope.functions and len(texts) < scope.functions[name]):
            for other in (*scope.variables, "0", "1"):
                if other not in texts:
                    yield Change(last, last, f", {other}", node.lineno, "missing argument", 0.2)


def _ranged(node: ast.Call, texts: list[str], first: int, last: int) -> Iterator[Change]:
    """Other bounds of a range."""
    if len(texts) == 1:
        others = [
            f"1, {texts[0]}",
            f"2, {texts[0]}",
            f"1, {texts[0]} + 1",
            f"{texts[0]} - 1, -1, -1",
            f"0, {texts[0]}, 2",
        ]
    elif len(texts) == 2:
        others = [
            texts[1],
            f"{texts[1]} - 1, {texts[0]} - 1, -1",
            f"{texts[0]}, {texts[1]}, 2",
            f"{texts[0]}, {texts[1]}, -1",
        ]
        others += [f"0, {texts[1]}", f"1, {texts[1]}"]
    else:
        others = [", ".join(texts[:2]), f"{texts[0]}, {texts[1]}, -({texts[2]})"]
    for other in dict.fromkeys(others):
        if other != ", ".join(texts):
            yield Change(first, last, other, node.lineno, "range", 0.4)


def unwrapped(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return a call around a value, or a method called on one, that is too many."""
    if not isinstance(node, ast.Call):
        return
    source = scope.source
    for argument in node.args[:2]:
        if not isinstance(argument, ast.Starred):
            yield source.replaced(node, source.segment(argument), "call too many", 0.4 if len(node.args) == 1 else 0.25)
    if isinstance(node.func, ast.Attribute):
        held = source.parents.get(node)
        if not isinstance(held, ast.Expr):
            yield source.replaced(node, source.segment(node.func.value), "call too many", 0.25)


def wrapped(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return a call around a value that is missing: a conversion, a bound, a copy, a function of the file."""
    if not isinstance(
        node, ast.Name | ast.Call | ast.BinOp | ast.Subscript | ast.Attribute | ast.GeneratorExp | ast.ListComp
    ):
        return
    source, held = scope.source, scope.source.parents.get(node)
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    if isinstance(held, ast.Attribute | ast.Expr | ast.Subscript | ast.keyword | ast.Starred):
        return
    if isinstance(held, ast.Call) and (held.func is node or (isinstance(held.func, ast.Name) and len(held.args) == 1)):
        return
    text = source.segment(node)
    if "\n" in text or len(text) > 60:
        return
    known = scope.kinds.get(node.id, set()) if isinstance(node, ast.Name) else {kind_of(node)} - {None}
    if isinstance(node, ast.Name) and (node.id not in scope.variables or "function" in known):
        return
    for kind, names in _AROUND.items():
        if not known or kind in known:
            for name in names:
                yield source.replaced(node, f"{name}({text})", "missing call", 0.2 if known else 0.1)
    if isinstance(held, ast.Assign | ast.AugAssign | ast.Return) and (not known or "number" in known):
        yield source.replaced(node, f"max(0, {text})", "missing bound", 0.25)
        target = held.targets[0] if isinstance(held, ast.Assign) else None
        kept = [source.segment(target)] if target is not None and not isinstance(target, ast.Tuple) else []
        for other in dict.fromkeys([*kept, *scope.of_kind("number")]):
            if other != text:
                prior = 0.4 if other in kept else 0.15
                yield source.replaced(node, f"max({other}, {text})", "missing bound", prior)
                yield source.replaced(node, f"min({other}, {text})", "missing bound", prior)
    for name, arity in scope.functions.items():
        if arity == 1 and not (scope.function and scope.function.name == name and scope.function is held):
            yield source.replaced(node, f"{name}({text})", "missing call", 0.15)
    if isinstance(node, ast.Name) and isinstance(held, ast.Call) and (not known or known & {"sequence", "mapping"}):
        yield source.replaced(node, f"{text}.copy()", "missing copy", 0.2)


def yielded(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """`yield` for `yield from`, or the other way round; an awaited value."""
    if isinstance(node, ast.Yield) and node.value is not None:
        yield scope.source.replaced(node, f"yield from {scope.source.segment(node.value)}", "yield", 0.4)
    elif isinstance(node, ast.YieldFrom):
        yield scope.source.replaced(node, f"yield {scope.source.segment(node.value)}", "yield", 0.4)


def method_for_assignment(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return a method that changes a value where the value should be assigned anew, or the other way round."""
    source = scope.source
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call, target = node.value, source.segment(node.value.func.value)
        if len(call.args) == 1:
            start, end = source.span(node)
            argument = source.segment(call.args[0])
            for text in (f"{target} = {argument}", f"{target} += {argument}", f"{target} = {source.segment(node)}"):
                yield Change(start, end, text, node.lineno, "assignment for a call", 0.25)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple):
        start, end = source.span(node)
        target, value = source.segment(node.targets[0]), source.segment(node.value)
        for text, prior in (
            (f"{target} += {value}", 0.3),
            (f"{target} -= {value}", 0.15),
            (f"{target}.append({value})", 0.12),
        ):
            yield Change(start, end, text, node.lineno, "assignment operator", prior)


TEMPLATES = (called, argued, unwrapped, wrapped, yielded, method_for_assignment)
