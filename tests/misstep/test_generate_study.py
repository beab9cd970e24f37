"""`misstep generate trajectories --study`: a benchmark with episodes and ratings, the same by any number of workers."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from misstep.__main__ import app
from misstep.harness.datasets.benchmark import read_benchmark
from misstep.harness.errors import UsageError
from misstep.harness.generate.sessions import generate_sessions
from misstep.harness.readers import read_file
from misstep.harness.runs import generate as generation
from misstep.harness.runs.generate import GenerateOptions, write_folder

OPTIONS = GenerateOptions(40, 4, study=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("study") / "forty"
    write_folder(out, OPTIONS)
    return out


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_study_is_read_back_as_the_sessions_that_were_generated(folder: Path) -> None:
    assert list(read_file(folder / "trajectories.jsonl")) == [
        case.trajectory for case in generate_sessions(40, 4, study=True)
    ]
    assert read_benchmark(folder).origin == (
        "misstep generate trajectories --study --n 40 --seed 4 --wordings scoring",
    )


def test_every_session_has_its_version_time_and_rating_and_every_misbehaviour_its_episode(folder: Path) -> None:
    cases = list(generate_sessions(40, 4, study=True))
    sessions = rows(folder / "sessions.csv")
    assert [(row["item"], row["version"], row["started"]) for row in sessions] == [
        (case.trajectory.id, case.trajectory.model, case.started) for case in cases
    ]
    assert {row["liked"] for row in sessions} <= {"", "yes", "no"}
    assert [
        (row["item"], row["category"], int(row["onset"]), int(row["last"]))
        for row in rows(folder / "gold_episodes.csv")
    ] == [(case.trajectory.id, one.category, one.onset, one.last) for case in cases for one in case.episodes]


def test_two_workers_write_the_bytes_of_one(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "_PART", 7)
    write_folder(tmp_path / "two", OPTIONS, workers=2)
    written = {path.name: path.read_bytes() for path in (tmp_path / "two").iterdir()}
    assert written == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_command_says_what_each_part_plants(tmp_path: Path) -> None:
    line = ["generate", "trajectories", "--study", "--n", "60", "--seed", "4", "--out", str(tmp_path / "out"), "--json"]
    document = json.loads(CliRunner().invoke(app, line).stdout)
    assert document["n"] == 60
    assert document["variants"]["plain"]["plants"] == []
    assert document["variants"]["polling"]["plants"] == []
    assert "tool_call_failure" in document["variants"]["rejected_replies"]["plants"]


def test_a_study_is_not_lengthened(tmp_path: Path) -> None:
    asked = ["generate", "trajectories", "--study", "--n", "6", "--bytes-each", "9000", "--out", str(tmp_path / "out")]
    assert isinstance(CliRunner().invoke(app, asked).exception, UsageError)
