"""The runs that items are about: each is found once, one at a time, or the reason why not."""

from pathlib import Path

import pytest

from misstep_harness.benchmarks.trajectories import FoundRun, run_in, runs_in
from misstep_harness.items import Item
from misstep_harness.readers import read_file
from tests.misstep.made_up import atif, atif_lines
from tests.misstep.made_up_runs import agents_run, benchmark_of_runs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return benchmark_of_runs(tmp_path / "gates", 3)


def found(folder: Path, path: str, *wanted: tuple[str, str | None]) -> list[FoundRun]:
    return list(runs_in(folder, path, wanted))


def test_runs_as_misstep_writes_them_and_of_any_other_format_are_read(folder, tmp_path):
    assert [run.id for run in read_file(folder / "runs" / "all.jsonl")] == ["run-0", "run-1", "run-2"]
    other = atif_lines(tmp_path / "other.jsonl", ["a", "b"])
    assert [run.id for run in read_file(other)] == ["a", "b"]


def test_a_run_that_several_items_are_about_is_given_once(folder):
    one, other = found(folder, "runs/all.jsonl", ("x", "run-1"), ("y", "run-2"), ("z", "run-1"))
    assert (one.items, one.run) == (("x", "z"), agents_run(1))
    assert (other.items, other.run) == (("y",), agents_run(2))


def test_without_a_run_s_id_it_is_the_one_run_of_the_file_else_the_run_of_the_item_s_own_id(folder):
    (folder / "one.json").write_bytes(atif("any"))
    (alone,) = found(folder, "one.json", ("item-7", None))
    assert alone.run.id == "any"
    (own,) = found(folder, "runs/all.jsonl", ("run-2", None))
    assert own.run.id == "run-2"


def test_an_item_whose_run_is_not_there_says_so(folder):
    (missing,) = found(folder, "runs/all.jsonl", ("x", "run-9"))
    assert missing.run is None
    assert "'run-9'" in missing.reason


@pytest.mark.parametrize("path", ["../secret.json", "runs/none.json", "/etc/hostname", "runs"])
def test_no_path_leads_out_of_the_benchmark_or_to_what_is_no_file(folder, path):
    (folder.parent / "secret.json").write_bytes(atif("secret"))
    (nothing,) = found(folder, path, ("x", None))
    assert nothing.run is None
    assert repr(path) in nothing.reason


@pytest.mark.parametrize("broken", [b"{broken\n", b'{"id": "run-1", "source": {"format": "atif"}, "steps": 3}\n'])
def test_a_broken_run_is_no_error_and_says_where_it_stands(folder, broken):
    file = folder / "runs" / "all.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + broken + lines[2])
    (nothing,) = found(folder, "runs/all.jsonl", ("x", "run-1"))
    assert nothing.run is None
    assert "all.jsonl:2" in nothing.reason


def test_a_run_in_the_item_itself_is_read_and_a_broken_one_is_said():
    item = Item("i", "misbehaviour", {"task": "Mend it.", "steps": [{"role": "agent", "text": "Done."}]})
    assert run_in(item).run.task == "Mend it."
    assert "trajectory" in run_in(Item("i", "misbehaviour", {"steps": 3})).reason
    assert run_in(Item("i", "text", text="no run")).run is None
