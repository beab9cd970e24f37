"""CodeTracer: the verifier's rewards and what the five ATIF runs hold, from the benchmark folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.datasets.loaded import Loaded, load, public, write

HEADER = (
    "trial,reward,tests,tests_passed,tests_failed,exception,n_steps,n_tool_calls,n_observation_results,"
    "started_at,finished_at"
)
TIMES = "2026-01-01T10:00:00Z,2026-01-01T10:05:00Z"
loaded = public("codetracer_runs")


@pytest.mark.data
def test_four_of_the_five_trials_fail_and_one_succeeds(loaded: Loaded) -> None:
    passed = [trial for (trial, _), label in loaded.gold.items() if label == "passed"]
    assert len(loaded.gold) == 5
    assert [loaded.items[trial].extra["task_id"] for trial in passed] == ["prove-plus-comm"]


@pytest.mark.data
def test_a_trajectory_has_the_steps_calls_and_results_that_its_row_counts(loaded: Loaded) -> None:
    assert set(loaded.trajectories) == set(loaded.items)
    for trial, run in loaded.trajectories.items():
        counted = loaded.items[trial].extra
        assert len(run.steps) == counted["steps"]
        assert sum(len(step.calls) for step in run.steps) == counted["tool_calls"]
        assert sum(len(step.results) for step in run.steps) == counted["tool_results"]


def upstream(folder: Path, row: str = f"some-task__Ab1,1.0,,,,,2,1,1,{TIMES}", **changed: str) -> Path:
    run: dict[str, Any] = {
        "schema_version": "ATIF-v1.2",
        "session_id": "s1",
        "agent": {"name": "some-agent", "version": "1.0"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Prove it."},
            {
                "step_id": 2,
                "source": "agent",
                "message": "",
                "tool_calls": [{"tool_call_id": "c1", "function_name": "Bash", "arguments": {"command": "ls"}}],
                "observation": {"results": [{"source_call_id": "c1", "content": "a.v"}]},
            },
        ],
    }
    files = {"outcomes.csv": f"{HEADER}\n{row}\n", "trajectories/some-task__Ab1.json": json.dumps(run)}
    return write(folder, files | changed)


def test_a_trial_is_an_item_and_its_reward_is_gold_only(tmp_path: Path) -> None:
    made_up = load("codetracer_runs", upstream(tmp_path / "upstream"), tmp_path)
    (run,) = made_up.trajectories.values()
    assert made_up.gold == {("some-task__Ab1", "verifier"): "passed"}
    assert (run.id, run.source.dataset, run.outcome.status) == ("some-task__Ab1", "codetracer_runs", "unknown")
    assert made_up.items["some-task__Ab1"].extra["task_id"] == "some-task"


def test_a_trial_without_a_trajectory_is_an_item_that_no_judge_is_asked_about(tmp_path: Path) -> None:
    rows = f"some-task__Ab1,1.0,,,,,2,1,1,{TIMES}\nother__Cd2,0.0,,,,,0,0,0,{TIMES}"
    made_up = load("codetracer_runs", upstream(tmp_path / "upstream", rows), tmp_path)
    assert set(made_up.trajectories) == {"some-task__Ab1"}
    assert made_up.items["other__Cd2"].unaskable
    assert made_up.gold["other__Cd2", "verifier"] == "failed"
