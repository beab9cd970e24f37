"""Recorded judges as judges: their verdicts become a run as if they had been asked, and nothing is asked for it."""

import json
from pathlib import Path

import pytest

from misstep.judge.list import listed, listed_text
from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.report.assessment import assessed
from misstep_analysis.judging.scores import Scores
from misstep_harness.benchmarks.folders import benchmark_folder
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import MissingPrerequisite, UsageError
from misstep_harness.journal.records import read_manifest, read_verdicts
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.recorded import recorded_benchmark, recorded_judge
from tests.misstep.as_a_user import misstep
from tests.misstep.made_up_judges import CURT, KEEN, benchmark, recorded_data


def run_recorded(named: str, out: Path, benchmark: str = "", data: Path | None = None) -> Path:
    judge = recorded_judge(named, data)
    folder = recorded_benchmark(judge, benchmark, data)
    run_judge(judge, folder, out, ClientSettings())
    return folder


def _scores(named: str, out: Path, data: Path) -> Scores:
    return assessed(open_run(out, str(run_recorded(named, out, data=data)))).scores


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return recorded_data(tmp_path / "data")


def test_a_recorded_judge_is_scored_without_a_key_as_if_it_had_been_asked(tmp_path: Path, data: Path) -> None:
    run = tmp_path / "run"
    done = misstep(
        "judge", "run", f"trail/{KEEN}", "--benchmark", "trail", "--out", run, "--data", data, "--json",
        OPENAI_API_KEY="",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)
    assert (scores["judge"], scores["benchmark"], scores["n"], scores["answered"]) == (KEEN, "trail", 6, 6)
    assert scores["accuracy"]["value"] == 0.5
    assert json.loads((run / "scores.json").read_text())["accuracy"] == scores["accuracy"]
    made = "report.html run.toml scored.json scores.json verdicts.jsonl"
    assert " ".join(sorted(path.name for path in run.iterdir())) == made


def test_an_answer_that_cannot_be_read_is_no_label_and_counts_against_the_judge(tmp_path: Path, data: Path) -> None:
    scores = _scores(f"trail/{CURT}", tmp_path / "run", data)
    assert (scores.n, scores.answered, scores.unreadable) == (6, 4, 2)
    assert scores.accuracy.value == pytest.approx(1 / 4)
    assert scores.accuracy_all.value == pytest.approx(1 / 6)


def test_a_recorded_run_with_failed_items_is_finished_and_every_command_counts_them(tmp_path: Path, data: Path) -> None:
    (data / "trail" / "judge_outputs" / CURT / "c3.json").write_text("Context window exceeded")
    runs = {judge: tmp_path / judge for judge in (CURT, KEEN)}
    first, again = (
        misstep("judge", "run", f"trail/{CURT}", "--out", runs[CURT], "--data", data, "--json") for _ in range(2)
    )
    run_recorded(f"trail/{KEEN}", runs[KEEN], data=data)
    assert (first.returncode, again.returncode) == (0, 0)
    assert "2 of 6 items failed; they have no label." in first.stderr
    assert "2 of 6 items failed; they have no label." in again.stderr
    assert again.stdout == first.stdout
    for command in (["compare", runs[CURT], runs[KEEN]], ["calibrate", runs[CURT], "--precision", "0.5"]):
        done = misstep("judge", *command, "--data", data)
        assert "the run " in done.stderr
        assert "has no label of 2 of its 6 items, on which the judge failed." in done.stderr
        assert "not finished" not in done.stderr


def test_items_that_the_judge_was_not_asked_about_are_not_in_the_run(tmp_path: Path, data: Path) -> None:
    scores = _scores(f"trail/{KEEN}", tmp_path / "run", data)
    assert scores.unasked == 2
    assert not [verdict for verdict in read_verdicts(tmp_path / "run") if verdict.item.startswith("d4/")]


def test_the_run_says_that_it_is_recorded_and_of_which_files(tmp_path: Path, data: Path) -> None:
    run_recorded(f"trail/{KEEN}", tmp_path / "run", data=data)
    manifest = read_manifest(tmp_path / "run")
    assert manifest.settings["recorded"] is True
    assert (manifest.settings["data_set"], manifest.settings["model"]) == ("trail", "keen-1")
    assert len(str(manifest.settings["data_digest"])) == 64
    assert manifest.finished


def test_another_benchmark_is_refused_and_the_own_one_is_taken_by_name_or_folder(tmp_path: Path, data: Path) -> None:
    plants = benchmark(tmp_path / "plants", ["apple", "leek"])
    with pytest.raises(UsageError, match="are about the benchmark trail, not about"):
        run_recorded(f"trail/{KEEN}", tmp_path / "run", str(plants), data)
    own = benchmark_folder("trail", data)
    assert run_recorded(f"trail/{KEEN}", tmp_path / "run", str(own), data) == own


def test_an_unknown_judge_of_a_set_lists_those_that_it_has(tmp_path: Path, data: Path) -> None:
    with pytest.raises(UsageError, match=rf"Recorded: trail/{CURT}, trail/{KEEN}"):
        run_recorded("trail/nobody", tmp_path / "run", data=data)
    assert not (tmp_path / "run").exists()


def test_a_set_that_is_not_at_hand_names_the_command_that_brings_it(tmp_path: Path) -> None:
    with pytest.raises(MissingPrerequisite, match="misstep datasets fetch trail"):
        run_recorded(f"trail/{KEEN}", tmp_path / "run", data=tmp_path)


@pytest.mark.parametrize(
    "option",
    [["--model", "m"], ["--base-url", "http://127.0.0.1:1/v1"], ["--concurrency", "4"], ["--local"],
     ["--max-cost", "1"], ["--replay", "r.jsonl"]],
    ids=" ".join,
)  # fmt: skip
def test_an_option_that_says_how_a_model_is_asked_is_refused(tmp_path: Path, data: Path, option: list[str]) -> None:
    done = misstep("judge", "run", f"trail/{KEEN}", "--out", tmp_path / "run", "--data", data, *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option[0]} has no effect: the judge asks no model" in done.stderr
    assert not (tmp_path / "run").exists()


def test_recorded_judges_stand_after_the_shipped_ones_in_the_list(data: Path) -> None:
    result = listed(data)
    judges = result.known
    recorded = [judge for judge in judges if judge.recorded]
    assert [judge.name for judge in recorded] == [f"trail/{CURT}", f"trail/{KEEN}"]
    assert judges[-2:] == recorded
    assert recorded[1].labels == ("present", "absent")
    assert (recorded[1].kind, recorded[1].model, recorded[1].prompt) == ("misbehaviour", "keen-1", None)
    assert (result.absent, result.broken) == (["agent_as_a_judge"], [])
    assert listed_text(judges).splitlines()[-1].endswith("(recorded)")
