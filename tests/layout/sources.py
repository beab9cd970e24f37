"""The code of the project, read and parsed once for all rules about the tree."""

import ast
import json
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("misstep", "analysis/misstep_analysis", "harness/misstep_harness")
"""Source root and package of each import name."""


def _files(*folders: str) -> dict[str, Path]:
    return {
        file.relative_to(ROOT).as_posix(): file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))
    }


MODULES = _files(*PACKAGES)
"""Path from the top of the checkout → file."""

WITHOUT_TESTS = MODULES | _files("benchmarks", "examples", "scripts")


def module_name(path: str) -> str:
    """Turn a path into the name by which the module is imported."""
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return dotted.removeprefix("analysis.").removeprefix("harness.")


NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@cache
def text_of(path: str) -> str:
    """Read a module."""
    return WITHOUT_TESTS[path].read_text("utf-8")


@cache
def tree_of(path: str) -> ast.Module:
    """Parse a module."""
    return ast.parse(text_of(path))


@cache
def nodes_of(path: str) -> list[ast.AST]:
    """List all nodes of a module."""
    return list(ast.walk(tree_of(path)))


@cache
def code_of(notebook: Path) -> str:
    """Join the code cells of a notebook."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
