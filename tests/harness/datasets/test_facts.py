"""Facts of public sets: measured where the whole set is, and then as recorded; else the recorded rows."""

import os
from pathlib import Path

import pytest
from msgspec import Struct

from misstep_harness.datasets import benchmark
from misstep_harness.datasets.benchmark import Facts, from_recorded, whole_folder
from misstep_harness.errors import InputError
from scripts.record_facts import csv_bytes


class Label(Struct, frozen=True):
    """What is said of an item."""

    item: str
    label: str
    score: float | None = None


ROWS = (Label("a, b", "present", 0.5), Label("c", "absent"))


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Facts[Label]:
    """The rows as a recording; the set says the same of `a, b` and the rest is what its file says of `c`."""
    place = tmp_path / "recordings" / "public" / "quixbugs"
    place.mkdir(parents=True)
    (place / "labels.csv").write_bytes(csv_bytes(Label, ROWS))
    monkeypatch.setattr(benchmark, "data_folder", lambda: tmp_path)
    return Facts("quixbugs", "labels", Label, lambda folder: [ROWS[0], Label("c", (folder / "c").read_text())])


def test_without_the_set_the_recorded_rows_are_decoded(recorded, monkeypatch) -> None:
    monkeypatch.setattr(benchmark, "whole_folder", lambda *_: None)
    assert recorded.rows() == ROWS


def test_with_the_set_the_rows_are_measured_and_must_be_those_recorded(recorded, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(benchmark, "whole_folder", lambda *_: tmp_path)
    (tmp_path / "c").write_text("absent")
    assert recorded.rows() == ROWS
    (tmp_path / "c").write_text("present")
    with pytest.raises(InputError, match=r"gives 2 rows, and 2 are recorded; 1 are the same") as error:
        recorded.rows()
    assert "misstep datasets verify quixbugs" in error.value.advice
    assert "python -m scripts.record_facts quixbugs" in error.value.advice


def test_a_set_in_part_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "quixbugs").mkdir()
    (tmp_path / "quixbugs" / "one").touch()
    monkeypatch.setenv("MISSTEP_DATA", os.fspath(tmp_path))
    assert whole_folder("quixbugs") is None


def test_a_note_names_what_measures_again_and_never_a_set_that_cannot_be_fetched_whole(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MISSTEP_DATA", os.fspath(tmp_path))
    assert from_recorded(["taubench"]) == (
        "From recorded labels of taubench; `misstep datasets fetch taubench` measures again.",
    )
    assert from_recorded(["humaneval_codegen16b_samples"]) == ("From recorded labels of humaneval_codegen16b_samples.",)
    assert from_recorded([]) == ()
