"""Templates for calls, names and conditions: another function, another name, a condition negated or missing."""

import ast
from collections.abc import Iterator
from itertools import combinations

from misstep_harness.repair.search.scope import Change, Kind, Scope, kind_of, likeness

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
CALL_TEMPLATES = (
    (ast.Call, called),
    (ast.Call, argued),
    (ast.Call, unwrapped),
    (_WRAPPED, wrapped),
    ((ast.Yield, ast.YieldFrom), yielded),
    (ast.Expr, assigned_for_call),
    (ast.Assign, changed_for_assignment),
)


_MOST_DONATED = 14


def variable(node: ast.Name, scope: Scope) -> Iterator[Change]:
    """Another variable that can be read here."""
    if isinstance(node.ctx, ast.Del) or node.id not in scope.variables:
        return
    source = scope.source
    held = source.parents.get(node)
    stored = isinstance(node.ctx, ast.Store)
    if stored and not isinstance(held, ast.Assign | ast.AugAssign | ast.Tuple):
        return
    for other, near in scope.others(node.id):
        yield source.replaced(node, other, "other variable", (0.2 if stored else 0.6) * near)
    if not stored and not isinstance(held, ast.While | ast.If | ast.Compare | ast.Attribute):
        texts = (f"{node.id}.{attribute}" for attribute in scope.attributes_by_name.get(node.id, ()))
        yield from scope.instead(node, texts, "missing attribute", 0.25)


def attribute(node: ast.Attribute, scope: Scope) -> Iterator[Change]:
    """Another attribute, likest in name first; or none."""
    source = scope.source
    held = source.parents.get(node)
    called = isinstance(held, ast.Call) and held.func is node
    own = scope.attributes_by_name.get(node.value.id, set()) if isinstance(node.value, ast.Name) else set()
    end = source.span(node)[1]
    for other in source.attributes:
        if other == node.attr:
            continue
        like = likeness(node.attr, other)
        prior = 0.55 * like if like > 0.5 else 0.3 if other in own else 0.12
        yield Change(end - len(node.attr), end, other, node.end_lineno or node.lineno, "other attribute", prior)
    if isinstance(node.ctx, ast.Load) and not called:
        yield source.replaced(node, source.segment(node.value), "attribute too many", 0.3)
    if isinstance(node.value, ast.Name):
        for other, near in scope.others(node.value.id):
            if scope.may_be(other, "object") and not called:
                yield source.replaced(node, other, "other variable", 0.15 * near)


def own_attribute(node: ast.Name, scope: Scope) -> Iterator[Change]:
    """`self.` that is missing before a name."""
    first = scope.parameters[:1]
    if first in (["self"], ["cls"]) and node.id not in first and node.id in scope.source.attributes:
        yield scope.source.replaced(node, f"{first[0]}.{node.id}", "missing attribute", 0.3)


def subscript(node: ast.Subscript, scope: Scope) -> Iterator[Change]:
    """Another end of a slice, an index or a slice too many, two indices swapped."""
    source, held = scope.source, node.slice
    value = source.segment(node.value)
    numbers = [name for name in scope.of_kind("number") if not isinstance(held, ast.Name) or name != held.id]
    if isinstance(held, ast.Slice):
        lower, upper, step = (source.segment(each) if each else "" for each in (held.lower, held.upper, held.step))
        tail = f":{step}" if step else ""
        others = [("", upper), (lower, ""), ("1", upper), (lower, "-1"), (upper, lower)]
        others += [(name, upper) for name in numbers] + [(lower, name) for name in numbers]
        ends = (each for each in dict.fromkeys(others) if each != (lower, upper))
        yield from scope.instead(node, (f"{value}[{one}:{two}{tail}]" for one, two in ends), "slice", 0.35)
        other_step = "2" if step in ("", "1") else "-1"
        yield source.replaced(node, f"{value}[{lower}:{upper}:{other_step}]", "slice", 0.1)
        if isinstance(node.ctx, ast.Load):
            yield source.replaced(node, value, "slice too many", 0.3)
        return
    index = source.segment(held)
    if isinstance(node.ctx, ast.Load):
        yield source.replaced(node, value, "index too many", 0.15)
        yield source.replaced(node, index, "index too many", 0.12)
    if isinstance(held, ast.Tuple):
        return
    for text in ("0", "-1", f"-{index}", f"{index}:", f":{index}"):
        if text != index and not (isinstance(held, ast.Constant | ast.UnaryOp) and text.startswith("-")):
            yield source.replaced(node, f"{value}[{text}]", "index", 0.2)
    if isinstance(node.value, ast.Subscript) and not isinstance(node.value.slice, ast.Slice):
        text = f"{source.segment(node.value.value)}[{index}][{source.segment(node.value.slice)}]"
        yield source.replaced(node, text, "swapped indices", 0.35)


def sliced(node: ast.Name, scope: Scope) -> Iterator[Change]:
    """A slice, a copy or an index that is missing behind a whole sequence."""
    if not isinstance(node.ctx, ast.Load) or node.id not in scope.variables:
        return
    held = scope.source.parents.get(node)
    is_value = isinstance(held, ast.Attribute | ast.Subscript) and held.value is node
    is_called = isinstance(held, ast.Call) and held.func is node
    if is_value or is_called or not scope.may_be(node.id, "sequence", "text"):
        return
    parts = dict.fromkeys(("1:", ":-1", "::-1", ":", "0", "-1"), 0.24)
    names = (name for name in scope.of_kind("number") if name != node.id)
    parts |= {text: 0.2 for name in names for text in (f"{name}:", f":{name}", name)}
    for text, prior in parts.items():
        yield scope.source.replaced(node, f"{node.id}[{text}]", "missing slice", prior)


def donated(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Another expression of the same function, the likest ones first."""
    source = scope.source
    held = source.parents.get(node)
    if isinstance(held, ast.Attribute) or (isinstance(held, ast.Call) and held.func is node):
        return
    if isinstance(held, ast.AugAssign | ast.For | ast.comprehension) and held.target is node:
        return
    stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    text = source.segment(node)
    donors = []
    for other, donor in scope.expressions.items():
        is_place = isinstance(donor, ast.Subscript | ast.Attribute)
        fits = is_place or not (stored or (isinstance(node, ast.Name) and not isinstance(donor, ast.BinOp)))
        if other != text and fits and len({kind_of(node), kind_of(donor)} - {None}) < 2:
            form = 0.36 if type(donor) is type(node) else 0.2
            donors.append((form * (0.5 + 0.5 * likeness(text, other)), other))
    for prior, other in sorted(donors, key=lambda each: (-each[0], each[1]))[:_MOST_DONATED]:
        yield source.replaced(node, other, "other expression", prior)


NAME_TEMPLATES = (
    (ast.Name, variable),
    (ast.Attribute, attribute),
    (ast.Name, own_attribute),
    (ast.Subscript, subscript),
    (ast.Name, sliced),
    ((ast.Subscript, ast.Attribute, ast.Call, ast.Name, ast.BinOp, ast.List), donated),
)


_NONE = ("is None", "is not None")


def tested(node: ast.If | ast.While | ast.IfExp | ast.Assert, scope: Scope) -> Iterator[Change]:
    """Another condition for `if`, `while` and a filter: negated, extended by a part, or that of a variable."""
    source, condition = scope.source, node.test
    text = source.segment(condition)
    if "\n" in text:
        return
    start, end = source.span(condition)

    def to(new: str, template: str, prior: float) -> Change:
        return Change(start, end, new, condition.lineno, template, prior)

    if isinstance(condition, ast.Constant):
        for name in scope.variables:
            yield to(name, "condition", 0.45 if scope.may_be(name, "sequence") else 0.3)
            yield to(f"not {name}", "condition", 0.15)
        yield from (to(other, "condition", 0.35) for other in scope.conditions)
        return
    if not isinstance(condition, ast.UnaryOp):
        yield to(f"not ({text})" if isinstance(condition, ast.BoolOp) else f"not {text}", "negation", 0.5)
    grouped = f"({text})" if isinstance(condition, ast.BoolOp | ast.IfExp | ast.Lambda) else text
    for part, near in _parts(condition, scope):
        prior = 0.4 * (near * 0.7 if part in text else near)
        yield from (to(f"{part} {word} {grouped}", "missing condition", prior) for word in ("or", "and"))
    yield from (to(other, "condition", 0.15) for name in scope.variables for other in (name, f"not {name}"))
    yield from (to(other, "condition", 0.2) for other in scope.conditions if other != text)


def _parts(condition: ast.expr, scope: Scope) -> Iterator[tuple[str, float]]:
    own = list(dict.fromkeys(node.id for node in ast.walk(condition) if isinstance(node, ast.Name)))
    objects = [
        scope.source.segment(node.value)
        for node in ast.walk(condition)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute)
    ]
    yield from ((f"{name} {test}", 1.0) for name in dict.fromkeys(objects) for test in _NONE)
    for name in dict.fromkeys([*own, *scope.variables]):
        if name in scope.source.functions or name not in scope.variables:
            continue
        near = 1.0 if name in own else 0.85
        yield from ((f"not {name}", near), (name, near))
        if scope.may_be(name, "number"):
            yield from ((f"{name} {test}", 0.6 * near) for test in ("== 0", "> 0", "< 0", ">= 0", "!= 0"))
        if scope.may_be(name, "object") and name not in objects:
            yield from ((f"{name} {test}", 0.6 * near) for test in _NONE)
        if scope.may_be(name, "sequence", "mapping") and not scope.may_be(name, "number"):
            items = (item for item in own if item != name)
            yield from ((f"{item} {word} {name}", 0.5 * near) for item in items for word in ("in", "not in"))
    yield from ((other, 0.6) for other in scope.conditions)


def whiled(node: ast.If | ast.While, scope: Scope) -> Iterator[Change]:
    """`while` for `if` and the other way round; `if` for `elif`."""
    start = scope.source.span(node)[0]
    for word, other, prior in (("if", "while", 0.2), ("while", "if", 0.2), ("elif", "if", 0.25)):
        if scope.source.text.startswith(f"{word} ", start):
            yield Change(start, start + len(word), other, node.lineno, "kind of branch", prior)


def looped(node: ast.For | ast.comprehension, scope: Scope) -> Iterator[Change]:
    """What a loop goes over: a part of it, in another order, numbered."""
    text, line = scope.source.segment(node.iter), node.iter.lineno
    start, end = scope.source.span(node.iter)
    if "\n" in text or (isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name)):
        return
    indexed = text if isinstance(node.iter, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"
    texts = [f"{indexed}[1:]", f"{indexed}[:-1]", f"reversed({text})", f"sorted({text})", f"list({text})"]
    others = dict.fromkeys(texts, 0.22)
    if isinstance(node.target, ast.Tuple):
        others |= dict.fromkeys((f"enumerate({text})", f"{indexed}.items()", f"zip({text})"), 0.2)
    yield from (Change(start, end, new, line, "what is looped over", prior) for new, prior in others.items())


def filtered(node: ast.comprehension, scope: Scope) -> Iterator[Change]:
    """A filter too many, negated or missing."""
    source = scope.source
    if "\n" in source.segment(node.iter):
        return
    for condition in node.ifs:
        first, last = source.span(condition)
        before = source.text[:first].rstrip("( ")
        if before.endswith("if") and source.text[first - 1] == " ":
            yield Change(len(before) - 2, last, "", condition.lineno, "filter too many", 0.25)
        yield Change(first, last, f"not ({source.segment(condition)})", condition.lineno, "negation", 0.35)
    if not node.ifs and isinstance(node.target, ast.Name):
        end, item = source.span(node.iter)[1], node.target.id
        containers = scope.of_kind("sequence", "mapping")
        tests = [(item, 0.12), (f"not {item}", 0.12)]
        tests += [(f"{item} {word} {name}", 0.15) for name in containers for word in ("not in", "in")]
        for test, prior in tests:
            yield Change(end, end, f" if {test}", node.iter.lineno, "missing filter", prior)


CONDITION_TEMPLATES = (
    ((ast.If, ast.While, ast.IfExp, ast.Assert), tested),
    ((ast.If, ast.While), whiled),
    ((ast.For, ast.comprehension), looped),
    (ast.comprehension, filtered),
)
