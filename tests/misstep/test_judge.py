"""The command `misstep judge` as a user runs it: offline from a recording, against a server, with plain errors."""

import json
from pathlib import Path

import pytest

from misstep_harness.clients import ClientSettings
from misstep_harness.journal.records import read_verdicts
from misstep_harness.judges.judge_file import read_judge
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.runs.judging.judge import run_judge
from tests.misstep.as_a_user import misstep
from tests.misstep.made_up_judges import benchmark, judge_file

TEXTS = ["apple", "carrot", "apple pie", "leek"]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of a model that always says fruit."""
    folder = benchmark(tmp_path / "recorded", TEXTS)
    settings = ClientSettings(
        client="scripted", script="tests.misstep.made_up_judges:always_fruit", record=tmp_path / "recording.jsonl"
    )
    run_judge(prompted_judge(read_judge(judge_file(tmp_path))), folder, tmp_path / "recorded-run", settings)
    return tmp_path / "recording.jsonl"


def test_a_run_is_answered_from_a_recording_without_a_key_and_scored(tmp_path: Path, recording: Path) -> None:
    folder = benchmark(tmp_path / "plants", TEXTS)
    line = ("run", tmp_path / "judge.toml", "--benchmark", folder, "--out", tmp_path / "run", "--replay", recording)
    done = misstep("judge", *line, "--json", OPENAI_API_KEY="")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert (scores["n"], scores["answered"], scores["accuracy"]["value"]) == (4, 4, 0.5)
    assert json.loads((tmp_path / "run" / "scores.json").read_text()) == scores
    assert "<script src" not in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no_such_judge --benchmark plants", "unknown judge 'no_such_judge'"),
        ("judge.toml --benchmark ./nowhere/", "benchmark.toml"),
        ("judge.toml --benchmark plants --replay none.jsonl", "none.jsonl"),
        ("judge.toml --benchmark plants --local --model x", "--local has its own model"),
        ("judge.toml --benchmark plants --max-cost 1", "price"),
        ("judge.toml --benchmark mistyped", "gold.csv:2: item: there are labels of an item that items.jsonl does not"),
        ("judge.toml --benchmark mistyped --sample 2", "have: 'I0'. Correct the ids"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(tmp_path, line, message, monkeypatch) -> None:
    judge_file(tmp_path)
    benchmark(tmp_path / "plants", TEXTS)
    gold = benchmark(tmp_path / "mistyped", TEXTS) / "gold.csv"
    gold.write_text(gold.read_text().replace("i0,", "I0,"))
    monkeypatch.chdir(tmp_path)
    done = misstep("judge", "run", *line.split(), "--out", "run", OPENAI_API_KEY="key")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_judges_that_come_with_misstep_are_listed() -> None:
    listed = json.loads(misstep("judge", "list", "--json").stdout)
    assert {"infinite_loop", "recovery", "patch_acceptability", "triage_text"} <= {one["name"] for one in listed}


@pytest.mark.local_llm
def test_a_small_real_model_is_asked_and_every_item_is_accounted_for(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "plants", TEXTS[:1])
    file = judge_file(tmp_path)
    file.write_text(file.read_text() + "max_tokens = 40\n")  # so small a model counts until it is stopped
    line = ("run", file, "--benchmark", folder, "--out", tmp_path / "run", "--local", "--concurrency", "1")
    done = misstep("judge", *line, OPENAI_API_KEY="")
    assert done.returncode == 0, done.stderr
    assert "it is not a judge" in done.stdout
    verdicts = list(read_verdicts(tmp_path / "run"))
    assert {verdict.item for verdict in verdicts} == {"i0"}
    assert all(verdict.status in ("answered", "unreadable") for verdict in verdicts)
    assert all(verdict.output_tokens for verdict in verdicts)


@pytest.mark.data
@pytest.mark.parametrize(("limit", "code"), [("accuracy=0.75", 0), ("accuracy.lower=81%", 1), ("kappa=0.99", 1)])
def test_the_scores_are_printed_and_the_limit_decides_the_exit_code(limit, code, data_folder, tmp_path, in_process):
    line = ("run", "trail/gemini-2.5-flash_gaia", "--benchmark", "trail", "--out", tmp_path / "run")
    ended, out, output = in_process("judge", *line, "--fail-under", limit, "--data", data_folder)
    assert (ended, "81.2%" in out) == (code, True)
    assert ("misstep: passed: " if code == 0 else "misstep: failed: ") in output
