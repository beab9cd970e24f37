"""SWE-agent trajectories: one item one step, with the call that made its action."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.protocols import Sample
from misstep_harness.readers.coding_agents.swe_agent import read, refuse
from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("swe_agent", "runs/acme__gate-7.traj.gz")


def one(value: Any) -> Trajectory:
    (trajectory,) = read(json.dumps(value).encode(), SOURCE)
    return trajectory


def item(thought: str, action: str, observation: str = "", **fields: Any) -> dict[str, Any]:
    return {"thought": thought, "action": action, "observation": observation, "response": thought} | fields


def test_the_sample_has_its_history_without_the_demonstration_its_calls_and_no_outcome() -> None:
    (trajectory,) = read(recording_of("swe_agent"), SOURCE)
    assert [(step.role, step.text) for step in trajectory.steps[:2]] == [
        ("system", "You mend code."),
        ("user", "Mend the gate."),
    ]
    assert [message["content"] for message in trajectory.extra["demonstrations"]] == ["An example of a run."]
    assert trajectory.task == "Mend the gate."
    step = trajectory.steps[2]
    assert step.calls == (ToolCall("open", {"path": "gate.py"}, "c1"),)
    assert [(result.text, result.call_id) for result in step.results] == [("hinge = None", "c1")]
    assert step.seconds == 0.25
    assert step.extra["state"] == {"working_dir": "/src"}
    step = trajectory.steps[3]
    assert step.text == "Handing it in.\n"
    assert step.calls == (ToolCall("submit", {"command": "submit\n"}),)
    assert step.extra["response"] == "Handing it in.\n```\nsubmit\n```"
    assert trajectory.outcome == Outcome()
    assert trajectory.extra["info"]["exit_status"] == "submitted"
    assert trajectory.extra["info"]["model_stats"] == {"api_calls": 2}
    assert (trajectory.id, trajectory.agent, trajectory.model) == ("acme__gate-7", "swe-agent", "m-large")


def test_an_empty_action_is_no_call_but_its_observation_is_kept() -> None:
    step = one({"trajectory": [item("Hm.", "", "Your command was empty.")]}).steps[0]
    assert step == Step("agent", "Hm.", results=(ToolResult("Your command was empty."),))


def answer(call_id: str, thought: str = "Again.") -> dict[str, Any]:
    """An answer in the history, told apart by the id of its call."""
    call = {"id": call_id, "type": "function", "function": {"name": "run", "arguments": "{}"}}
    return {"role": "assistant", "agent": "main", "thought": thought, "action": "run", "tool_calls": [call]}


def test_the_same_thought_and_action_twice_are_matched_in_order() -> None:
    items = [item("Again.", "run"), item("Again.", "run")]
    trajectory = one({"trajectory": items, "history": [answer("a"), answer("b")]})
    assert [step.calls[0].id for step in trajectory.steps] == ["a", "b"]


def test_an_answer_from_before_the_last_matched_one_is_matched_no_more() -> None:
    items = [item("First.", "run"), item("Again.", "run")]
    trajectory = one({"trajectory": items, "history": [answer("a"), answer("b", "First."), answer("c")]})
    assert [step.calls[0].id for step in trajectory.steps] == ["b", "c"]


def test_what_of_the_history_is_not_repeated_by_the_steps_is_kept() -> None:
    history = [
        {"role": "user", "content": "Mend it.", "agent": "main"},
        {"role": "assistant", "content": "Look.", "thought": "Look.", "action": "ls", "agent": "main"},
        {"role": "user", "content": "OBSERVATION:\ngate.py\n", "agent": "main"},
        {"role": "user", "content": "Only five turns are left.", "agent": "main"},
    ]
    trajectory = one({"trajectory": [item("Look.", "ls", "gate.py")], "history": history})
    assert trajectory.extra["history"] == [history[3]]


def test_an_action_that_was_turned_down_has_the_complaint_as_its_error() -> None:
    asked = [
        {"role": "assistant", "content": "Again.", "message_type": "assistant"},
        {"role": "user", "content": "That command is blocked.", "message_type": "user"},
    ]
    items = [item("Again.", "vim a"), item("Again.", "vim a", "x = 1", query=asked)]
    history = [{"role": "assistant", "content": "Again.", "thought": "Again.", "action": "vim a", "agent": "main"}]
    blocked, done = one({"trajectory": items, "history": [*history, *asked[1:]]}).steps
    assert blocked.results == (ToolResult("That command is blocked.", True),)
    assert [(result.text, result.is_error) for result in done.results] == [("x = 1", None)]


@pytest.mark.parametrize("action", ["", "exit_cost"])
def test_what_the_program_says_when_it_ends_a_run_is_no_answer_and_no_call_of_the_model(action: str) -> None:
    items = [item("Look.", "ls", "a"), item("Exit due to cost limit", action, "Exited (autosubmitted)")]
    step = one({"trajectory": items}).steps[-1]
    assert (step.role, step.text, step.calls) == ("system", "Exit due to cost limit", ())
    assert step.results[0].text == "Exited (autosubmitted)"


def test_thinking_blocks_of_the_history_are_the_reasoning() -> None:
    thought = {"type": "thinking", "thinking": "Which file?", "signature": "s"}
    history = [answer("c1") | {"thinking_blocks": [thought]}]
    assert one({"trajectory": [item("Again.", "run")], "history": history}).steps[0].reasoning == "Which file?"


def test_a_history_alone_is_a_demonstration_whose_answers_follow_the_actions() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "open", "arguments": '{"path": "a"}'}}
    history = [
        {"role": "system", "content": "You mend code.", "agent": "main"},
        {"role": "user", "content": "Mend it.", "agent": "main"},
        {"role": "assistant", "content": "Look.\n```\nls\n```", "thought": "Look.", "action": "ls", "agent": "main"},
        {"role": "user", "content": "gate.py", "agent": "main"},
        {"role": "assistant", "content": "", "thought": "", "action": "open a", "tool_calls": [call], "agent": "main"},
        {"role": "tool", "content": "x = 1", "tool_call_ids": ["c1"], "agent": "main"},
    ]
    trajectory = one({"history": history})
    assert [step.role for step in trajectory.steps] == ["system", "user", "agent", "agent"]
    first, second = trajectory.steps[2:]
    assert (first.text, first.calls) == ("Look.", (ToolCall("ls", {"command": "ls"}),))
    assert [result.text for result in first.results] == ["gate.py"]
    assert second.calls == (ToolCall("open", {"path": "a"}, "c1"),)
    assert [(result.text, result.call_id) for result in second.results] == [("x = 1", "c1")]


MESSAGE = {"role": "user", "content": "Mend it."}


@pytest.mark.parametrize(
    ("first", "recognised"),
    [
        ({"trajectory": [item("", "ls")]}, True),
        ({"history": [MESSAGE | {"agent": "main"}]}, True),
        ({"trajectory": [], "history": [MESSAGE]}, True),
        ({"history": [MESSAGE]}, False),
        ({"history": [{"action": "run", "args": {}}]}, False),
        ({"trajectory": [{"kind": "walk"}]}, False),
        ({"trajectory": []}, False),
        ({"messages": [MESSAGE]}, False),
        (None, False),
    ],
)
def test_it_is_recognised_by_its_own_marks_alone(first: Any, recognised: bool) -> None:
    assert (refuse(Sample(Path("x"), "document", first, "")) is None) is recognised
