"""`misstep generate`: what is written can be read, is the same for the same call, and replaces nothing."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from misstep.command_line import app
from misstep_analysis.gold import BenchmarkItem, read_gold, read_marked_errors
from misstep_harness.datasets.benchmark import read_benchmark
from misstep_harness.errors import InputError, UsageError
from misstep_harness.generate.session import CATEGORIES
from misstep_harness.generate.sessions import Case, generate_sessions
from misstep_harness.generate.voice import WordingSet
from misstep_harness.items import read_items
from misstep_harness.journal.run_folder import locked
from misstep_harness.readers import read_file
from misstep_harness.runs import generate as generation
from misstep_harness.runs.generate import GenerateOptions, write_folder

NAMES = {"benchmark.toml", "gold.csv", "gold_errors.jsonl", "gold_variants.csv", "items.jsonl", "trajectories.jsonl"}


def run(out: Path, *more: str, n: int = 30, seed: int = 4) -> Result:
    arguments = ["generate", "trajectories", "--n", str(n), "--seed", str(seed), "--out", str(out), *more]
    return CliRunner().invoke(app, arguments)


def generated(n: int, seed: int, wordings: WordingSet = "scoring") -> list[Case]:
    """The cases that the command writes."""
    return list(generate_sessions(n, seed, wordings))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated") / "thirty"
    write_folder(out, GenerateOptions(30, 4))
    return out


def test_the_file_is_read_back_as_the_trajectories_that_were_generated(folder: Path) -> None:
    read = list(read_file(folder / "trajectories.jsonl"))
    assert read == [case.trajectory for case in generated(30, 4)]


def test_the_folder_is_a_benchmark_with_one_item_and_label_a_trajectory_and_category(folder: Path) -> None:
    benchmark = read_benchmark(folder)
    assert set(contents(folder)) == NAMES
    assert (benchmark.kind, benchmark.positive, benchmark.raters) == ("misbehaviour", "yes", ("construction",))
    assert benchmark.counts == {"items": 120, "labels": 120, "trajectories": 30}
    assert benchmark.origin == ("misstep generate trajectories --n 30 --seed 4 --wordings scoring",)
    cases = generated(30, 4)
    truth = {f"{case.trajectory.id}/{name}": case.truth[name] for case in cases for name in CATEGORIES}
    assert [item.id for item in read_items(folder, BenchmarkItem)] == list(truth)
    assert {label.item: label.label == "yes" for label in read_gold(folder)} == truth
    assert {(error.trajectory, error.label, error.step) for error in read_marked_errors(folder)} == {
        (case.trajectory.id, name, step) for case in cases for name, steps in case.evidence.items() for step in steps
    }


def test_the_variant_of_every_trajectory_is_told_to_those_who_may_see_the_truth(folder: Path) -> None:
    variants = [(row["trajectory"], row["variant"]) for row in rows(folder / "gold_variants.csv")]
    assert variants == [(case.trajectory.id, case.variant) for case in generated(30, 4)]
    shown = (folder / "trajectories.jsonl").read_text() + (folder / "items.jsonl").read_text()
    assert not any(f'"{variant}"' in shown for _, variant in variants)


def test_the_same_call_gives_the_same_bytes_anywhere_and_again(folder: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert run(tmp_path / "again").exit_code == 0
        assert contents(tmp_path / "again") == contents(folder)


def test_what_is_printed_counts_categories_and_variants_and_says_that_it_is_generated(tmp_path: Path) -> None:
    printed = run(tmp_path / "out", n=120).stdout
    assert "generated: 120 trajectories, seed 4, scoring wordings" in printed
    assert all(name in printed for name in (*CATEGORIES, "none (clean)", "polling", "repeat_paragraph"))


def test_json_counts_what_was_planted(tmp_path: Path) -> None:
    result = run(tmp_path / "out", "--json", n=50)
    document: dict[str, Any] = json.loads(result.stdout)
    cases = generated(50, 4)
    assert (document["evidence"], document["n"], document["seed"]) == ("generated", 50, 4)
    assert document["bytes"] == (tmp_path / "out" / "trajectories.jsonl").stat().st_size
    assert document["clean"]["count"] == sum(not any(case.truth.values()) for case in cases)
    for category in CATEGORIES:
        planted = sum(case.truth[category] for case in cases)
        assert document["categories"][category] == {"count": planted, "share": planted / 50}
    assert document["variants"]["plain"] == {"count": sum(case.variant == "plain" for case in cases), "plants": []}


def test_wordings_for_development_are_asked_for_by_name(folder: Path, tmp_path: Path) -> None:
    document: dict[str, Any] = json.loads(run(tmp_path / "out", "--wordings", "development", "--json").stdout)
    assert document["wordings"] == "development"
    read = list(read_file(tmp_path / "out" / "trajectories.jsonl"))
    assert read == [case.trajectory for case in generated(30, 4, "development")]
    assert not {one.id for one in read} & {one.id for one in read_file(folder / "trajectories.jsonl")}
    assert isinstance(run(tmp_path / "out").exception, UsageError)
    assert run(tmp_path / "other", "--wordings", "both").exit_code == 2


@pytest.mark.parametrize("call", [{"n": 31}, {"seed": 5}])
def test_the_output_of_another_call_is_left_alone(tmp_path: Path, call: dict[str, int]) -> None:
    out = tmp_path / "out"
    run(out, n=5)
    before = contents(out)
    result = run(out, **call)
    assert isinstance(result.exception, UsageError)
    assert "--n 5 --seed 4" in str(result.exception)
    assert contents(out) == before


@pytest.mark.parametrize("name", ["notes.txt", "trajectories.jsonl", "gold.csv", "benchmark.toml"])
def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine = 1\n")
    assert isinstance(run(tmp_path).exception, UsageError)
    assert contents(tmp_path) == {name: b"mine = 1\n"}


@pytest.mark.parametrize(("place", "error"), [("file", UsageError), ("file/below", InputError)])
def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path, place, error) -> None:
    (tmp_path / "file").write_text("")
    result = run(tmp_path / place)
    assert isinstance(result.exception, error)
    assert str(tmp_path / place) in str(result.exception)


def test_a_run_that_breaks_off_leaves_nothing_that_looks_complete_and_the_same_call_finishes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*asked: Any, **how: Any) -> Any:
        yield from list(generate_sessions(*asked, **how))[:7]
        raise KeyboardInterrupt

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(generation, "generate_sessions", stopped)
        result = run(out)
    assert result.exit_code == 130
    assert "starts anew" in result.stderr
    assert not set(contents(out)) & NAMES
    assert run(out).exit_code == 0
    assert contents(out) == contents(folder)


def test_what_a_killed_run_left_is_written_over(folder: Path, tmp_path: Path) -> None:
    (tmp_path / ".benchmark.toml.part").write_text("")
    (tmp_path / ".gold.csv.part").write_text("half a li")
    (tmp_path / "items.jsonl").write_text("")
    assert run(tmp_path).exit_code == 0
    assert {name: text for name, text in contents(tmp_path).items() if name in NAMES} == contents(folder)
    assert not (tmp_path / ".gold.csv.part").exists()


def test_lines_are_written_as_they_are_generated_so_that_memory_does_not_grow_with_their_number(tmp_path, monkeypatch):
    sizes: list[int] = []

    def watched(*asked: Any, **how: Any) -> Any:
        for case in generate_sessions(*asked, **how):
            sizes.append((tmp_path / "out" / ".trajectories.jsonl.part").stat().st_size)
            yield case

    monkeypatch.setattr(generation, "generate_sessions", watched)
    write_folder(tmp_path / "out", GenerateOptions(40, 4))
    assert sizes[0] == 0
    assert sizes[-1] > 25 * 10_000


def test_two_processes_never_write_one_folder_at_once(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    code = (
        "import sys; from pathlib import Path; from misstep_harness.runs.generate import GenerateOptions, write_folder"
    )
    code += "; write_folder(Path(sys.argv[1]), GenerateOptions(3, 1))"
    with locked(tmp_path / "out" / ".benchmark.toml.part"):
        other = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], capture_output=True, text=True)
    assert "another process is writing" in other.stderr
    assert [file.name for file in (tmp_path / "out").iterdir()] == [".benchmark.toml.part"]
    write_folder(tmp_path / "out", GenerateOptions(3, 1))
    assert read_benchmark(tmp_path / "out").counts["trajectories"] == 3


STUDY = GenerateOptions(40, 4, study=True)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("study") / "forty"
    write_folder(out, STUDY)
    return out


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_study_is_read_back_as_the_sessions_that_were_generated(study: Path) -> None:
    assert list(read_file(study / "trajectories.jsonl")) == [
        case.trajectory for case in generate_sessions(40, 4, study=True)
    ]
    assert read_benchmark(study).origin == ("misstep generate trajectories --study --n 40 --seed 4 --wordings scoring",)


def test_every_session_has_its_version_time_and_rating_and_every_misbehaviour_its_episode(study: Path) -> None:
    cases = list(generate_sessions(40, 4, study=True))
    sessions = rows(study / "sessions.csv")
    assert [(row["item"], row["version"], row["started"]) for row in sessions] == [
        (case.trajectory.id, case.trajectory.model, case.started) for case in cases
    ]
    assert {row["liked"] for row in sessions} <= {"", "yes", "no"}
    assert [
        (row["item"], row["category"], int(row["onset"]), int(row["last"])) for row in rows(study / "gold_episodes.csv")
    ] == [(case.trajectory.id, one.category, one.onset, one.last) for case in cases for one in case.episodes]


def test_the_command_says_what_each_part_plants(tmp_path: Path) -> None:
    document = json.loads(run(tmp_path / "out", "--study", "--json", n=60).stdout)
    assert document["n"] == 60
    assert document["variants"]["plain"]["plants"] == []
    assert document["variants"]["polling"]["plants"] == []
    assert "tool_call_failure" in document["variants"]["rejected_replies"]["plants"]


CASES = ["generate", "triage-cases", "--families", "development", "--n", "1", "--seed", "2"]


def test_the_document_counts_labels_and_subcategories(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [*CASES, "--json", "--workers", "1", "--out", str(tmp_path / "cases")])
    assert done.exit_code == 0, done.output
    output = json.loads(done.stdout)
    assert (output["evidence"], output["n"], output["seed"], output["family_set"]) == ("generated", 1, 2, "development")
    assert sum(output["labels"].values()) == 1
