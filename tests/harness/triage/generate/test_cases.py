"""A generated benchmark of triage cases: whole, readable, the same for the same call, its labels proved."""

import csv
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from misstep_harness.datasets.benchmark import read_benchmark
from misstep_harness.errors import MisstepError, UsageError
from misstep_harness.fault_mappings import FAULTS
from misstep_harness.items import read_items
from misstep_harness.readers import read_file
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.generate import cases as generate
from misstep_harness.triage.generate.cases import TriageOptions, write_triage_cases
from misstep_harness.triage.generate.plans import ALONE, DEFAULT_N, PAIRS, Unit, families, units
from misstep_harness.triage.records import read_triage_cases
from misstep_harness.triage.runs import case_folders
from misstep_harness.triage.runs.case_folders import Proof, make_unit
from misstep_harness.triage.runs.recording import Instance, UnshownError
from misstep_harness.triage.runs.scenarios import Scenario, scenarios
from tests.harness.triage.conftest import OPTIONS

LINE = f"misstep generate triage-cases --n {OPTIONS.n} --seed {OPTIONS.seed} --families development"


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_case_is_a_folder_an_item_and_a_label(cases: Path) -> None:
    folders = {case.id: case for case in read_triage_cases(cases)}
    assert len(folders) == OPTIONS.n
    assert (
        [item.id for item in read_items(cases)] == sorted(folders) == [row["item"] for row in rows(cases, "gold.csv")]
    )
    assert {row["label"] for row in rows(cases, "gold.csv")} <= set(FAULTS)
    assert read_benchmark(cases).origin == (LINE,)
    for case in folders.values():
        (run,) = read_file(case.folder / "trajectory.json")
        assert isinstance(run, Trajectory)
        assert 10 <= sum(len(step.calls) for step in run.steps) <= 60
        assert run.outcome.status == case.file.outcome
        assert {path.name for path in (case.folder / "logs").iterdir()} == {"tests.log", "harness.log"}
        assert all(case.part(part) for part in ("environment", "tests", "solution", "workspace"))


def test_every_label_has_a_proof_whose_runs_all_hold(cases: Path) -> None:
    proofs = [msgspec.json.decode(line, type=Proof) for line in (cases / "proofs.jsonl").read_bytes().splitlines()]
    labels = {row["item"]: row["label"] for row in rows(cases, "gold.csv")}
    assert {proof.item: proof.label for proof in proofs} == labels
    assert all(len(proof.runs) >= 2 and all(check.holds for check in proof.runs) for proof in proofs)


def test_a_unit_made_again_gives_the_same_folders_and_proves_its_labels_again(cases: Path, tmp_path: Path) -> None:
    unit = next(unit for unit in units(OPTIONS.n, OPTIONS.seed, families("development")) if unit.kind != "flaky")
    again = make_unit(unit, tmp_path, {unit.family: "development"})
    assert [row.proof.item for row in again] == list(unit.ids)
    for name in unit.ids:
        assert contents(tmp_path / name) == contents(cases / name)


def test_the_default_has_118_failed_runs_and_every_kind_of_case() -> None:
    drawn = list(units(DEFAULT_N, 0, families("scoring")))
    assert Counter(unit.kind for unit in drawn) == {**PAIRS, **ALONE}
    assert sum(len(unit.ids) for unit in drawn) == DEFAULT_N == 148
    assert sum(len(unit.ids) for unit in drawn if unit.kind in PAIRS) + sum(list(ALONE.values())[:8]) >= 118
    assert len({unit.family for unit in units(DEFAULT_N, 0, families("all"))}) >= 30


def test_a_label_without_proof_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unproved(*_: object, **__: object) -> None:
        raise MisstepError("not proved")

    monkeypatch.setattr(generate, "make_unit", unproved)
    with pytest.raises(MisstepError, match="not proved"):
        write_triage_cases(tmp_path / "cases", OPTIONS, workers=1)
    assert not [path for path in tmp_path.iterdir() if "cases" in path.name]


def shows_at(number: int, tried: list[Unit], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every drawing of a unit before this one show nothing."""

    def shown(unit: Unit, instance: Instance) -> tuple[Scenario, ...]:
        tried.append(unit)
        if len(tried) < number:
            raise UnshownError("two ways of sorting agree")
        return scenarios(unit, instance)

    monkeypatch.setattr(case_folders, "scenarios", shown)


UNIT = Unit("sound_pass", "sales_report", 0, ("run-00000001",), "1/run-00000001", 20)


def test_a_drawing_that_shows_nothing_is_drawn_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Unit] = []
    shows_at(3, tried, monkeypatch)
    (row,) = make_unit(UNIT, tmp_path, {UNIT.family: "development"})
    assert [(unit.seed, unit.turn) for unit in tried] == [(UNIT.seed, 0), (f"{UNIT.seed}/1", 1), (f"{UNIT.seed}/2", 2)]
    assert (row.label, row.proof.drawing, row.proof.item) == ("pass", 2, UNIT.ids[0])


def test_a_unit_that_no_drawing_shows_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Unit] = []
    shows_at(100, tried, monkeypatch)
    with pytest.raises(UnshownError, match="two ways of sorting agree"):
        make_unit(UNIT, tmp_path, {UNIT.family: "development"})
    assert len({unit.seed for unit in tried}) == len(tried) > 3
    assert not list(tmp_path.iterdir())


def test_a_folder_of_something_else_is_let_be(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("mine")
    with pytest.raises(UsageError, match="holds something else"):
        write_triage_cases(tmp_path, OPTIONS)
    with pytest.raises(UsageError, match="holds the output of"):
        write_triage_cases(cases, TriageOptions(9, 5, "development"))
