"""`docs/registries.md` has each registry of the code, with the signature that a plug-in has."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from misstep_harness.registry import Registry

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "registries.md").read_text("utf-8")
ROOTS = ("harness", "analysis")
WRITTEN = {"misstep.judges": ("misstep_harness.protocols", "Judge")}
"""Registries of whatever fits: group → the protocol that a plug-in is written by."""


@cache
def modules() -> dict[str, ast.Module]:
    """Return dotted name → tree of each module that may hold a registry or a protocol."""
    files = [(root, file) for root in ROOTS for file in sorted((TOP / root).rglob("*.py"))]
    names = {".".join(file.relative_to(TOP / root).with_suffix("").parts): file for root, file in files}
    return {name.removesuffix(".__init__"): ast.parse(file.read_text("utf-8")) for name, file in names.items()}


def registries() -> Iterator[tuple[str, str, str]]:
    """Return the module, the name and the type of the entries of each registry."""
    for module, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                annotation = node.annotation
                text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
                if match := re.fullmatch(r"Registry\[(.+)\]", str(text)):
                    yield module, node.target.id, match[1]


def signature(module: str, entry: str) -> str:
    """Return the type of an entry, and the members of the protocols, structs and aliases that it names."""
    lines, done = [entry], set[str]()
    waiting = re.findall(r"[A-Z]\w+", entry)
    while waiting:
        name = waiting.pop(0)
        node = None if name in done else definition(module, name)
        done.add(name)
        if isinstance(node, ast.Assign):
            lines.append(ast.unparse(node))
            waiting += re.findall(r"[A-Z]\w+", ast.unparse(node.value))
        elif isinstance(node, ast.ClassDef) and is_shown(node, entry):
            lines += ["", f"class {name}:", *(f"    {line}" for line in members(node))]
    return "\n".join(lines)


def definition(module: str, name: str) -> ast.stmt | None:
    """Return the class or alias of a name: of the module itself, else of the module that it imports the name from."""
    for node in modules()[module].body if module in modules() else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return definition(str(node.module), name)
    return None


def is_shown(node: ast.ClassDef, entry: str) -> bool:
    """Return whether members of a class are part of a signature: of a protocol, and of a record that is the entry."""
    bases = {ast.unparse(base).partition("[")[0] for base in node.bases}
    return "Protocol" in bases or ("Struct" in bases and entry.startswith(node.name))


def members(node: ast.ClassDef) -> Iterator[str]:
    """Return the annotated members of a class, and the heads of its methods."""
    for member in node.body:
        if isinstance(member, ast.AnnAssign):
            yield f"{ast.unparse(member.target)}: {ast.unparse(member.annotation)}"
        elif isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and not member.name.startswith("_"):
            if any(ast.unparse(one) == "property" for one in member.decorator_list):
                yield f"{member.name}: {ast.unparse(member.returns)}" if member.returns else member.name
            else:
                head = "async def" if isinstance(member, ast.AsyncFunctionDef) else "def"
                result = ast.unparse(member.returns) if member.returns else "None"
                yield f"{head} {member.name}({ast.unparse(member.args)}) -> {result}"


@pytest.mark.parametrize(("module", "name", "entry"), [*registries()], ids=lambda part: str(part).rpartition(".")[2])
def test_the_page_has_each_registry_with_its_group_place_and_signature(module: str, name: str, entry: str) -> None:
    registry = getattr(import_module(module), name)
    assert isinstance(registry, Registry)
    section = next((part for part in PAGE.split("\n## ") if part.startswith(f"`{registry.group}`")), "")
    assert f"`{module}:{name}`" in section
    shown = signature(*WRITTEN.get(registry.group, (module, entry)))
    assert as_formatted(f"```python\n{shown}\n```") in as_formatted(section)


def as_formatted(text: str) -> str:
    """Return a text without what may differ: blanks, and the quotes of annotations."""
    return " ".join(text.replace("'", "").replace('"', "").split())


def test_the_page_has_no_registry_that_is_gone() -> None:
    groups = {getattr(import_module(module), name).group for module, name, _ in registries()}
    assert set(re.findall(r"^## `(misstep\.[\w.]+)`", PAGE, re.MULTILINE)) == groups
