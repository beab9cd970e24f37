"""`misstep triage --curate`: every run in a folder by what becomes of it, files that load alone, and a data card."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from misstep.triage.run import app
from misstep_analysis.exports.writing import Form, export_run
from misstep_analysis.runs.kind import Choice
from misstep_analysis.triage.curation import ACTIONS
from misstep_analysis.triage.data_card import CuratedRun
from misstep_harness.errors import UsageError
from misstep_harness.trajectory import Step
from misstep_harness.triage.runs.judges import RULES
from tests.harness.triage.made_up_cases import a_run, shell, triage_case, written
from tests.harness.triage.runs.jobs import made_up_jobs


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up rule in the place of those that judge."""
    monkeypatch.setitem(RULES, "triage@rules-text", "tests.misstep.made_up_rule:TEXT")


@pytest.fixture
def curated(tmp_path: Path) -> Path:
    """Cases of which one is kept, one goes to a rerun, and two are undecided: without logs, and without an outcome."""
    runs = (("2 != 3", "failed"), ("disk", "failed"), ("", "failed"), ("3 != 4", ""))
    for number, (log, outcome) in enumerate(runs):
        text = f'outcome = "{outcome}"\n' if outcome else ""
        files = {"case.toml": f'id = "case-{number}"\ntask = "prices"\n{text}'} | (
            {"logs/tests.log": log} if log else {}
        )
        files |= {"trajectory.json": written(a_run(shell("ls", "a.py")))} if number == 0 else {}
        triage_case(tmp_path / "cases" / f"case-{number}", files)
    (tmp_path / "cases" / "gold.csv").write_text("item,rater,label\ncase-0,ann,agent\n")
    curate(tmp_path / "cases", tmp_path / "out")
    return tmp_path / "out"


def curate(cases: Path, out: Path, *more: str) -> Any:
    arguments = [str(cases), "--curate", str(out), "--workers", "1", *more]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def front_matter(folder: Path) -> Any:
    return yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])


def test_every_run_has_a_line_and_stands_in_the_file_of_what_becomes_of_it(curated: Path) -> None:
    assert [line["action"] for line in lines(curated / "runs.jsonl")] == ["keep", "rerun", "undecided", "undecided"]
    apart = [
        line for name in ACTIONS if (curated / f"{name}.jsonl").exists() for line in lines(curated / f"{name}.jsonl")
    ]
    assert apart == lines(curated / "runs.jsonl")
    assert all(line["reason"] for line in apart)
    assert not (curated / "filter.jsonl").exists()


def test_the_files_load_with_the_datasets_library(curated: Path) -> None:
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset("json", data_files=str(curated / "runs.jsonl"), split="train")
    assert loaded["action"] == ["keep", "rerun", "undecided", "undecided"]


def test_a_line_has_the_messages_that_training_tools_read(curated: Path) -> None:
    kept, *others = (line["messages"] for line in lines(curated / "runs.jsonl"))
    assert others == [[], [], []]
    assert [one["role"] for one in kept] == ["user", "assistant", "tool"]
    (call,) = kept[1]["tool_calls"]
    assert (call["type"], type(call["function"]["arguments"]), kept[2]["tool_call_id"]) == ("function", str, call["id"])


@pytest.mark.parametrize("to", ["hf", "parquet", "csv"])
def test_the_folder_is_exported_as_a_run_is(curated: Path, to: Form, tmp_path: Path) -> None:
    counts = {"runs": 4, "keep": 1, "rerun": 1, "undecided": 2, "scores": 0}
    assert export_run(curated, to, tmp_path / "export", Choice()) == counts
    card = "".join(file.read_text() for file in (tmp_path / "export").glob("README.md"))
    assert str(tmp_path) not in card + (curated / "README.md").read_text() + (curated / "run.toml").read_text()


def test_a_trajectory_is_found_from_the_folder(curated: Path) -> None:
    named = lines(curated / "keep.jsonl")[0]["trajectory"]
    assert named == "../cases/case-0/trajectory.json"
    assert (curated / named).is_file()


def test_the_front_matter_names_each_file_and_its_columns(curated: Path) -> None:
    said = front_matter(curated)
    assert {one["config_name"]: one["data_files"] for one in said["configs"]} == {
        name: f"{name}.jsonl" for name in ("runs", "keep", "rerun", "undecided")
    }
    assert all((curated / one["data_files"]).is_file() for one in said["configs"])
    for config in said["dataset_info"]:
        assert [column["name"] for column in config["features"]] == list(CuratedRun.__struct_fields__)
    assert "license" not in said


@pytest.mark.parametrize(
    "run", [written(a_run()), written(a_run(Step("agent", "API Error: 401 invalid x-api-key"))), "{ cut off"]
)
def test_a_run_without_a_step_of_the_agent_is_not_kept_whatever_its_label(tmp_path: Path, run: str) -> None:
    for name, recorded in (("one", run), ("two", written(a_run(shell("ls"))))):
        files = {"case.toml": f'id = "{name}"\noutcome = "failed"\n', "logs/tests.log": "2 != 3"}
        case = triage_case(tmp_path / "cases" / name, {**files, "trajectory.json": recorded})
        shutil.rmtree(case.folder / "workspace")
    done = CliRunner().invoke(app, [str(tmp_path / "cases"), "--curate", str(tmp_path / "out"), "--workers", "1"])
    one, two = lines(tmp_path / "out" / "runs.jsonl")
    assert (one["action"], two["action"]) == ("undecided", "keep"), done.output
    assert "No record shows a step of the agent" in one["reason"]


def test_a_folder_with_other_files_is_refused_before_anything_is_judged(tmp_path: Path) -> None:
    triage_case(tmp_path / "cases" / "one", {"logs/tests.log": "2 != 3"})
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="other files"):
        curate(tmp_path / "cases", tmp_path)


def test_runs_of_a_job_are_copied_as_the_judges_run_is_thrown_away(tmp_path: Path) -> None:
    job = made_up_jobs.terminal_bench(tmp_path / "job")
    curate(job, tmp_path / "out")
    named = [row["trajectory"] for row in lines(tmp_path / "out" / "runs.jsonl") if row["trajectory"]]
    assert all((tmp_path / "out" / name).is_file() for name in named)
