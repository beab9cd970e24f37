"""Propose changes for a node of a suspicious statement that would undo a common mistake there.

Which mistakes are common, and how common, is taken from what is published of people's fixes (PAR, Kim et al. 2013; the
fix patterns of TBar, Liu et al. 2019; the classes of BugsInPy and Defects4J) and from plain reason; no figure here was
fitted to a benchmark.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

from misstep_harness.repair.search.scope import Change, Scope
from misstep_harness.repair.search.templates import conditions, values

_TEMPLATES: tuple[tuple[Any, Callable[[Any, Scope], Iterator[Change]]], ...] = (
    *values.OPERATOR_TEMPLATES,
    *values.VALUE_TEMPLATES,
    *conditions.NAME_TEMPLATES,
    *conditions.CALL_TEMPLATES,
    *conditions.CONDITION_TEMPLATES,
    *values.STATEMENT_TEMPLATES,
)


def changes_of(node: ast.AST, scope: Scope) -> Iterator[Change]:
    """Return what all templates propose for a node."""
    for kinds, template in _TEMPLATES:
        if isinstance(node, kinds):
            yield from template(node, scope)
