"""Build the cases of a set, several at a time: from recipes, or by looking for new faults.

Trace which lines of a package's sources each of its tests executes: one run of the whole suite, in the sandbox.

For Python lines that run while a module is imported count for every test. For JavaScript node's own coverage is read,
by test file.
"""

import difflib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep_harness.progress import say
from misstep_harness.repair.build.datasets import threads
from misstep_harness.repair.build.packages import Package, known_packages, package_tree
from misstep_harness.repair.build.recipes import Recipe, changed_lines, diff, faults_of, planted, read_recipes, sampled
from misstep_harness.repair.build.syntax import Fault, Module, read_modules
from misstep_harness.repair.case import CASE, CaseFolder, RepairCase, write_case
from misstep_harness.repair.scoring import affirm
from misstep_harness.repair.validators.test_files import is_test_file
from misstep_harness.workspace import Sandbox
from misstep_harness.workspace.suite.report import SuiteReport


def source_files(tree: Path, package: Package) -> dict[str, bytes]:
    """Return the files of a package in which faults may be planted, by path."""
    ends = (".py",) if package.language == "python" else (".js", ".cjs", ".mjs")
    sources: dict[str, bytes] = {}
    for place in (tree / named for named in package.sources):
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            path = file.relative_to(tree).as_posix()
            if file.is_file() and path.endswith(ends) and not is_test_file(path) and "node_modules/" not in path:
                sources[path] = file.read_bytes()
    return sources


TIMEOUT = 60.0
_SHOWN = 6_000
_FAILURES = 3


class CaseSource(Struct, frozen=True):
    """A package ready to be broken: its files on disk, and those in which faults may be."""

    package: Package
    tree: Path
    modules: Mapping[str, Module]


def open_source(package: Package, packages: dict[str, Package]) -> CaseSource:
    """Return a package's files, fetched if they are missing."""
    tree = package_tree(package, packages)
    return CaseSource(package, tree, read_modules(package.language, source_files(tree, package)))


def source_of(recipe: Recipe) -> CaseSource:
    """Return the package that a recipe names."""
    packages = known_packages()
    return open_source(packages[recipe.package], packages)


def write_planted(recipe: Recipe, source: CaseSource, set_name: str, out: Path, sandbox: Sandbox) -> str:
    """Make the case of a recipe in a folder; one that is there already is left as it is."""
    folder = out / recipe.id
    if (folder / CASE).is_file():
        return ""
    faults = faults_of(recipe, source.modules)
    broken = planted(faults, source.modules)
    fixed = {path: source.modules[path].source for path in broken}
    golden = diff(broken, fixed)
    package = source.package
    extra = {
        "set": set_name,
        "package": package.name,
        "version": package.version,
        "licence": package.licence,
        "seed": recipe.seed,
        "faults": msgspec.to_builtins(list(recipe.faults)),
        "changed_lines": changed_lines(golden),
        "complexity": recipe.complexity,
        **({} if recipe.coverage is None else {"coverage": recipe.coverage}),
    }
    if set_name == "patchgen":
        extra |= {"file": min(broken), "instructions": instructions(faults, broken, fixed)}
    diffs = {"1": diff(fixed, broken)} if recipe.blamed else {}
    case = RepairCase(
        recipe.id,
        package.language,
        "",
        package.test_command,
        recipe.oracle,
        TIMEOUT,
        diffs,
        extra,
        evidence="generated",
    )
    draft = out / f".{recipe.id}.{os.getpid()}"
    try:
        shutil.copytree(source.tree, draft / "before", symlinks=True)
        for path, text in broken.items():
            (draft / "before" / path).write_bytes(text)
        write_case(case, draft, golden)
        affirmed = affirm(CaseFolder(case, draft), sandbox)
        if not affirmed.holds:
            return affirmed.reason
        write_case(msgspec.structs.replace(case, task=task_text(affirmed.before[0])), draft, golden)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return ""


def task_text(report: SuiteReport) -> str:
    """Return what an agent is told: the failure as the tests print it (section 4, task-specific instructions)."""
    shown = msgspec.structs.replace(report, failed=report.failed[:_FAILURES])
    more = len(report.failed) - len(shown.failed)
    return (
        "A test fails that is to pass. Find out why and repair the code, not the test.\n\n"
        f"Run Output from Test Failure:\n{shown.feedback(_SHOWN)}\n"
        f"{f'… and {more} more failures.' if more else ''}"
    ).rstrip() + "\n"


def instructions(faults: Iterable[Fault], broken: Mapping[str, bytes], fixed: Mapping[str, bytes]) -> dict[str, str]:
    """Return the two texts, by `high_level` and `detailed`."""
    steps = (f"{number}. {step}" for number, step in enumerate(_steps(broken, fixed), 1))
    return {"high_level": "\n".join(dict.fromkeys(fault.request for fault in faults)), "detailed": "\n".join(steps)}


def _steps(broken: Mapping[str, bytes], fixed: Mapping[str, bytes]) -> Iterable[str]:
    for path in sorted(broken):
        old, new = (text.decode().splitlines() for text in (broken[path], fixed[path]))
        for kind, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            removed, added = ("```\n" + "\n".join(lines) + "\n```" for lines in (old[first:last], new[start:end]))
            where = f"lines {first + 1} to {last}" if last - first > 1 else f"line {first + 1}"
            if kind == "insert":
                after = next((line.strip() for line in reversed(old[:first]) if line.strip()), "")
                place = f"after `{after}` (line {first})" if after else "at the top"
                yield f"In `{path}`, {place}, add:\n{added}"
            elif kind == "delete":
                yield f"In `{path}`, remove {where}:\n{removed}"
            elif kind == "replace":
                yield f"In `{path}`, replace {where}:\n{removed}\nby:\n{added}"


PATCHES = ("small", "medium", "large")


class Built(Struct, frozen=True):
    """What a build came to: the recipes whose cases hold, and id → why the others do not count."""

    recipes: tuple[Recipe, ...]
    refused: dict[str, str]


def build(recipes: Sequence[Recipe], set_name: str, out: Path, sandbox: Sandbox, workers: int) -> Built:
    """Make the cases of recipes, package by package."""
    out.mkdir(parents=True, exist_ok=True)
    sources: dict[str, CaseSource] = {}
    for recipe in recipes:
        if recipe.package not in sources:
            sources[recipe.package] = source_of(recipe)
    sound: list[Recipe] = []
    refused: dict[str, str] = {}
    with threads(workers) as pool:
        waiting = {
            pool.submit(write_planted, recipe, sources[recipe.package], set_name, out, sandbox): recipe
            for recipe in recipes
        }
        for done in as_completed(waiting):
            recipe, why = waiting[done], done.result()
            if why:
                refused[recipe.id] = why
            else:
                sound.append(recipe)
            _tell(len(sound) + len(refused), len(recipes), recipe.id, why)
    return Built(tuple(sorted(sound, key=lambda each: each.id)), refused)


def chosen(set_name: str, n: int | None, seed: int) -> list[Recipe]:
    """Return the recipes to build: all, or `n` by chance (for PatchGen `n` of each category)."""
    recipes = read_recipes(set_name)
    if set_name != "patchgen":
        return sampled(recipes, n, seed)
    groups = ([each for each in recipes if each.complexity == category] for category in PATCHES)
    return [recipe for group in groups for recipe in sampled(group, n, seed)]


def _tell(done: int, of: int, name: str, why: str) -> None:
    say(f"{done} of {of}: {name}{f' does not count: {why}' if why else ''}")
