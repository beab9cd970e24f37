"""Agents' own formats: steps, costs, verdicts and events of the recorded runs, from the benchmark folder."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.datasets.benchmark import Item
from tests.harness.datasets.loaded import Loaded, assert_refused, load, public, write

loaded = public("agent_trajs")


def of_tool(loaded: Loaded, tool: str) -> list[Item]:
    return [item for item in loaded.items.values() if item.extra["tool"] == tool]


@pytest.mark.data
def test_every_run_is_an_item_with_a_trajectory(loaded: Loaded) -> None:
    tools = Counter(run.id.partition("/")[0] for run in loaded.trajectories.values())
    assert tools == {"sweagent": 22, "swesmith": 3, "mini-swe-agent": 2, "openhands": 9}
    assert set(loaded.trajectories) == {item.id for item in loaded.items.values() if item.trajectory}


@pytest.mark.data
def test_steps_and_costs_of_swe_agent(loaded: Loaded) -> None:
    runs = of_tool(loaded, "sweagent")
    steps = {item.id: item.extra["steps"] for item in runs if "steps" in item.extra}
    assert (len(runs), sum(steps.values())) == (22, 227)
    assert {item.id for item in runs} - set(steps) == {"sweagent/demo__function_calling_simple"}
    for run, count in steps.items():
        assert sum(step.role == "agent" for step in loaded.trajectories[run].steps) == count
    costs = {item.id: round(item.extra["cost_usd"], 3) for item in runs if "cost_usd" in item.extra}
    assert sorted(costs.values()) == [0.020, 0.538, 1.267]
    assert all("/test__gpt4__" in run for run in costs)
    assert sum("marshmallow-1867" in item.id for item in runs) == 8


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "steps", "cost", "label"),
    [
        ("pandas-dev__pandas.95280573.pr_53652", 37, 0.344, "passed"),
        ("pandas-dev__pandas.95280573.pr_53856", 17, 0.248, "failed"),
        ("pydantic__pydantic.acb0f10f.pr_8316", 22, 0.302, "passed"),
    ],
)
def test_steps_calls_cost_and_verdict_of_swe_smith(loaded, task, steps, cost, label) -> None:
    counted = loaded.items[f"swesmith/{task}"].extra
    assert (counted["steps"], counted["api_calls"], round(counted["cost_usd"], 3)) == (steps, steps, cost)
    assert loaded.gold[f"swesmith/{task}", "swe_smith"] == label
    agent_steps = [step for step in loaded.trajectories[f"swesmith/{task}"].steps if step.role == "agent"]
    assert len(agent_steps) == steps


@pytest.mark.data
def test_events_and_actions_of_openhands(loaded: Loaded) -> None:
    runs = {number: loaded.items[f"openhands/ponylang__ponyc-{number}"].extra for number in (4595, 4593, 4588)}
    assert [run["events"] for run in runs.values()] == [49, 70, 103]
    assert ["maximum iteration" in run.get("error", "") for run in runs.values()] == [False, False, True]
    assert ["error" in run for run in runs.values()] == [False, False, True]
    actions: Counter[str] = Counter()
    for run in runs.values():
        actions.update(run["actions"])
    assert actions == {
        "run": 49, "edit": 29, "read": 23, "message": 3, "recall": 3, "system": 3, "think": 2, "finish": 2
    }  # fmt: skip
    assert sum(run["error_observations"] for run in runs.values()) == 2


TASK = "a__b.1.pr_1"
SWE_AGENT: dict[str, Any] = {
    "environment": "main",
    "trajectory": [{"action": "ls", "observation": "a.py", "response": "I look.", "thought": "I look.", "state": "{}"}],
    "history": [
        {"role": "system", "content": "Fix bugs.", "agent": "primary"},
        {"role": "user", "content": "Fix a.py.", "agent": "primary"},
        {"role": "assistant", "content": "I look.", "thought": "I look.", "action": "ls", "agent": "primary"},
        {"role": "user", "content": "a.py", "agent": "primary"},
    ],
    "info": {"exit_status": "submitted", "submission": "", "model_stats": {"instance_cost": 0, "api_calls": 1}},
}
MESSAGES = [
    {"role": "system", "content": "You can run commands."},
    {"role": "user", "content": "Say hello."},
    {"role": "assistant", "content": "I do.\n\n```bash\necho hello\n```"},
    {"role": "user", "content": "<returncode>0</returncode>\n<output>\nhello\n</output>"},
]
EVENTS = [
    {"id": 0, "timestamp": "2026-01-01T10:00:00", "source": "user", "message": "Go", "action": "message",
     "args": {"content": "Go"}},
    {"id": 1, "timestamp": "2026-01-01T10:00:01", "source": "agent", "message": "Running", "action": "run",
     "args": {"command": "ls", "thought": ""}},
    {"id": 2, "timestamp": "2026-01-01T10:00:02", "source": "agent", "message": "", "observation": "run", "cause": 1,
     "content": "a.py", "extras": {"command": "ls"}},
]  # fmt: skip


def upstream(folder: Path, changed: dict[str, Any] | None = None) -> Path:
    documents: dict[str, Any] = {
        "sweagent/demo.traj.gz": SWE_AGENT,
        f"swesmith/trajectories__{TASK}__{TASK}.traj.gz": SWE_AGENT,
        "swesmith/run_evaluation__report.json.gz": {"ids_resolved": [TASK], "ids_unresolved": ["a__b.1.pr_2"]},
        f"swesmith/run_evaluation__{TASK}__report.json.gz": {"resolved": True},
        "mini-swe-agent/local.traj.json.gz": MESSAGES,
        "openhands/some__output.jsonl.gz": {"instance_id": "c__d-3", "instruction": "Go", "history": EVENTS},
        "openhands/runtime__trajs__basic.json.gz": EVENTS,
    }
    files = documents | (changed or {})
    return write(folder, {name: json.dumps(value) for name, value in files.items() if value is not None})


def test_an_evaluated_task_without_a_run_is_an_item_and_a_replay_has_no_cost(tmp_path: Path) -> None:
    made_up = load("agent_trajs", upstream(tmp_path / "upstream"), tmp_path)
    assert made_up.items["swesmith/a__b.1.pr_2"].trajectory is None
    assert made_up.gold == {
        (f"swesmith/{TASK}", "swe_smith"): "passed",
        ("swesmith/a__b.1.pr_2", "swe_smith"): "failed",
    }
    assert made_up.items["sweagent/demo"].extra == {"tool": "sweagent", "steps": 1, "api_calls": 1}
    assert made_up.items["openhands/c__d-3"].extra["actions"] == {"message": 1, "run": 1}
    assert len(made_up.trajectories) == 5


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"swesmith/run_evaluation__report.json.gz": {"ids_resolved": [TASK], "ids_unresolved": [TASK]}},
            ("run_evaluation__report.json.gz", "ids_resolved", "both"),
        ),
        (
            {f"swesmith/run_evaluation__{TASK}__report.json.gz": {"resolved": False}},
            (f"run_evaluation__{TASK}__report.json.gz", "resolved"),
        ),
        ({"swesmith/trajectories__x__x.traj.gz": SWE_AGENT}, ("trajectories__x__x.traj.gz", "no verdict")),
        ({"openhands/some__output.jsonl.gz": {"history": EVENTS}}, ("some__output.jsonl.gz", "instance_id")),
    ],
)
def test_files_that_contradict_each_other_are_an_error_that_names_file_and_field(tmp_path, changed, words) -> None:
    assert_refused("agent_trajs", upstream(tmp_path / "upstream", changed), tmp_path, words)
