"""Faults that tests notice become recipes, recipes become cases, and only cases that are affirmed count."""

from pathlib import Path

import msgspec
import pytest

from misstep_harness.errors import InputError
from misstep_harness.repair.build import sets
from misstep_harness.repair.build.sets import (
    CaseSource,
    FaultPlace,
    Recipe,
    build,
    changed_lines,
    complexity,
    diff,
    digest,
    faults_at,
    faults_of,
    instructions,
    planted,
    sampled,
    write_planted,
)
from misstep_harness.repair.case import read_case
from misstep_harness.workspace import Sandbox
from tests.harness.repair.build.made_up_package import FILES, case_source

LOST = FaultPlace("lost_update", "src/shop.py", "total", 11)
TESTS = [f"tests/test_shop.py::test_{name}" for name in ("nothing", "taxed", "small", "cheapest")]
_, TAXED, SMALL, _ = TESTS


def _recipe(source: CaseSource, place: FaultPlace = LOST, **fields: object) -> Recipe:
    draft = Recipe("shop-1", "shop", 0, 2, "", ("tests/test_shop.py::test_taxed",), (place,))
    with pytest.raises(InputError, match="make other files"):
        faults_of(draft, source.modules)
    with pytest.raises(InputError, match="no fault at"):
        faults_of(msgspec.structs.replace(draft, faults=(msgspec.structs.replace(LOST, line=99),)), source.modules)
    fault = next(fault for at, fault in faults_at(source.modules[place.file], place.operator) if at == place)
    return msgspec.structs.replace(draft, sha256=digest(planted([fault], source.modules)), **fields)


def test_a_case_is_written_with_its_failure_its_mend_and_where_it_is_from(tmp_path: Path, sandbox: Sandbox) -> None:
    source = case_source(tmp_path)
    recipe = _recipe(source, blamed=True)
    assert write_planted(recipe, source, "patchgen", tmp_path / "out", sandbox) == ""
    case = read_case(tmp_path / "out/shop-1")
    assert "assert 2 == 8" in case.case.task
    assert "found = price" in (case.before / "src/shop.py").read_text()
    assert "+        found += price" in (case.golden() or "")
    assert "+        found = price" in case.case.diffs["1"]
    assert case.case.extra["file"] == "src/shop.py"
    assert "`found = price`" not in case.case.extra["instructions"]["high_level"]
    assert [folder.name for folder in (tmp_path / "out").iterdir()] == ["shop-1"]


def test_a_case_is_made_once_and_not_if_its_oracle_does_not_fail(tmp_path, sandbox, monkeypatch) -> None:
    source = case_source(tmp_path)
    passing = _recipe(source, oracle=("tests/test_shop.py::test_small",))
    assert "passes on the broken tree" in write_planted(passing, source, "tf", tmp_path / "out", sandbox)
    assert not list((tmp_path / "out").iterdir())
    recipe = _recipe(source)
    monkeypatch.setattr(sets, "source_of", lambda _: source)
    assert build([recipe], "tf", tmp_path / "out", sandbox, 1).recipes == (recipe,)
    monkeypatch.setattr("misstep_harness.repair.build.sets.affirm", lambda *_: pytest.fail("it is made again"))
    assert build([recipe], "tf", tmp_path / "out", sandbox, 1).recipes == (recipe,)


def test_instructions_ask_for_the_place_or_spell_out_each_step(tmp_path: Path) -> None:
    source = case_source(tmp_path)
    faults = faults_of(_recipe(source), source.modules)
    broken = planted(faults, source.modules)
    texts = instructions(faults, broken, {path: source.modules[path].source for path in broken})
    assert texts["high_level"] == "Correct `total`: it overwrites a value that it has to add to."
    assert texts["detailed"] == (
        "1. In `src/shop.py`, replace line 11:\n```\n        found = price\n```\nby:\n```\n        found += price\n```"
    )


def test_recipes_are_sampled_evenly_over_packages_and_sizes() -> None:
    recipes = [
        Recipe(f"{package}-{n}-{lines}", package, 0, lines, "0", ("t",), (LOST,))
        for package in ("a", "b")
        for lines in (2, 20)
        for n in range(4)
    ]
    some = sampled(recipes, 4, 0)
    assert {(each.package, each.complexity) for each in some} == {
        (package, size) for package in ("a", "b") for size in ("small", "medium")
    }
    assert sampled(recipes, 4, 0) == some
    assert sampled(recipes, None, 0) == recipes


def test_the_size_of_a_patch_is_what_it_adds_and_removes() -> None:
    patch = diff({"a.py": b"a\n--b\nc\n"}, {"a.py": b"a\n++b\nc\nd\n"})
    assert changed_lines(patch) == 3
    assert [complexity(lines) for lines in (9, 10, 40, 41)] == ["small", "medium", "medium", "large"]


@pytest.fixture
def source(tmp_path: Path) -> CaseSource:
    return case_source(tmp_path)


def _broken(old: str, new: str) -> dict[str, bytes]:
    assert old in FILES["src/shop.py"]
    return {"src/shop.py": FILES["src/shop.py"].replace(old, new).encode()}
