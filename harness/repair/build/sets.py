"""Build the cases of a set, several at a time: from recipes, or by looking for new faults."""

import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path

from msgspec import Struct

from misstep.harness.errors import MisstepError, SandboxFailed
from misstep.harness.progress import say
from misstep.harness.repair.build.datasets import threads
from misstep.harness.repair.build.finding import Wanted, find
from misstep.harness.repair.build.packages import known_packages
from misstep.harness.repair.build.recipes import Recipe, read_recipes, sampled, write_recipes
from misstep.harness.repair.build.writing import CaseSource, open_source, source_of, write_planted
from misstep.harness.workspace import Sandbox

RECIPES = "recipes.toml"
HEADING = (
    "Recipes of repair cases: places and operators, read by harness/repair/build/recipes.py; no code of a package."
)
PATCHES = ("small", "medium", "large")

_TRIES = 8
"""Candidates tried in a package for each case that is wanted of it, and for one more."""

LARGEST_SHARE = 1 / 4
"""The most of a category that is looked for in one package, unless there are fewer than four."""


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


def find_set(set_name: str, n: int, seed: int, out: Path, sandbox: Sandbox, workers: int) -> Built:
    """Look for `n` new cases, for PatchGen `n` of each category, evenly over the packages; recipes go beside them."""
    out.mkdir(parents=True, exist_ok=True)
    known = read_recipes(out / RECIPES) if (out / RECIPES).is_file() else []
    search = _Search(set_name, n, seed, out, sandbox, known)
    packages = known_packages()
    sources = [open_source(package, packages) for package in packages.values() if not package.only_needed]
    categories = PATCHES if set_name == "patchgen" else ("",)
    share = -(-n // max(1, len(sources)))
    most = max(share, int(LARGEST_SHARE * n))
    for quota in sorted({share, min(2 * share, most), most}):  # a small package may not have its share of faults
        jobs = [(source, category, quota) for source in sources for category in categories]
        with ThreadPoolExecutor(workers) as pool:
            try:
                list(pool.map(lambda job: search.in_package(*job), jobs))
            except BaseException:
                search.stopped.set()
                raise
        if all(search.enough(category) for category in categories):
            break
    return Built(tuple(search.recipes), {})


class _Search:
    def __init__(
        self, set_name: str, n: int, seed: int, out: Path, sandbox: Sandbox, recipes: Iterable[Recipe]
    ) -> None:
        self.set_name, self.n, self.seed, self.out, self.sandbox = set_name, n, seed, out, sandbox
        self.recipes = list(recipes)
        self._tries: dict[tuple[str, str], Iterator[Recipe | None]] = {}
        self.stopped = threading.Event()
        self._lock = threading.Lock()

    def _count(self, category: str, package: str = "") -> int:
        return sum(category in ("", each.complexity) and package in ("", each.package) for each in self.recipes)

    def enough(self, category: str) -> bool:
        """Return whether a category is full, or the search was stopped."""
        return self.stopped.is_set() or self._count(category) >= self.n

    def in_package(self, source: CaseSource, category: str, quota: int) -> None:
        """Look in one package until it has its share, or the category is full."""
        name = source.package.name
        missing = quota - self._count(category, name)
        if missing <= 0 or self.enough(category):
            return
        try:
            for recipe in islice(self._candidates(source, category), _TRIES * (missing + 1)):
                if recipe is not None and self._is_taken(recipe, source, category):
                    missing -= 1
                if missing <= 0 or self.enough(category):
                    return
        except SandboxFailed:
            raise
        except MisstepError as error:
            say(f"misstep: {name}: {error.line()}")

    def _candidates(self, source: CaseSource, category: str) -> Iterator[Recipe | None]:
        """Return what tries on a package give; the next call for it goes on where this one ends."""
        key = source.package.name, category
        if key not in self._tries:
            wanted = Wanted(category, one_file=self.set_name == "patchgen")
            known = {recipe.id for recipe in self.recipes}
            self._tries[key] = find(source, wanted, self.seed, self.sandbox, known)
        return self._tries[key]

    def _is_taken(self, recipe: Recipe, source: CaseSource, category: str) -> bool:
        """Whether the case of a recipe is affirmed and taken; where the category is full by now, none of it is left."""
        why = write_planted(recipe, source, self.set_name, self.out, self.sandbox)
        with self._lock:
            is_new = not why and not self.enough(category)
            if is_new:
                self.recipes.append(recipe)
                write_recipes(self.out / RECIPES, self.recipes, HEADING)
            elif not why:
                shutil.rmtree(self.out / recipe.id)
            _tell(self._count(category), self.n, f"{category} {recipe.id}".strip(), why)
        return is_new


def chosen(set_name: str, file: Path, n: int | None, seed: int) -> list[Recipe]:
    """Return the recipes to build: all, or `n` by chance (for PatchGen `n` of each category)."""
    recipes = read_recipes(file)
    if set_name != "patchgen":
        return sampled(recipes, n, seed)
    groups = ([each for each in recipes if each.complexity == category] for category in PATCHES)
    return [recipe for group in groups for recipe in sampled(group, n, seed)]


def _tell(done: int, of: int, name: str, why: str) -> None:
    say(f"{done} of {of}: {name}{f' does not count: {why}' if why else ''}")
