"""Calls: arguments swapped, missing or too many, another function, a call around a value missing or too many."""

import ast
from collections.abc import Iterator
from itertools import combinations

from misstep_harness.repair.search.scope import Kind, Scope, kind_of, likeness
from misstep_harness.repair.search.source import Change

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


def called(node: ast.Call, scope: Scope) -> Iterator[Change]:
    """Another function: of a like purpose among the built-in ones, or another of the file."""
    function = node.func
    if not isinstance(function, ast.Attribute | ast.Name):
        return
    name = function.attr if isinstance(function, ast.Attribute) else function.id
    end = scope.source.span(function)[1]
    others = [(other, 0.7 if len(each) == 2 else 0.3) for each in _FAMILIES if name in each for other in each]
    if isinstance(function, ast.Name) and name not in scope.variables:
        for other, arity in scope.source.functions.items():
            others.append((other, (0.5 if arity == len(node.args) else 0.2) * (0.5 + 0.5 * likeness(name, other))))
    changes = ((other, prior) for other, prior in others if other != name)
    yield from (Change(end - len(name), end, other, node.lineno, "other function", prior) for other, prior in changes)


def argued(node: ast.Call, scope: Scope) -> Iterator[Change]:
    """Arguments: two swapped, one too many, one missing."""
    source = scope.source
    texts = [source.segment(each) for each in node.args]
    for one, two in combinations(range(len(node.args)), 2):
        left, right = node.args[one], node.args[two]
        if texts[one] != texts[two]:
            (start, middle), (below, end) = source.span(left), source.span(right)
            swapped = texts[two] + source.text[middle:below] + texts[one]
            yield Change(start, end, swapped, left.lineno, "swapped arguments", 0.6 if two == one + 1 else 0.3)
    first = source.span(node.func)[1]
    if not node.args or node.keywords or source.text[first : first + 1] != "(":
        return
    last = source.span(node)[1] - 1
    for place in range(len(texts) if len(texts) > 1 else 0):
        rest = ", ".join(texts[:place] + texts[place + 1 :])
        yield Change(first + 1, last, rest, node.lineno, "argument too many", 0.2)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name == "range":
        others = (other for other in dict.fromkeys(_ranged(*texts)) if other != ", ".join(texts))
        yield from (Change(first + 1, last, other, node.lineno, "range", 0.4) for other in others)
    elif name in ("min", "max") or len(texts) < source.functions.get(name, 0):
        others = (f", {other}" for other in (*scope.variables, "0", "1") if other not in texts)
        yield from (Change(last, last, other, node.lineno, "missing argument", 0.2) for other in others)


def _ranged(one: str, two: str = "", *more: str) -> list[str]:
    if not two:
        return [f"1, {one}", f"2, {one}", f"1, {one} + 1", f"{one} - 1, -1, -1", f"0, {one}, 2"]
    if more:
        return [f"{one}, {two}", f"{one}, {two}, -({more[0]})"]
    turned = f"{two} - 1, {one} - 1, -1"
    return [two, turned, f"{one}, {two}, 2", f"{one}, {two}, -1", f"0, {two}", f"1, {two}"]


def unwrapped(node: ast.Call, scope: Scope) -> Iterator[Change]:
    """A call around a value, or a method called on one, that is too many."""
    source, prior = scope.source, 0.4 if len(node.args) == 1 else 0.25
    values = (source.segment(each) for each in node.args[:2] if not isinstance(each, ast.Starred))
    yield from scope.instead(node, values, "call too many", prior)
    if isinstance(node.func, ast.Attribute) and not isinstance(source.parents.get(node), ast.Expr):
        yield source.replaced(node, source.segment(node.func.value), "call too many", 0.25)


def wrapped(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """A call around a value that is missing: a conversion, a bound, a copy, a function of the file."""
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
    around = [name for kind, names in _AROUND.items() if not known or kind in known for name in names]
    yield from scope.instead(node, (f"{name}({text})" for name in around), "missing call", 0.2 if known else 0.1)
    if isinstance(held, ast.Assign | ast.AugAssign | ast.Return) and (not known or "number" in known):
        yield source.replaced(node, f"max(0, {text})", "missing bound", 0.25)
        target = held.targets[0] if isinstance(held, ast.Assign) else None
        own = [source.segment(target)] if target is not None and not isinstance(target, ast.Tuple) else []
        for other in dict.fromkeys([*own, *scope.of_kind("number")]):
            if other != text:
                bounds = (f"max({other}, {text})", f"min({other}, {text})")
                yield from scope.instead(node, bounds, "missing bound", 0.4 if other in own else 0.15)
    for name, arity in source.functions.items():
        if arity == 1 and not (scope.function and scope.function.name == name and scope.function is held):
            yield source.replaced(node, f"{name}({text})", "missing call", 0.15)
    if isinstance(node, ast.Name) and isinstance(held, ast.Call) and (not known or known & {"sequence", "mapping"}):
        yield source.replaced(node, f"{text}.copy()", "missing copy", 0.2)


def yielded(node: ast.Yield | ast.YieldFrom, scope: Scope) -> Iterator[Change]:
    """`yield` for `yield from`, or the other way round."""
    if node.value is not None:
        word = "yield from" if isinstance(node, ast.Yield) else "yield"
        yield scope.source.replaced(node, f"{word} {scope.source.segment(node.value)}", "yield", 0.4)


def assigned_for_call(node: ast.Expr, scope: Scope) -> Iterator[Change]:
    """A method that changes a value, where the value should be assigned anew."""
    source, call = scope.source, node.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
        target, argument = source.segment(call.func.value), source.segment(call.args[0])
        for text in (f"{target} = {argument}", f"{target} += {argument}", f"{target} = {source.segment(node)}"):
            yield Change(*source.span(node), text, node.lineno, "assignment for a call", 0.25)


def changed_for_assignment(node: ast.Assign, scope: Scope) -> Iterator[Change]:
    """A value that is assigned anew, where it should be changed."""
    if len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple):
        source = scope.source
        target, value = source.segment(node.targets[0]), source.segment(node.value)
        texts = {f"{target} += {value}": 0.3, f"{target} -= {value}": 0.15, f"{target}.append({value})": 0.12}
        for text, prior in texts.items():
            yield Change(*source.span(node), text, node.lineno, "assignment operator", prior)


_WRAPPED = (ast.Name, ast.Call, ast.BinOp, ast.Subscript, ast.Attribute, ast.GeneratorExp, ast.ListComp)
TEMPLATES = (
    (ast.Call, called),
    (ast.Call, argued),
    (ast.Call, unwrapped),
    (_WRAPPED, wrapped),
    ((ast.Yield, ast.YieldFrom), yielded),
    (ast.Expr, assigned_for_call),
    (ast.Assign, changed_for_assignment),
)
