"""A small model's run of the loop is run again by its replies: figures that differ from the recording are an error."""

import shutil
from pathlib import Path

import pytest

from misstep.harness.errors import MisstepError
from misstep.studies.reflexive import small_model
from misstep.studies.reflexive.runs import RUNS


def test_a_recorded_figure_that_comes_out_otherwise_is_an_error(tmp_path, monkeypatch) -> None:
    copy = Path(shutil.copytree(small_model.place(), tmp_path / "small_model"))
    monkeypatch.setattr(small_model, "place", lambda: copy)
    assert small_model.run_again() == "12 attempts as recorded."
    figures = (copy / RUNS).read_bytes()
    (copy / RUNS).write_bytes(figures.replace(b'"repeated":7', b'"repeated":8'))
    with pytest.raises(MisstepError, match="the loop differs from its recording"):
        small_model.run_again()
