"""Runs that 0.1 recorded are read by this version: its first commits with a kind, and its last."""

import json
import re
import shutil
from pathlib import Path

import pytest

import misstep
from tests.misstep.made_up import atif

RECORDED = Path(__file__).parents[2] / "reference" / "runs_of_0.1"
RUNS = sorted(file.parent.relative_to(RECORDED).as_posix() for file in RECORDED.glob("*/*/run.toml"))


@pytest.fixture
def runs(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the recorded folders; `/runs`, which stands for the folder in which they were made, leads to the copy."""
    shutil.copytree(RECORDED, tmp_path, dirs_exist_ok=True)
    for file in tmp_path.glob("*/*/run.toml"):
        file.write_text(file.read_text("utf-8").replace("/runs", str(file.parents[1])), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("run", RUNS)
def test_a_recorded_run_is_shown_reported_exported_and_opened(run: str, runs: Path, in_process) -> None:
    assert 'misstep = "0.1.0"' in (runs / run / "run.toml").read_text("utf-8")
    lines = [["show", run], ["export", run, "--to", "csv", "--out", "tables"], ["report", run]]
    for line in lines[:2] if run.endswith("curated") else lines:  # no page shows training data
        code, _, error = in_process(*line)
        assert code == 0, (line, error)
    assert misstep.open(run).manifest.misstep == "0.1.0"


@pytest.mark.parametrize("version", ["first", "last"])
def test_classify_goes_on_with_the_sessions_of_the_next_morning(version: str, runs: Path, monkeypatch, in_process):
    monkeypatch.chdir(runs / version)
    with Path("sessions.jsonl").open("ab") as stream:
        stream.write(atif("session-4"))
    code, printed, error = in_process("classify", "sessions.jsonl", "--out", "classify", "--json")
    assert code == 0, error
    assert json.loads(printed)["n"] == 4


def test_what_0_1_left_unfinished_is_refused_with_both_versions(runs: Path, monkeypatch, in_process) -> None:
    manifest = runs / "last/classify/run.toml"
    text = re.sub(r"finished = .*\n|\[written\](.*\n){1,4}", "", manifest.read_text("utf-8"))
    manifest.write_text(text, "utf-8")
    monkeypatch.chdir(runs / "last")
    code, _, error = in_process("classify", "sessions.jsonl", "--out", "classify")
    assert code == 2
    assert f"it was begun by Misstep 0.1.0 and this is {misstep.__version__}" in error
