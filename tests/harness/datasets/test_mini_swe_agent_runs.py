"""mini-swe-agent on SWE-bench Verified: solve rate, costs and repetitions from the benchmark folder."""

import json
from pathlib import Path

import pytest

from misstep_harness.datasets.benchmark import Item
from tests.harness.datasets.loaded import Loaded, assert_refused, load, public, write

RUNS = (
    "instance_id,resolved,patch_applied,exit_status,n_messages,n_assistant,api_calls,cost_usd,"
    "nonzero_returncodes,repeated_commands,adjacent_repeats,bytes"
)
SUMMARY = "instance_id,resolved,patch_applied"
loaded = public("mini_swe_agent_runs")


def runs(loaded: Loaded, label: str) -> list[Item]:
    return [item for item in loaded.items.values() if loaded.gold[item.id, "swe_bench"] == label]


@pytest.mark.data
def test_371_of_500_tasks_are_solved_and_16_runs_are_at_hand(loaded: Loaded) -> None:
    assert (len(runs(loaded, "passed")), len(runs(loaded, "failed"))) == (371, 129)
    assert round(100 * 371 / 500, 1) == 74.2
    labels = [loaded.gold[run, "swe_bench"] for run in loaded.trajectories]
    assert (labels.count("passed"), labels.count("failed")) == (8, 8)


@pytest.mark.data
def test_a_run_at_hand_has_as_many_agent_steps_as_calls_of_the_model(loaded: Loaded) -> None:
    assert len(loaded.trajectories) == 16
    for run in loaded.trajectories.values():
        agent_steps = sum(step.role == "agent" for step in run.steps)
        assert agent_steps == loaded.items[run.id].extra["api_calls"]


def upstream(folder: Path, **changed: str) -> Path:
    run = {
        "info": {"exit_status": "Submitted", "submission": "", "model_stats": {"instance_cost": 0.1, "api_calls": 1}},
        "messages": [
            {"role": "system", "content": "You can run commands."},
            {"role": "user", "content": "Fix the bug."},
            {"role": "assistant", "content": "I look.\n\n```bash\nls\n```"},
            {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        ],
        "trajectory_format": "mini-swe-agent-1",
        "instance_id": "a__b-1",
    }
    files = {
        "results_summary.csv": f"{SUMMARY}\na__b-1,True,True\na__b-2,False,True\n",
        "runs.csv": (
            f"{RUNS}\na__b-1,True,True,Submitted,4,1,1,0.1,0,0,0,100\na__b-2,False,True,Submitted,4,1,1,0.2,1,0,0,100\n"
        ),
        "trajectories/a__b-1.traj.json.gz": json.dumps(run),
    }
    return write(folder, files | changed)


def test_a_task_whose_run_is_not_at_hand_is_an_item_without_a_trajectory(tmp_path: Path) -> None:
    made_up = load("mini_swe_agent_runs", upstream(tmp_path / "upstream"), tmp_path)
    assert {item.id: item.trajectory_id for item in made_up.items.values()} == {"a__b-1": "a__b-1", "a__b-2": None}
    assert made_up.gold == {("a__b-1", "swe_bench"): "passed", ("a__b-2", "swe_bench"): "failed"}
    assert made_up.trajectories["a__b-1"].source.dataset == "mini_swe_agent_runs"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"results_summary.csv": f"{SUMMARY}\na__b-1,False,True\na__b-2,False,True\n"},
            ("results_summary.csv", "a__b-1"),
        ),
        (
            {"results_summary.csv": f"{SUMMARY}\na__b-1,True,True\n"},
            ("results_summary.csv", "resolved", "a__b-2 is None"),
        ),
        ({"trajectories/a__b-9.traj.json.gz": "{}"}, ("a__b-9.traj.json.gz", "no task")),
    ],
)
def test_tables_that_contradict_each_other_are_an_error_that_names_file_and_field(tmp_path, changed, words) -> None:
    assert_refused("mini_swe_agent_runs", upstream(tmp_path / "upstream", **changed), tmp_path, words)
