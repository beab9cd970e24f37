"""All changes that the templates propose for suspicious lines, the likeliest first."""

import ast
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec.structs import replace

from misstep_harness.repair.search.localisation import Suspect
from misstep_harness.repair.search.scope import Scope
from misstep_harness.repair.search.source import Change, Function, ProgramSource
from misstep_harness.repair.search.templates import changes_of
from misstep_harness.repair.search.templates.statements import reordered
from misstep_harness.repair.search.testing import Candidate

_MOST_LINES = 160
_LEVEL_OF_FILE = 0.3
"""How suspicious a value of the file's own level is, by the most suspicious line that reads it."""
_NOISE = 0.35

_AFTER: dict[str, str] = {
    "IndexError": "off by one|comparison operator|slice|index|range|missing condition|missing guard",
    "KeyError": "missing condition|missing guard|other variable|constant|swapped elements",
    "AttributeError": "missing condition|other attribute|missing guard|other variable",
    "TypeError": "missing condition|swapped arguments|call too many|missing call|missing guard|missing return",
    "ZeroDivisionError": "missing guard|missing condition|comparison operator|constant",
    "NameError": "other variable|missing attribute",
    "UnboundLocalError": "other variable|missing statement|wrong level",
    "RecursionError": "missing guard|condition|off by one|swapped arguments|comparison operator|missing term",
    "ValueError": "missing guard|other function|constant|missing condition",
    "StopIteration": "missing condition|comparison operator",
    "OutOfTime": "comparison operator|condition|arithmetic operator|off by one|missing condition|jump",
}
"""What a failure ended with → the kinds of mistake that it speaks for."""
_FAVOURED = 1.5
_SIGNS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)


def candidates(
    sources: Mapping[str, ProgramSource], suspects: Sequence[Suspect], failure: str, sample: int = 0
) -> list[Candidate]:
    """Return every change of the templates for the most suspicious lines, by suspicion, kind and closeness."""
    favoured = {
        kind for name, kinds in _AFTER.items() if re.search(rf"\b{name}\b", failure) for kind in kinds.split("|")
    }
    lines: dict[str, dict[int, float]] = {}
    for suspect in suspects[:_MOST_LINES]:
        lines.setdefault(suspect.path, {})[suspect.line] = suspect.score
    best: dict[tuple[str, int, int, str], Candidate] = {}
    for path, scores in lines.items():
        source = sources[path]
        for change, suspicion in _changes(source, scores):
            short = _shortest(source.text, change)
            if short is None:
                continue
            score = suspicion**1.5 * change.prior * (_FAVOURED if change.template in favoured else 1.0)
            key = path, short.start, short.end, short.text
            if key not in best or score > best[key].score:
                inside = any(first <= short.line <= last for first, last in source.function_lines)
                best[key] = Candidate(path, short, score, outside=not inside)
    chance = random.Random(sample)  # noqa: S311 -- no secret
    ranked = sorted(best.values(), key=_order)
    if sample:
        ranked = [replace(each, score=each.score * 2 ** (_NOISE * chance.gauss(0, 1))) for each in ranked]
        ranked.sort(key=_order)
    return ranked


def _order(each: Candidate) -> tuple[float, str, int, int, str]:
    return -each.score, each.path, each.change.start, each.change.end, each.change.text


def _changes(source: ProgramSource, scores: Mapping[int, float]) -> Iterator[tuple[Change, float]]:
    scopes: dict[Function | None, Scope] = {}
    read: dict[str, float] = {}
    for node in ast.walk(source.tree):
        statement = source.statement(node)
        if statement is None or isinstance(node, _SIGNS):
            continue
        if isinstance(node, Function):
            moved = reordered(node, Scope(source, node))
            yield from ((change, scores[change.line]) for change in moved if change.line in scores)
            continue
        function = source.function(node)
        on_statement = scores.get(statement.lineno, 0.0)
        suspicion = scores.get(getattr(node, "lineno", 0), on_statement) if function else 0.0
        if isinstance(node, ast.Name) and suspicion:
            read[node.id] = max(read.get(node.id, 0.0), suspicion)
        if not suspicion or isinstance(node, ast.ClassDef | ast.arguments | ast.arg):
            continue
        if function not in scopes:
            scopes[function] = Scope(source, function)
        for change in changes_of(node, scopes[function]):
            yield change, scores.get(change.line, suspicion)
    for each in source.tree.body:
        if isinstance(each, ast.Assign | ast.AnnAssign) and isinstance(each.value, ast.expr):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            known = max((read.get(name.id, 0.0) for name in targets if isinstance(name, ast.Name)), default=0.0)
            for node in ast.walk(each.value) if known else ():
                for change in changes_of(node, scopes.setdefault(None, Scope(source, None))):
                    yield change, _LEVEL_OF_FILE * known


def _shortest(text: str, change: Change) -> Change | None:
    old, new = text[change.start : change.end], change.text
    if old == new:
        return None
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    text = new[head : len(new) - tail]
    return replace(change, start=change.start + head, end=change.end - tail, text=text)


def _alike(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
