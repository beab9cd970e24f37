"""Repair templates: from a node of a suspicious statement, the changes that would undo a common mistake there.

Each template is a function of a node and its scope. Which mistakes are common, and how common, is taken from what is
published of people's fixes (PAR, Kim et al. 2013; the fix patterns of TBar, Liu et al. 2019; the bug classes of
BugsInPy and Defects4J) and from plain reason; no figure here was fitted to a benchmark.
"""

import ast
from collections.abc import Callable, Iterator

from misstep.harness.repair.search.scope import Scope
from misstep.harness.repair.search.source import Change
from misstep.harness.repair.search.templates import calls, conditions, names, operators, statements, values

Template = Callable[[ast.AST, Scope], Iterator[Change]]

TEMPLATES: tuple[Template, ...] = (
    *operators.TEMPLATES,
    *values.TEMPLATES,
    *names.TEMPLATES,
    *calls.TEMPLATES,
    *conditions.TEMPLATES,
    *statements.TEMPLATES,
)
"""Every template; each decides by itself whether a node is of its kind."""

__all__ = ["TEMPLATES", "Template"]
