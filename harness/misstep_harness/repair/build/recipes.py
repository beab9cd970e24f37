"""Read recipes of repair cases: which package, which operators at which places. They hold no code.

    [[case]]
    id = "toolz-1.1.0-0c5f9a12"
    package = "toolz"
    seed = 0
    changed_lines = 2
    coverage = 1.0
    blamed = true
    sha256 = "…"
    oracle = ["toolz/tests/test_itertoolz.py::test_partition"]
    faults = [{ operator = "off_by_one", file = "toolz/itertoolz.py", function = "partition", line = 700, choice = 0 }]

`changed_lines` are those that the golden patch adds and removes; `coverage` is the share of the lines that it touches
which the oracle executes; `sha256` is that of the broken files, so that an operator that has changed is noticed.
"""

import difflib
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random

import msgspec
from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.places import data_folder
from misstep_harness.repair.build.operators import OPERATORS
from misstep_harness.repair.build.syntax import Edit, Fault, Module, with_edits

SMALL, LARGE = 10, 40


class FaultPlace(Struct, frozen=True, forbid_unknown_fields=True):
    """Which of the faults of an operator it is: the `choice`-th of those on a line."""

    operator: str
    file: str
    function: str
    line: int
    choice: int = 0


class Recipe(Struct, frozen=True, forbid_unknown_fields=True):
    """How one case is made; the module says what the fields mean."""

    id: str
    package: str
    seed: int
    changed_lines: int
    sha256: str
    oracle: tuple[str, ...]
    faults: tuple[FaultPlace, ...]
    coverage: float | None = None
    blamed: bool = False

    @property
    def complexity(self) -> str:
        """`small`, `medium` or `large`, by the lines that the golden patch changes."""
        return complexity(self.changed_lines)


class _Recipes(Struct, forbid_unknown_fields=True):
    case: list[Recipe] = []


def complexity(changed_lines: int) -> str:
    """Return the category of a patch by its changed lines (section 5.1)."""
    return "small" if changed_lines < SMALL else "medium" if changed_lines <= LARGE else "large"


def read_recipes(set_name: str) -> list[Recipe]:
    """Return the project's recipes of a set."""
    file = data_folder() / "repair" / f"{set_name}.toml"
    return msgspec.toml.decode(file.read_bytes(), type=_Recipes).case


def sampled(recipes: list[Recipe], n: int | None, seed: int) -> list[Recipe]:
    """Return all of them, or `n` by chance, spread evenly over packages and categories."""
    if n is None or n >= len(recipes):
        return recipes
    random = Random(seed)  # noqa: S311 -- a sample, no secret
    groups: dict[tuple[str, str], list[Recipe]] = {}
    for recipe in sorted(recipes, key=lambda each: each.id):
        groups.setdefault((recipe.complexity, recipe.package), []).append(recipe)
    for group in groups.values():
        random.shuffle(group)
    order = list(groups.values())
    random.shuffle(order)
    rounds = [group[number] for number in range(max(map(len, order))) for group in order if number < len(group)]
    return sorted(rounds[:n], key=lambda each: each.id)


def faults_at(module: Module, operator: str) -> Iterable[tuple[FaultPlace, Fault]]:
    """Return every fault of an operator in a module, with its place."""
    counts: Counter[int] = Counter()
    for fault in OPERATORS[operator].faults(operator, module):
        yield FaultPlace(operator, module.path, fault.function, fault.line, counts[fault.line]), fault
        counts[fault.line] += 1


def planted(faults: Iterable[Fault], modules: Mapping[str, Module]) -> dict[str, bytes]:
    """Return the files that faults change, by path."""
    edits: dict[str, tuple[Edit, ...]] = {}
    for fault in faults:
        edits |= {path: (*edits.get(path, ()), *some) for path, some in fault.edits.items()}
    broken = {path: with_edits(modules[path].source, some) for path, some in edits.items()}
    return {path: text for path, text in broken.items() if text != modules[path].source}


def faults_of(recipe: Recipe, modules: Mapping[str, Module]) -> list[Fault]:
    """Return the faults that a recipe names."""
    faults: list[Fault] = []
    for place in recipe.faults:
        known = faults_at(modules[place.file], place.operator) if place.file in modules else ()
        fault = next((fault for at, fault in known if at == place), None)
        if fault is None:
            raise InputError(f"{recipe.id}: {place.operator} has no fault at {place.file}:{place.line}")
        faults.append(fault)
    if digest(planted(faults, modules)) != recipe.sha256:
        raise InputError(f"{recipe.id}: its operators make other files than they did when the recipe was written")
    return faults


def digest(files: Mapping[str, bytes]) -> str:
    """Return a hash of files with their paths."""
    hashed = hashlib.sha256()
    for path, text in sorted(files.items()):
        hashed.update(f"{path}\0{len(text)}\0".encode() + text)
    return hashed.hexdigest()


def diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return the change of files as git writes it; all of them end with a line end."""
    parts = []
    for path in sorted(before):
        old, new = (text.decode().splitlines(keepends=True) for text in (before[path], after[path]))
        lines = list(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))
        parts += [f"diff --git a/{path} b/{path}\n", *lines] if lines else []
    return "".join(parts)


def changed_lines(patch: str) -> int:
    """Return the lines that a unified diff adds and removes."""
    signs = [line for line in patch.split("\n") if line[:1] in ("+", "-")]
    return len(signs) - 2 * patch.count("diff --git ")
