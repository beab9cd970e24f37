"""Every public definition is reached from a command, a notebook, an example or an entry point.

Tests and benchmarks do not count. Code that is reached reaches what it names, also inside texts such as `module:name`;
names are compared and not followed to their module, so that two definitions of one name are reached together.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from tests.layout.sources import MODULES, NOTEBOOKS, ROOT, code_of, tree_of

_WORD = re.compile(r"[A-Za-z_]\w*")
_TARGET = re.compile(r"\b(?:misstep|studies|analysis|harness)(?:\.\w+)+:(\w+)")
_DOORS = ("misstep/__init__.py", "misstep/__main__.py", "misstep/command_groups.py")
_HOOKS = ("load_ipython_extension", "pytest_configure", "pytest_runtest_call")
"""Names that a framework calls."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def names(node: ast.AST) -> Iterator[str]:
    """List the names that code uses, without those that it only imports."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.alias) and part.asname:
            yield part.name
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) < 200:
            yield from _WORD.findall(part.value) if re.search(r"[.:]", part.value) else [part.value]


def unreached(trees: Mapping[str, ast.Module], doors: Iterator[str]) -> list[str]:
    """List the public functions and classes that nothing reaches, as `path: name`."""
    defined: defaultdict[str, list[tuple[str, ast.AST]]] = defaultdict(list)
    waiting = list(doors)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, _FUNCTIONS):
                defined[node.name].append((path, node))
                is_command = any(re.search("command|callback", ast.unparse(one)) for one in node.decorator_list)
                waiting += [node.name] if is_command and path.startswith("misstep/") else []
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for name in (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)):
                    defined[name].append((path, node))
            else:
                waiting += names(node)
        if path in _DOORS:
            waiting += names(tree)
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += (used for _, node in defined.get(name, ()) for used in names(node))
    return sorted(
        f"{path}: {name}"
        for name, places in defined.items()
        for path, node in places
        if name not in reached and isinstance(node, _FUNCTIONS) and not name.startswith("_")
    )


def doors() -> Iterator[str]:
    """List the names that notebooks, examples, entry points and frameworks use."""
    yield from _HOOKS
    for notebook in NOTEBOOKS:
        yield from names(ast.parse(code_of(notebook)))
    for file in (ROOT / "examples").rglob("*.py"):
        yield from names(ast.parse(file.read_text("utf-8")))
    for room in ("data", "examples", "studies", "harness"):
        for file in (ROOT / room).rglob("*.toml"):
            yield from _TARGET.findall(file.read_text("utf-8"))
    yield from _TARGET.findall((ROOT / "pyproject.toml").read_text("utf-8"))


def test_every_public_definition_is_reached_by_a_user() -> None:
    left = unreached({path: tree_of(path) for path in MODULES}, doors())
    assert left == [], "give it a door, or delete it"
