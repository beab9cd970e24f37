"""Every statistic is reached from a command, a table or a notebook.

What only a benchmark measures is in `benchmarks/validity/alternatives`, and what only reference cases have stands with
the tests. A name counts as reached where code that is itself reached names it; names are compared, not followed to
their module.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
STATISTICS = "analysis/stats/"


def sources() -> dict[str, ast.Module]:
    """The code of every room that may show a statistic, and of the notebooks."""
    files = [file for room in ("analysis", "studies", "misstep") for file in sorted((ROOT / room).rglob("*.py"))]
    found = {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8")) for file in files}
    for file in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(file.read_text("utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        found[file.name] = ast.parse(code)
    return found


def names(node: ast.AST) -> Iterator[str]:
    """Every name that code uses, without those that it only imports."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def unreached(modules: dict[str, ast.Module]) -> list[str]:
    """The functions and classes of the statistics that nothing reaches, as `path: name`."""
    defined = {
        node.name: (path, node)
        for path, tree in modules.items()
        if path.startswith(STATISTICS)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    waiting = [
        name
        for path, tree in modules.items()
        for node in tree.body
        if not (path.startswith(STATISTICS) and isinstance(node, ast.FunctionDef | ast.ClassDef))
        for name in names(node)
    ]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in defined and name not in reached:
            reached.add(name)
            waiting += names(defined[name][1])
    return sorted(f"{path}: {name}" for name, (path, _) in defined.items() if name not in reached)


def test_every_statistic_is_shown_by_something() -> None:
    assert unreached(sources()) == [], "show it, or move it to what measures it"


def test_a_statistic_that_only_its_own_kind_calls_is_found() -> None:
    modules = {
        f"{STATISTICS}a.py": (
            "def shown(): return helper()\ndef helper(): ...\ndef alone(): return part()\ndef part(): ..."
        ),
        "studies/b.py": "from analysis.stats.a import alone, shown\nprint(shown())",
    }
    trees = {path: ast.parse(text) for path, text in modules.items()}
    assert unreached(trees) == [f"{STATISTICS}a.py: alone", f"{STATISTICS}a.py: part"]
