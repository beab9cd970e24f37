"""`misstep judge import` as a user runs it: the run is like any other, and the commands for runs take it."""

import json
from pathlib import Path

import pytest

from misstep.judge import app
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import read_manifest, read_verdicts
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up_judges import benchmark

N = 40


judge = command_of(app, raises=True)


@pytest.fixture
def plants(tmp_path: Path) -> Path:
    """Forty items, every other a fruit."""
    return benchmark(tmp_path / "plants", [f"{'an apple' if n % 2 == 0 else 'a leek'} {n}" for n in range(N)])


def theirs(folder: Path, name: str, wrong: int = 0, lacking: int = 0, unread: int = 0) -> Path:
    """A table of verdicts with scores: so many are wrong, so many items are not in it, so many are not label."""
    rows = ["item;label;score;reason"]
    for n in range(N - lacking):
        label = "fruit" if (n % 2 == 0) != (n < wrong) else "vegetable"
        rows.append(f"i{n};{'?' if n >= N - lacking - unread else label};{0.5 if n < wrong else 0.9};because")
    file = folder / f"{name}.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def test_an_imported_run_has_the_files_and_the_scores_of_any_other(tmp_path: Path, plants: Path) -> None:
    file = theirs(tmp_path, "rubric", wrong=4, lacking=3, unread=2)
    done = judge("import", file, "--benchmark", plants, "--out", tmp_path / "run", "--json")
    assert done.exit_code == 1
    scores = json.loads(done.stdout)
    assert (scores["judge"], scores["n"], scores["answered"]) == ("rubric", N, 35)
    assert (scores["unreadable"], scores["failed"]) == (2, 3)
    assert scores["accuracy"]["value"] == pytest.approx(31 / 35)
    assert scores["accuracy_all"]["value"] == pytest.approx(31 / 40)
    names = {"run.toml", "verdicts.jsonl", "scores.json", "scored.json", "report.html"}
    assert {path.name for path in (tmp_path / "run").iterdir()} == names
    manifest = read_manifest(tmp_path / "run")
    assert manifest.settings["imported"] == "a table of verdicts"
    assert [one.rationale for one in read_verdicts(tmp_path / "run")][:2] == ["because", "because"]
    page = (tmp_path / "run" / "report.html").read_text()
    assert "imported from rubric.csv (a table of verdicts)" in page
    assert "2 of these cannot be read as a label" in done.stderr
    assert "3 of 40 items failed; they have no label." in done.stderr


def test_compare_calibrate_and_stability_take_imported_runs(tmp_path: Path, plants: Path) -> None:
    for name, wrong in (("rubric", 2), ("other", 14), ("again", 3)):
        file = theirs(tmp_path, name, wrong)
        named = "--judge=rubric" if name == "again" else f"--judge={name}"
        assert judge("import", file, "--benchmark", plants, "--out", tmp_path / "runs" / name, named).exit_code == 0
    runs = {path.name: path for path in (tmp_path / "runs").iterdir()}
    (pair,) = json.loads(judge("compare", runs["rubric"], runs["other"], "--json").stdout)["pairs"]
    assert (pair["n"], pair["difference"]) == (N, pytest.approx(12 / N))
    result = json.loads(judge("calibrate", runs["rubric"], "--precision", "0.5", "--label", "fruit", "--json").stdout)
    assert result["threshold"] is not None
    repeats = json.loads(judge("compare", runs["rubric"], runs["again"], "--repeats", "--json").stdout)["stability"]
    assert repeats["changed_all"]["value"] == pytest.approx(1 / N)


@pytest.mark.parametrize("mapping", ["1", "=fruit", "1="])
def test_a_mapping_has_two_sides(tmp_path: Path, plants: Path, mapping: str) -> None:
    line = ("import", theirs(tmp_path, "rubric"), "--benchmark", plants, "--out", tmp_path / "run")
    with pytest.raises(UsageError, match="expected THEIRS=OURS"):
        judge(*line, "--label", mapping)
    with pytest.raises(UsageError, match="means 'fruit' already"):
        judge(*line, "--label", "1=fruit", "--label", "1=vegetable")
