"""Results come before rows: what a table, a sentence or a figure shows is never read back from a row.

Nothing else has fields called `quantity` and `group`: they are looked for everywhere. The other fields of a row are
looked for on what is called `row` and is not said to be of another type. That is an approximation: a number of a row
under another name is not found. A notebook draws what its table says that the figure shows, and picks no rows itself.
"""

import ast
from collections.abc import Iterator

from tests.layout.sources import MODULES, NOTEBOOKS, code_of, nodes_of

EDGES = ("analysis/misstep_analysis/tables/", "analysis/misstep_analysis/plots/", "misstep/doctor/plugins.py")
"""Rooms that make rows into text, files and figures; the list of plug-ins reads groups of entry points, no rows."""

OF_ROWS_ALONE = frozenset({"quantity", "group"})
OF_WHAT_IS_CALLED_ROW = frozenset({"value", "low", "high", "n", "status", "reason", "evidence", "unit"})


def reads(nodes: list[ast.AST]) -> Iterator[str]:
    """What a source reads of rows, as `line: expression`; calls, such as `match.group()`, are none."""
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    given = [node for node in nodes if isinstance(node, ast.arg) and node.arg == "row" and node.annotation is not None]
    row_is_another = any(node.annotation is not None and ast.unparse(node.annotation) != "Row" for node in given)
    for node in nodes:
        if not isinstance(node, ast.Attribute) or id(node) in called:
            continue
        is_row = isinstance(node.value, ast.Name) and node.value.id == "row" and not row_is_another
        if node.attr in OF_ROWS_ALONE or (is_row and node.attr in OF_WHAT_IS_CALLED_ROW):
            yield f"{node.lineno}: {ast.unparse(node)}"


def goes_through(nodes: list[ast.AST]) -> Iterator[str]:
    """Where a source goes through the rows of a table, as `line: expression`."""
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension):
            yield from (
                f"{part.lineno}: {ast.unparse(part)}"
                for part in ast.walk(node.iter)
                if isinstance(part, ast.Attribute) and part.attr == "rows"
            )


def test_a_module_outside_tables_and_plots_reads_no_row() -> None:
    paths = [path for path in MODULES if path.startswith(("analysis/", "misstep/")) and not path.startswith(EDGES)]
    assert {path: results for path in paths if (results := list(reads(nodes_of(path))))} == {}, (
        "make table and sentence from one result"
    )


def test_a_notebook_picks_no_rows_to_draw() -> None:
    nodes = {file.name: list(ast.walk(ast.parse(code_of(file)))) for file in NOTEBOOKS}
    picked = {name: [*reads(inside), *goes_through(inside)] for name, inside in nodes.items()}
    assert {name: result for name, result in picked.items() if result} == {}, (
        "draw `table.drawn`, or rows made from results"
    )
