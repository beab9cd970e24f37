"""The runs in a file, by their ids, whoever wrote it."""

import json
from pathlib import Path

import pytest

from misstep_harness.benchmarks.trajectories import runs_by_id
from misstep_harness.errors import InputError
from tests.misstep.made_up import atif_lines


def own(folder: Path, *runs: dict[str, object]) -> Path:
    """A file as Misstep writes runs into a benchmark."""
    file = folder / "runs.jsonl"
    file.write_text(
        "".join(json.dumps({"source": {"format": "atif"}, "task": "t", "steps": []} | run) + "\n" for run in runs)
    )
    return file


def test_a_run_of_many_is_found_by_its_id(tmp_path: Path) -> None:
    runs = runs_by_id(own(tmp_path, *({"id": f"run-{n}", "task": f"task {n}"} for n in range(30))))
    assert list(runs) == [f"run-{n}" for n in range(30)]
    assert [runs[name].task for name in ("run-29", "run-0", "run-7")] == ["task 29", "task 0", "task 7"]
    assert "run-30" not in runs


def test_a_run_that_cannot_be_read_is_named_with_its_line_when_it_is_looked_at(tmp_path: Path) -> None:
    runs = runs_by_id(own(tmp_path, {"id": "good"}, {"id": "bad", "steps": [{"role": 3}]}))
    assert runs["good"].id == "good"
    with pytest.raises(InputError, match=r"runs\.jsonl:2: the run cannot be read"):
        runs["bad"]


@pytest.mark.parametrize("line", ["{}", "{broken", '{"id": "other", "steps": 3}'])
def test_a_line_that_cannot_be_read_counts_and_is_named_when_a_run_that_is_not_there_is_looked_for(tmp_path, line):
    file = own(tmp_path, {"id": "good"})
    with file.open("a") as stream:
        stream.write(f"{line}\n")
    runs = runs_by_id(file)
    assert (runs["good"].id, len(runs)) == ("good", 2)
    with pytest.raises(InputError, match=r"runs\.jsonl:2: the run cannot be read"):
        runs["other"]


def test_of_a_file_of_another_format_with_a_run_a_line_only_the_run_that_is_looked_at_is_held(tmp_path: Path) -> None:
    file = atif_lines(tmp_path / "runs.jsonl", [f"run-{n}" for n in range(30)])
    runs = runs_by_id(file)
    assert list(runs) == [f"run-{n}" for n in range(30)]
    assert [runs[name].source.line for name in ("run-29", "run-0", "run-7")] == [30, 1, 8]
    with pytest.raises(KeyError):
        runs["run-30"]
    file.write_text("")
    with pytest.raises(InputError, match=r"runs\.jsonl:4: the run 'run-3' is no longer in the file"):
        runs["run-3"]
