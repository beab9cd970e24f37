"""tau-bench results: many trials a document, each with its reward."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.protocols import Sample
from misstep_harness.readers.evaluations.taubench import read, refuse
from misstep_harness.trajectory import Outcome, Source
from tests.families.recordings import recording_of

SOURCE = Source("taubench", "results/shop.json")


def record(**fields: Any) -> dict[str, Any]:
    return {"task_id": 7, "trial": 2, "reward": 1.0, "traj": [{"role": "user", "content": "Hello."}]} | fields


def test_each_record_is_a_trajectory_called_by_task_and_trial_with_the_instruction_as_its_task() -> None:
    first, second = read(recording_of("taubench"), SOURCE)
    assert (first.id, second.id) == ("3-0", "3-1")
    assert first.source == second.source == SOURCE
    assert first.extra["task_id"] == 3
    assert first.extra["trial"] == 0
    assert first.extra["info"]["reward_info"] == {"reward": 0.0}
    assert first.extra["step_of_message"] == [0, 1, 2, 2, 3]
    assert first.task == "You want order W12."
    (plain,) = read(json.dumps(record()).encode(), SOURCE)
    assert plain.task == "Hello.", "without an instruction the first words"


def test_a_reward_of_1_is_a_solved_task_and_no_reward_is_no_outcome() -> None:
    values = [1.0, 1, 0.0, 0.5, None, float("nan")]
    result = read(json.dumps([record(reward=value) for value in values]).encode(), SOURCE)
    assert [one.outcome for one in result] == [
        Outcome("passed", 1.0),
        Outcome("passed", 1.0),
        Outcome("failed", 0.0),
        Outcome("failed", 0.5),
        Outcome(),
        Outcome(),
    ]


@pytest.mark.parametrize("first", [None, [], {}, [5], {"traj": []}, [{"task_id": 1, "messages": []}]])
def test_another_shape_is_refused_with_a_reason(first: Any) -> None:
    assert refuse(Sample(Path("x"), "document", first, ""))


def test_a_call_that_is_written_as_text_is_a_call_and_its_output_no_words_of_the_user() -> None:
    action = 'Thought:\nFirst look.\nAction:\n{"name": "find_order", "arguments": {"id": "W1"}}'
    said = {"role": "assistant", "content": 'Action:\n{"name": "respond", "arguments": {"content": "Sent."}}'}
    traj = [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": action},
        {"role": "user", "content": "API output: Error: order not found"},
        said,
        {"role": "user", "content": "Thanks."},
    ]
    (run,) = read(json.dumps(record(traj=traj)).encode(), SOURCE)
    assert [(step.role, len(step.calls)) for step in run.steps] == [
        ("user", 0),
        ("agent", 1),
        ("agent", 0),
        ("user", 0),
    ]
    assert (run.steps[1].calls[0].name, run.steps[1].calls[0].arguments) == ("find_order", {"id": "W1"})
    assert [result.text for result in run.steps[1].results] == ["Error: order not found"]


def test_a_run_that_broke_off_has_no_outcome() -> None:
    (run,) = read(json.dumps(record(reward=0.0, traj=[], info={"error": "no server"})).encode(), SOURCE)
    assert run.outcome == Outcome()
