"""What a user reaches, followed from definition to definition: a name is resolved in the module that uses it.

`python -m tests.layout.reached [PATH…]` lists what nothing reaches, also if the modules at the paths went, with the
lines of each.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.layout.sources import MODULES, NOTEBOOKS, ROOT, code_of, module_name, tree_of

Target = tuple[str, str]
"""A module and a name in it; an empty name is the module itself."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOTTED = re.compile(r"misstep(?:_harness|_analysis)?(?:\.\w+)+(?::\w+)?")
_HOOKS = ("load_ipython_extension", "pytest_configure", "pytest_runtest_call")
"""Names that a framework calls."""


@dataclass
class Module:
    """One module: what it defines, what it does when it is imported, and where its names lead."""

    path: str
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    body: list[ast.stmt] = field(default_factory=list)
    names: dict[str, Target] = field(default_factory=dict)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements([*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])])
            for handler in getattr(node, "handlers", []):
                yield from _statements(handler.body)
        yield node


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.TypeAlias if sys.version_info >= (3, 12) else ()):
        return [node.name.id]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    return []


def _module_of(path: str, tree: ast.Module) -> Module:
    module = Module(path)
    for node in _statements(tree.body):
        names = _defined(node)
        registers = isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and any(
            re.search(r"command|callback|register|fixture|hookimpl", ast.unparse(one)) for one in node.decorator_list
        )
        for name in names:
            module.definitions.setdefault(name, []).append(node)
        if registers or (not names and not isinstance(node, ast.Import | ast.ImportFrom | ast.If | ast.Try | ast.With)):
            module.body.append(node)
        elif isinstance(node, ast.If | ast.With):
            module.body.append(ast.Expr(node.test if isinstance(node, ast.If) else node.items[0].context_expr))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            module.names |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                module.names[alias.asname or top] = (alias.name if alias.asname else top, "")
    return module


class Uses(NamedTuple):
    """What a piece of code names: dotted chains by their first name, single names, attributes of anything, texts."""

    chains: frozenset[tuple[str, tuple[str, ...]]]
    names: frozenset[str]
    attributes: frozenset[str]
    texts: frozenset[str]


_USES: dict[ast.AST, Uses] = {}


def uses_of(node: ast.AST) -> Uses:
    """Return what a piece of code names."""
    if node not in _USES:
        chains, names, attributes, texts, bases = set(), set(), set(), set(), set()
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute):
                attributes.add(part.attr)
                chain, base = [part.attr], part.value
                while isinstance(base, ast.Attribute):
                    chain.append(base.attr)
                    base = base.value
                if isinstance(base, ast.Name):
                    bases.add(base)
                    chains.add((base.id, tuple(chain[::-1])))
            elif isinstance(part, ast.Name) and part not in bases:
                names.add(part.id)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                texts.add(part.value)
        _USES[node] = Uses(*map(frozenset, (chains, names, attributes, texts)))
    return _USES[node]


class Walk:
    """A walk from the doors through all that they use."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self.modules = {module_name(path): _module_of(path, tree) for path, tree in trees.items()}
        self.files = {path.rsplit("/", 1)[-1]: module_name(path) for path in trees}
        self.attributes = {name for tree in trees.values() for name in uses_of(tree).attributes}
        self.reached: set[Target] = set()
        self._waiting: list[Target] = []

    def _resolved(self, target: Target) -> Target:
        """Turn a name that a package does not have into the module below it."""
        module, name = target
        below = f"{module}.{name}"
        own = self.modules.get(module)
        has = own is not None and (name in own.definitions or own.names.get(name, target) != target)
        return (below, "") if below in self.modules and not has else target

    def enter(self, target: Target) -> None:
        """Reach a definition, or a whole module."""
        target = self._resolved(target)
        if target[0] in self.modules and target not in self.reached:
            self.reached.add(target)
            self._waiting.append(target)

    def enter_code(self, node: ast.AST, names: Mapping[str, Target], own: str) -> None:
        """Reach whatever code uses: `names` says where a name that it does not define leads."""
        uses = uses_of(node)
        for base, chain in uses.chains:
            module, inner = self._resolved(names.get(base, ("", base)))
            if module and not inner:
                self._enter_chain(module, list(chain))
            else:
                self._enter_name(base, names, own)
        for name in uses.names:
            self._enter_name(name, names, own)
        for text in uses.texts:
            self.enter_text(text)

    def _enter_name(self, name: str, names: Mapping[str, Target], own: str) -> None:
        if name in names:
            self.enter(names[name])
        elif own in self.modules and name in self.modules[own].definitions:
            self.enter((own, name))

    def _enter_chain(self, module: str, chain: list[str]) -> None:
        while chain:
            module, name = self._resolved((module, chain.pop(0)))
            if name:
                self.enter((module, name))
                return
        self.enter((module, ""))

    def enter_text(self, text: str) -> None:
        """Reach what a text names by a dotted path, or by its file."""
        if len(text) < 200:
            for found in _DOTTED.findall(text):
                path, _, name = found.partition(":")
                if path not in self.modules and path.rpartition(".")[0] in self.modules:
                    path, _, name = path.rpartition(".")
                self.enter((path, name))
            if text.endswith(".py") and text in self.files:
                self.enter((self.files[text], ""))

    def finish(self) -> None:
        """Follow all that waits."""
        while self._waiting:
            name, inner = self._waiting.pop()
            module = self.modules[name]
            self._enter_body(name, module)
            if not inner:
                for one in module.definitions:
                    if one in self.attributes or one == "main" or f"{name}.{one}" in self.modules:
                        self.enter((name, one))
                for one in module.names.keys() & self.attributes:
                    if name.count(".") == 1 or module.path.endswith("__init__.py"):
                        self.enter(module.names[one])
            elif inner in module.definitions:
                for node in module.definitions[inner]:
                    self.enter_code(node, module.names, name)
            elif inner in module.names:
                self.enter(module.names[inner])

    def _enter_body(self, name: str, module: Module) -> None:
        if (name, "<body>") not in self.reached:
            self.reached.add((name, "<body>"))
            for node in module.body:
                for one in _defined(node):
                    self.enter((name, one))
                self.enter_code(node, module.names, name)
            parent = name.rpartition(".")[0]
            if parent in self.modules:
                self._enter_body(parent, self.modules[parent])


def walked(trees: Mapping[str, ast.Module]) -> Walk:
    """Walk from commands, notebooks, examples, entry points and texts that name code."""
    walk = Walk(trees)
    for name, module in walk.modules.items():
        for hook in module.definitions.keys() & {*_HOOKS}:
            walk.enter((name, hook))
    for door in ("misstep", "misstep.__main__", "misstep.command_line"):
        if door in walk.modules:
            walk.enter((door, ""))
            for name in walk.modules[door].definitions:
                walk.enter((door, name))
    walk.enter(("misstep_harness.readers.interchange.atif", "from_atif"))  # the inverse of what is written
    codes = [code_of(notebook) for notebook in NOTEBOOKS]
    codes += [file.read_text("utf-8") for file in (ROOT / "examples").rglob("*.py")]
    for code in codes:
        tree = ast.parse(code)
        walk.enter_code(tree, _module_of("", tree).names, "")
    texts = [file for room in ("data", "examples", "analysis", "harness") for file in (ROOT / room).rglob("*.toml")]
    for file in [*texts, ROOT / "pyproject.toml"]:
        for found in re.findall(r"misstep(?:_harness|_analysis)?(?:\.\w+)+(?:[:.]\w+)?", file.read_text("utf-8")):
            walk.enter_text(found)
    walk.finish()
    return walk


def unreached(trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, str, int]]:
    """List the public functions and classes that nothing reaches: path, name and lines."""
    walk = walked(trees)
    for name, module in walk.modules.items():
        for one, nodes in module.definitions.items():
            if (name, one) not in walk.reached and isinstance(nodes[0], (*_FUNCTIONS, ast.ClassDef)):
                yield module.path, one, sum((node.end_lineno or 0) - node.lineno + 1 for node in nodes)


def main() -> None:
    """Print what nothing reaches, and the sum of its lines."""
    gone = set(sys.argv[1:])
    left = {path: tree_of(path) for path in MODULES if path not in gone}
    total = 0
    for path, name, lines in sorted(unreached(left)):
        total += lines
        print(f"{path}: {name} {lines}")  # noqa: T201
    print(f"{total} lines")  # noqa: T201


if __name__ == "__main__":
    main()
