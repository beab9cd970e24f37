"""Conditions: one negated, one part missing, a loop that never ends, a filter that is missing."""

import ast
from collections.abc import Iterator

from misstep_harness.repair.search.scope import Scope
from misstep_harness.repair.search.source import Change

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


TEMPLATES = (
    ((ast.If, ast.While, ast.IfExp, ast.Assert), tested),
    ((ast.If, ast.While), whiled),
    ((ast.For, ast.comprehension), looped),
    (ast.comprehension, filtered),
)
