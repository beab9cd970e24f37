"""tau-bench: rewards, successes by trial and task, pass^k and pass@k, from the benchmark folder."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.harness.datasets.loaded import Loaded, assert_refused, load, public, write

TABLE = "env,model,task_id,trial,reward,n_messages,n_assistant,n_tool_calls,user_cost_usd"
CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": "Be polite."},
    {"role": "user", "content": "Cancel my order."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"order": "7"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "done"},
    {"role": "assistant", "content": "It is cancelled."},
    {"role": "user", "content": "###STOP###"},
]
loaded = public("taubench")


@pytest.mark.data
def test_fifty_tasks_are_run_four_times_and_84_runs_pass(loaded: Loaded) -> None:
    assert Counter(Counter(item.extra["task_id"] for item in loaded.items.values()).values()) == {4: 50}
    assert Counter(loaded.gold.values()) == {"passed": 84, "failed": 116}


@pytest.mark.data
def test_every_message_stands_in_a_trajectory(loaded: Loaded) -> None:
    roles = Counter(step.role for run in loaded.trajectories.values() for step in run.steps)
    results = [len(step.results) for run in loaded.trajectories.values() for step in run.steps]
    assert roles == {"agent": 2454, "user": 1490, "system": 200}
    assert sum(results) == 1164
    messages = [sum(1 + len(step.results) for step in run.steps) for run in loaded.trajectories.values()]
    assert (sum(messages), min(messages), max(messages)) == (5308, 6, 62)
    assert round(sum(messages) / 200, 1) == 26.5


@pytest.mark.data
def test_the_reference_solution_stands_nowhere(loaded: Loaded) -> None:
    for file in ("items.jsonl", "trajectories/gpt-4o-airline.jsonl"):
        text = (loaded.folder / file).read_text(encoding="utf-8")
        assert not [word for word in ("reward", "gt_data_hash", "r_actions") if f'"{word}"' in text]


def record(task: int, trial: int, reward: float) -> dict[str, Any]:
    return {
        "task_id": task,
        "trial": trial,
        "reward": reward,
        "info": {
            "task": {"user_id": "u1", "instruction": "Cancel order 7.", "actions": [{"name": "secret"}], "outputs": []},
            "source": "user",
            "user_cost": 0.002,
            "reward_info": {"reward": reward, "info": {"r_actions": reward}, "actions": [{"name": "secret"}]},
        },
        "traj": CONVERSATION,
    }


def upstream(folder: Path, records: list[Any], rows: list[str]) -> Path:
    table = "\n".join([TABLE, *(f"airline,some-model,{row},6,2,1,0.002" for row in rows)])
    return write(folder, {"gpt-4o-airline.json.gz": json.dumps(records), "rewards.csv": table})


def test_trajectories_keep_the_order_of_their_records_and_hide_reward_and_reference_solution(tmp_path: Path) -> None:
    folder = upstream(tmp_path / "upstream", [record(0, 0, 1.0), record(1, 0, 0.0)], ["0,0,1", "1,0,0"])
    made_up = load("taubench", folder, tmp_path)
    assert made_up.gold == {("airline/0/0", "environment"): "passed", ("airline/1/0", "environment"): "failed"}
    assert list(made_up.trajectories) == ["airline/0/0", "airline/1/0"]
    for run in made_up.trajectories.values():
        assert (run.outcome.status, run.outcome.reward) == ("unknown", None)
    content = (made_up.folder / "trajectories/gpt-4o-airline.jsonl").read_text()
    assert "secret" not in content
    assert "It is cancelled." in content


@pytest.mark.parametrize(
    ("records", "rows", "words"),
    [
        ([record(0, 0, 0.5)], ["0,0,0.5"], ("gpt-4o-airline.json.gz", "reward", "neither 0 nor 1")),
        ([record(0, 0, 1.0)], ["0,0,0"], ("rewards.csv", "reward", "airline/0/0")),
        ([record(0, 0, 1.0)], [], ("rewards.csv", "reward", "None")),
    ],
)
def test_files_that_contradict_each_other_are_an_error_that_names_file_and_field(tmp_path, records, rows, words):
    assert_refused("taubench", upstream(tmp_path / "upstream", records, rows), tmp_path, words)
