"""A table says which function made it: every function that returns a new table is marked."""

import ast

from tests.layout.sources import MODULES, tree_of

READERS = {"from_document"}
"""Functions that give back a table as it was written, with the maker that it names."""


def makers(tree: ast.Module) -> list[ast.FunctionDef]:
    """The public functions of a module that make a table: they return one and are given none."""
    imports = [
        node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "misstep_analysis.tables"
    ]
    if "Table" not in {name.name for node in imports for name in node.names}:
        return []
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return [
        one
        for one in functions
        if one.returns is not None
        and ast.unparse(one.returns) == "Table"
        and not any(given.annotation and ast.unparse(given.annotation) == "Table" for given in one.args.args)
        and one.name not in READERS
    ]


def unmarked(tree: ast.Module) -> list[str]:
    """The names of the makers that are not marked."""
    marked = "made_by_this"
    return [one.name for one in makers(tree) if marked not in map(ast.unparse, one.decorator_list)]


def test_every_function_that_makes_a_table_is_marked():
    paths = [path for path in MODULES if path.startswith(("analysis/", "misstep/"))]
    forgotten = {path: names for path in paths if (names := unmarked(tree_of(path)))}
    assert forgotten == {}, "put @made_by_this (misstep_analysis.tables) above it"
