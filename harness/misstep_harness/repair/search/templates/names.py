"""Names and places: another variable, another attribute, another index or slice, another expression of the function."""

import ast
from collections.abc import Iterator

from misstep_harness.repair.search.scope import Scope, kind_of, likeness
from misstep_harness.repair.search.source import Change

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


TEMPLATES = (
    (ast.Name, variable),
    (ast.Attribute, attribute),
    (ast.Name, own_attribute),
    (ast.Subscript, subscript),
    (ast.Name, sliced),
    ((ast.Subscript, ast.Attribute, ast.Call, ast.Name, ast.BinOp, ast.List), donated),
)
