"""Conditions: one negated, one part missing, a loop that never ends, a filter that is missing."""

import ast
from collections.abc import Iterator

from misstep.harness.repair.search.scope import Scope
from misstep.harness.repair.search.source import Change


def tested(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Another condition for `if`, `while` and a filter: negated, extended by a part, or that of a variable."""
    if not isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        return
    source, condition = scope.source, node.test
    text = source.segment(condition)
    if "\n" in text:
        return
    start, end = source.span(condition)
    line = condition.lineno

    def to(new: str, template: str, prior: float) -> Change:
        return Change(start, end, new, line, template, prior)

    if isinstance(condition, ast.Constant):
        for name in scope.variables:
            yield to(name, "condition", 0.45 if scope.may_be(name, "sequence") else 0.3)
            yield to(f"not {name}", "condition", 0.15)
        for other in scope.conditions:
            yield to(other, "condition", 0.35)
        return
    if not isinstance(condition, ast.UnaryOp):
        yield to(f"not ({text})" if isinstance(condition, ast.BoolOp) else f"not {text}", "negation", 0.5)
    grouped = f"({text})" if isinstance(condition, ast.BoolOp | ast.IfExp | ast.Lambda) else text
    for part, near in _parts(condition, scope):
        if part in text:
            near *= 0.7
        yield to(f"{part} or {grouped}", "missing condition", 0.4 * near)
        yield to(f"{part} and {grouped}", "missing condition", 0.4 * near)
    for name in scope.variables:
        yield to(name, "condition", 0.15)
        yield to(f"not {name}", "condition", 0.15)
    for other in scope.conditions:
        if other != text:
            yield to(other, "condition", 0.2)


def _parts(condition: ast.expr, scope: Scope) -> Iterator[tuple[str, float]]:
    """Return what may be said beside a condition, and how near it lies: first of the names that it uses itself."""
    own = list(dict.fromkeys(node.id for node in ast.walk(condition) if isinstance(node, ast.Name)))
    objects = [
        scope.source.segment(node.value)
        for node in ast.walk(condition)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute)
    ]
    for name in dict.fromkeys(objects):
        yield f"{name} is None", 1.0
        yield f"{name} is not None", 1.0
    for name in dict.fromkeys([*own, *scope.variables]):
        if name in scope.functions or name not in scope.variables:
            continue
        near = 1.0 if name in own else 0.85
        yield f"not {name}", near
        yield name, near
        if scope.may_be(name, "number"):
            for comparison in ("== 0", "> 0", "< 0", ">= 0", "!= 0"):
                yield f"{name} {comparison}", 0.6 * near
        if scope.may_be(name, "object") and name not in objects:
            yield f"{name} is None", 0.6 * near
            yield f"{name} is not None", 0.6 * near
        if scope.may_be(name, "sequence", "mapping") and not scope.may_be(name, "number"):
            for item in own:
                if item != name:
                    yield f"{item} in {name}", 0.5 * near
                    yield f"{item} not in {name}", 0.5 * near
    for other in scope.conditions:
        yield other, 0.6


def whiled(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """`while` for `if` and the other way round; `if` for `elif`."""
    if not isinstance(node, ast.If | ast.While):
        return
    start = scope.source.span(node)[0]
    words = {"if": (("while", 0.2),), "while": (("if", 0.2),), "elif": (("if", 0.25),)}
    for word, others in words.items():
        if scope.source.text.startswith(f"{word} ", start):
            for other, prior in others:
                yield Change(start, start + len(word), other, node.lineno, "kind of branch", prior)


def filtered(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return what a loop goes over: a part of it, in another order, numbered; a filter too many or missing."""
    source = scope.source
    if isinstance(node, ast.For | ast.comprehension):
        text, line = source.segment(node.iter), node.iter.lineno
        start, end = source.span(node.iter)
        if "\n" in text:
            return
        ranged = isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name)
        if not ranged:
            indexed = (
                text if isinstance(node.iter, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"
            )
            for new in (f"{indexed}[1:]", f"{indexed}[:-1]", f"reversed({text})", f"sorted({text})", f"list({text})"):
                yield Change(start, end, new, line, "what is looped over", 0.22)
        if isinstance(node.target, ast.Tuple) and not ranged:
            for new in (f"enumerate({text})", f"{indexed}.items()", f"zip({text})"):
                yield Change(start, end, new, line, "what is looped over", 0.2)
    if isinstance(node, ast.comprehension):
        for condition in node.ifs:
            first, last = source.span(condition)
            before = source.text[:first].rstrip("( ")
            if before.endswith("if") and source.text[first - 1] == " ":
                yield Change(len(before) - 2, last, "", condition.lineno, "filter too many", 0.25)
            negated = f"not ({source.segment(condition)})"
            yield Change(first, last, negated, condition.lineno, "negation", 0.35)
        if not node.ifs and isinstance(node.target, ast.Name):
            end = source.span(node.iter)[1]
            for test in (node.target.id, f"not {node.target.id}"):
                yield Change(end, end, f" if {test}", node.iter.lineno, "missing filter", 0.12)
            for name in scope.of_kind("sequence", "mapping"):
                for word in ("not in", "in"):
                    text = f" if {node.target.id} {word} {name}"
                    yield Change(end, end, text, node.iter.lineno, "missing filter", 0.15)


TEMPLATES = (tested, whiled, filtered)
