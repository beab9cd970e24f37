"""Build the cases of a set, several at a time: from recipes, or by looking for new faults."""

from collections.abc import Sequence
from concurrent.futures import as_completed
from pathlib import Path

from msgspec import Struct

from misstep_harness.progress import say
from misstep_harness.repair.build.datasets import threads
from misstep_harness.repair.build.recipes import Recipe, read_recipes, sampled
from misstep_harness.repair.build.writing import CaseSource, source_of, write_planted
from misstep_harness.workspace import Sandbox

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
