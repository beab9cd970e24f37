"""The search for new cases is spread over packages, goes on where it ended, and takes only what is affirmed."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from misstep.harness.repair.build import sets
from misstep.harness.repair.build.finding import LEAST_COVERAGE, Wanted
from misstep.harness.repair.build.recipes import FaultPlace, Recipe, read_recipes, recipes_file, write_recipes
from misstep.harness.repair.build.sets import HEADING, LARGEST_SHARE, RECIPES, find_set
from misstep.harness.repair.build.syntax import read_modules
from misstep.harness.repair.build.writing import CaseSource
from misstep.harness.workspace import Sandbox
from tests.harness.repair.build.made_up_package import made_up

PLACE = FaultPlace("lost_update", "src/shop.py", "total", 11)
LINES = {"small": 2, "medium": 20, "large": 60, "": 2}


class _Search:
    """A search whose packages give a set number of recipes, each after one try that gives none."""

    def __init__(self, counts: dict[str, int], monkeypatch: pytest.MonkeyPatch, refused: str = "") -> None:
        self.counts, self.refused = counts, refused
        self.asked: list[str] = []
        packages = {name: made_up(name) for name in counts}
        monkeypatch.setattr(sets, "known_packages", lambda: packages)
        monkeypatch.setattr(
            sets, "open_source", lambda package, _: CaseSource(package, Path(), read_modules("python", {}))
        )
        monkeypatch.setattr(sets, "find", self._find)
        monkeypatch.setattr(sets, "write_planted", lambda recipe, *_: "no" if recipe.id == self.refused else "")

    def _find(
        self, source: CaseSource, wanted: Wanted, seed: int, _: Sandbox, known: set[str]
    ) -> Iterator[Recipe | None]:
        name = source.package.name
        self.asked.append(f"{name} {wanted.category}".strip())
        for number in range(self.counts[name]):
            result = f"{name}-{wanted.category}-{number}"
            if result not in known:
                yield None
                yield Recipe(result, name, seed, LINES[wanted.category], "0", ("t",), (PLACE,))


def _of(recipes: tuple[Recipe, ...], category: str = "small") -> dict[str, int]:
    return Counter(recipe.package for recipe in recipes if recipe.complexity == category)


Found = Callable[[str, int], tuple[Recipe, ...]]


@pytest.fixture
def found(tmp_path: Path, sandbox: Sandbox) -> Found:
    return lambda name, n: find_set(name, n, 0, tmp_path, sandbox, 1).recipes


def test_each_category_is_filled_evenly(monkeypatch: pytest.MonkeyPatch, found: Found) -> None:
    _Search(dict.fromkeys("abcd", 9), monkeypatch)
    made = found("patchgen", 8)
    for category in sets.PATCHES:
        assert _of(made, category) == dict.fromkeys("abcd", 2)


def test_what_one_package_has_not_others_give_up_to_a_quarter_and_no_package_is_searched_anew(monkeypatch, found):
    search = _Search({"a": 99, "b": 99, "c": 1, "d": 99, "e": 99, "f": 99, "g": 1, "h": 1}, monkeypatch)
    assert _of(found("tf", 24)) == {"a": 6, "b": 6, "c": 1, "d": 3, "e": 3, "f": 3, "g": 1, "h": 1}
    assert sorted(search.asked) == sorted(search.counts)


def test_a_search_goes_on_from_the_recipes_that_are_there(tmp_path, monkeypatch, found) -> None:
    search = _Search({"a": 9, "b": 9}, monkeypatch)
    known = [Recipe(f"a--{number}", "a", 7, 2, "0", ("t",), (PLACE,)) for number in range(2)]
    write_recipes(tmp_path / RECIPES, known, HEADING)
    made = found("tf", 4)
    assert _of(made) == {"a": 2, "b": 2}
    assert read_recipes(tmp_path / RECIPES) == sorted(made, key=lambda each: each.id)
    assert {each.seed for each in made if each.package == "a"} == {7}
    assert search.asked == ["b"]


def test_a_case_that_is_not_affirmed_is_not_taken(monkeypatch: pytest.MonkeyPatch, found: Found) -> None:
    _Search({"a": 3}, monkeypatch, refused="a--0")
    assert [each.id for each in found("tf", 2)] == ["a--1", "a--2"]


def test_a_case_that_is_affirmed_when_there_are_enough_leaves_no_folder(tmp_path, sandbox, monkeypatch) -> None:
    _Search({"a": 9, "b": 9}, monkeypatch)
    both = threading.Barrier(2, timeout=30)

    def write_at_once(recipe: Recipe, *_: object) -> str:
        both.wait()
        (tmp_path / recipe.id).mkdir()
        return ""

    monkeypatch.setattr(sets, "write_planted", write_at_once)
    (taken,) = find_set("tf", 1, 0, tmp_path, sandbox, 2).recipes
    assert sorted(place.name for place in tmp_path.iterdir()) == [taken.id, RECIPES]


@pytest.mark.parametrize("category", sets.PATCHES)
def test_the_shipped_set_holds_seventy_patches_of_each_size_from_many_packages(category: str) -> None:
    recipes = [each for each in read_recipes(recipes_file("patchgen")) if each.complexity == category]
    packages = Counter(each.package for each in recipes)
    assert len({each.id for each in recipes}) == len(recipes) == 70
    assert len(packages) >= 8
    assert max(packages.values()) <= 70 * LARGEST_SHARE
    assert len({place.operator for each in recipes for place in each.faults}) >= 12
    assert all(len({place.file for place in each.faults}) == 1 for each in recipes)
    assert all(each.coverage is None or each.coverage >= LEAST_COVERAGE for each in recipes)
