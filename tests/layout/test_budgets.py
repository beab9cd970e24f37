"""The house stays within `budgets.toml`: logic lines by room, files a folder, parameters a function, shared names."""

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from tests.layout.sources import MODULES, ROOT, WITHOUT_TESTS, nodes_of, text_of, tree_of

BUDGETS = tomllib.loads((ROOT / "budgets.toml").read_text("utf-8"))
_LONG_LITERAL = 4


def logic_lines(text: str, tree: ast.Module) -> int:
    """Count lines that are not blank, comment, docstring, import or a module's literal of four lines or more."""
    lines = text.split("\n")
    counted = {number for number, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")}
    for node in _statements(tree):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            counted -= _lines_of(node)
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        is_data = value is not None and not any(isinstance(part, ast.Lambda) for part in ast.walk(value))
        if is_data and len(_lines_of(node)) >= _LONG_LITERAL:
            counted -= _lines_of(node)
    return len(counted)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """List all statements; expressions, which are most of a tree, are not walked."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, name, ()):
            if isinstance(inner, ast.stmt):
                yield inner
            yield from _statements(inner)


def _lines_of(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def room_of(path: str) -> str:
    """Name the room of a module: two levels of the tree, or one for modules at the top of a package."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("misstep_harness", "misstep_analysis")]
    return "/".join(parts[: 2 if len(parts) > 2 else 1])


def wide_functions() -> Iterator[str]:
    """List the functions that take more parameters than they may; commands have options instead."""
    for path in MODULES:
        if path.startswith("misstep/"):
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                if len([name for name in names if name not in ("self", "cls")]) > BUDGETS["parameters"]["function"]:
                    yield f"{path}: {node.name}"


def crowded_commands() -> Iterator[str]:
    """List the commands with more options of their own than they may have; groups of options do not count."""
    for path in MODULES:
        for node in tree_of(path).body if path.startswith("misstep/") else ():
            if isinstance(node, ast.FunctionDef):
                own = [*node.args.args, *node.args.kwonlyargs]
                options = [one for one in own if not re.search("Options|AskedAgent|ItemBudget", ast.unparse(one))]
                if len(options) > BUDGETS["parameters"]["command"]:
                    yield f"{path}: {node.name}"


def shared_class_names() -> list[str]:
    """List the public class names that more than one module defines."""
    modules = defaultdict(set)
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].add(path)
    return sorted(name for name, paths in modules.items() if len(paths) > 1)


def test_a_room_has_at_most_the_logic_lines_of_its_budget() -> None:
    used: Counter[str] = Counter()
    for path in WITHOUT_TESTS:
        used[room_of(path)] += logic_lines(text_of(path), tree_of(path))
    budgets = BUDGETS["logic"]
    assert {room: lines for room, lines in used.items() if lines > budgets.get(room, 0)} == {}
    assert set(budgets) - set(used) == set(), "a room that is gone needs no budget"
    assert sum(used.values()) <= BUDGETS["total"]["logic"]


def test_a_folder_has_at_most_40_files() -> None:
    files = Counter(str(PurePosixPath(path).parent) for path in MODULES)
    limit, wider = BUDGETS["files"]["folder"], BUDGETS["files"]["wider"]
    assert {folder: n for folder, n in files.items() if n > wider.get(folder, limit)} == {}
    assert [folder for folder, n in wider.items() if files[folder] < n] == [], "lower its number in budgets.toml"


def test_few_functions_take_more_than_eight_parameters() -> None:
    assert len(list(wide_functions())) <= BUDGETS["parameters"]["wider_functions"], list(wide_functions())


def test_a_command_has_at_most_15_options_beside_its_groups() -> None:
    assert list(crowded_commands()) == []


def test_few_public_class_names_stand_for_two_things() -> None:
    assert len(shared_class_names()) <= BUDGETS["names"]["shared_classes"], shared_class_names()


def test_python_without_tests_and_tests_stay_within_their_lines() -> None:
    assert sum(text_of(path).count("\n") for path in WITHOUT_TESTS) <= BUDGETS["total"]["lines"]
    tests = (ROOT / "tests").rglob("*.py")
    assert sum(file.read_text("utf-8").count("\n") for file in tests) <= BUDGETS["total"]["tests"]
