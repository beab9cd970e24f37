"""Faults that tests notice become recipes, recipes become cases, and only cases that are affirmed count."""

from itertools import islice
from pathlib import Path

import msgspec
import pytest

from misstep.harness.errors import InputError
from misstep.harness.repair.build import finding, sets
from misstep.harness.repair.build.finding import LEAST_COVERAGE, Wanted, find, oracle_of
from misstep.harness.repair.build.recipes import (
    FaultPlace,
    Recipe,
    changed_lines,
    complexity,
    diff,
    digest,
    faults_at,
    faults_of,
    planted,
    read_recipes,
    sampled,
    write_recipes,
)
from misstep.harness.repair.build.sets import build
from misstep.harness.repair.build.tracing import Traced, failing_files, trace, untouched
from misstep.harness.repair.build.writing import CaseSource, instructions, write_planted
from misstep.harness.repair.case import read_case
from misstep.harness.repair.scoring import open_case
from misstep.harness.workspace import Sandbox
from misstep.harness.workspace.suite.report import SuiteReport
from tests.harness.repair.build.made_up_package import FILES, case_source

LOST = FaultPlace("lost_update", "src/shop.py", "total", 11)
TESTS = [f"tests/test_shop.py::test_{name}" for name in ("nothing", "taxed", "small", "cheapest")]
_, TAXED, SMALL, _ = TESTS
TRACED = Traced({test: {"src/shop.py": [1]} for test in TESTS}, (), 1.0)


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
    monkeypatch.setattr("misstep.harness.repair.build.writing.affirm", lambda *_: pytest.fail("it is made again"))
    assert build([recipe], "tf", tmp_path / "out", sandbox, 1).recipes == (recipe,)


def test_faults_are_found_that_tests_notice_and_the_same_seed_finds_the_same(tmp_path: Path, sandbox: Sandbox) -> None:
    source = case_source(tmp_path)
    first, second = islice(filter(None, find(source, Wanted(), 1, sandbox)), 2)
    for result in (first, second):
        assert result.oracle
        assert all(test.startswith("tests/test_shop.py") for test in result.oracle)
        assert result.coverage is None or LEAST_COVERAGE <= result.coverage <= 1
        assert faults_of(result, source.modules)
    assert next(filter(None, find(source, Wanted(), 1, sandbox, known={first.id}))) == second


def test_the_lines_that_each_test_executes_are_known(tmp_path: Path, sandbox: Sandbox) -> None:
    source = case_source(tmp_path)
    traced = trace(source.tree, source.package, sandbox)
    assert traced.failing == ()
    assert traced.tests_of("src/shop.py", range(8, 9)) == {"tests/test_shop.py::test_nothing"}
    assert traced.tests_of("src/shop.py", range(13, 14)) == {"tests/test_shop.py::test_taxed"}
    assert traced.tests_of("src/rates.py", range(8, 11)) == set()
    assert 1 in traced.lines[""]["src/rates.py"]


def test_instructions_ask_for_the_place_or_spell_out_each_step(tmp_path: Path) -> None:
    source = case_source(tmp_path)
    faults = faults_of(_recipe(source), source.modules)
    broken = planted(faults, source.modules)
    texts = instructions(faults, broken, {path: source.modules[path].source for path in broken})
    assert texts["high_level"] == "Correct `total`: it overwrites a value that it has to add to."
    assert texts["detailed"] == (
        "1. In `src/shop.py`, replace line 11:\n```\n        found = price\n```\nby:\n```\n        found += price\n```"
    )


def test_recipes_are_read_as_they_were_written_and_sampled_evenly(tmp_path: Path) -> None:
    recipes = [
        Recipe(f"{package}-{n}", package, 0, lines, "0", ("t",), (LOST,), None if n else 0.5)
        for package in ("a", "b")
        for lines in (2, 20)
        for n in range(4)
    ]
    recipes = [msgspec.structs.replace(each, id=f"{each.id}-{each.changed_lines}") for each in recipes]
    write_recipes(tmp_path / "r.toml", recipes, "made up")
    assert read_recipes(tmp_path / "r.toml") == sorted(recipes, key=lambda each: each.id)
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


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[SuiteReport]:
    seen: list[SuiteReport] = []
    run = finding.run_suite

    def noted(*given: object) -> SuiteReport:
        seen.append(run(*given))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(finding, "run_suite", noted)
    return seen


def _broken(old: str, new: str) -> dict[str, bytes]:
    assert old in FILES["src/shop.py"]
    return {"src/shop.py": FILES["src/shop.py"].replace(old, new).encode()}


def test_the_oracle_is_what_newly_fails(source: CaseSource, sandbox: Sandbox) -> None:
    broken = _broken("found += price", "found = None")
    assert oracle_of(source, broken, TESTS, TRACED, sandbox) == (SMALL, TAXED)
    known = Traced(TRACED.lines, (SMALL,), 1.0)
    assert oracle_of(source, broken, TESTS, known, sandbox) == (TAXED,)


def test_a_module_of_tests_that_cannot_be_imported_is_the_oracle_as_a_file(source, sandbox) -> None:
    broken = _broken("def cheapest", "def dearest")
    assert oracle_of(source, broken, [TAXED], TRACED, sandbox) == ("tests/test_shop.py",)


def test_where_more_fails_than_an_oracle_has_the_run_ends_and_nothing_is_found(source, sandbox, reports, monkeypatch):
    monkeypatch.setattr(finding, "MOST_TESTS", 1)
    broken = _broken("    if not prices:", "    if prices or tax:\n        raise ValueError")
    assert oracle_of(source, broken, TESTS, TRACED, sandbox) == ()
    assert [report.ran for report in reports] == [2]


def test_tests_that_hang_are_no_oracle(source, sandbox, reports, monkeypatch) -> None:
    monkeypatch.setattr(finding, "_START", 0.5)
    monkeypatch.setattr(finding, "_TIMES", 0.0)
    assert oracle_of(source, _broken("found = 0\n", "found = 0\n    while True: pass\n"), TESTS, TRACED, sandbox) == ()
    assert [report.ended for report in reports] == ["time"]


def test_test_files_of_javascript_are_run_until_too_many_have_failed(source: CaseSource, sandbox: Sandbox) -> None:
    missing = ["a.test.js", "b.test.js", "c.test.js"]
    with open_case(untouched(source.tree, source.package), sandbox) as workspace:
        assert failing_files(workspace, missing) == {*missing}
        assert failing_files(workspace, missing, 1) == {*missing[:2]}
