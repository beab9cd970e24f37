"""The source of this project's own modules, by name: what a table's function looks like and in which line it stands."""

import ast
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_MODULE = re.compile(r"misstep(?:\.[A-Za-z_]\w*)*", re.ASCII)
"""The modules whose source may be shown; nothing else is read."""


@cache
def source_of(module: str) -> str:
    """Return the source of a module; empty where it is none of this project's."""
    if not _MODULE.fullmatch(module):
        return ""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return ""
    if spec is None or spec.origin is None:
        return ""
    return Path(spec.origin).read_text(encoding="utf-8")


@cache
def line_of(function: str) -> int | None:
    """Return the line, from 1, of a function such as `misstep.analysis.papers.wink.prevalence.models_table`."""
    module, _, name = function.rpartition(".")
    for node in ast.parse(source_of(module)).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node.lineno
    return None
