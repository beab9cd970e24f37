"""OpenHands runs: actions as calls, observations with their cause, older events without either, outcomes as tested."""

import json
from typing import Any

import pytest

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.readers.coding_agents import openhands
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("openhands", "runs/output.jsonl", 4)


def read(value: Any) -> Trajectory:
    (trajectory,) = openhands.read(json.dumps(value).encode(), SOURCE)
    return trajectory


def action(name: str, number: int, **args: Any) -> dict[str, Any]:
    return {"id": number, "source": "agent", "action": name, "args": args}


def observation(name: str, number: int, cause: int | None, content: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "source": "agent", "observation": name, "cause": cause, "content": content} | more


def test_the_sample_is_a_run_that_passed_with_an_edit_refused_and_a_call_never_made() -> None:
    (run,) = openhands.read(recording_of("openhands"), SOURCE)
    assert (run.id, run.agent, run.model, run.task) == ("kim__app-1", "openhands", "gpt-x", "Rename the flag")
    assert run.outcome.status == "passed"
    assert run.extra["git_patch"].startswith("--- a/cli.py")
    assert run.extra["metadata"]["agent_class"] == "CodeActAgent"
    assert [kept["observation"] for kept in run.extra["other_events"]] == ["agent_state_changed"]
    assert [step.role for step in run.steps] == ["user", "agent", "agent", "agent", "agent"]
    step = run.steps[1]
    assert (step.text, step.calls[0].name, step.calls[0].arguments) == ("Look around.", "run", {"command": "ls x"})
    assert (step.results[0].text, step.results[0].exit_code, step.results[0].is_error) == ("no such file", 2, None)
    assert run.steps[2].results[0].is_error is True
    assert run.steps[3].calls == ()
    assert [(result.text, result.is_error) for result in run.steps[3].results] == [("Unknown tool 'sed'", True)]


def test_an_observation_finds_its_cause_over_others() -> None:
    run = read(
        [
            action("run", 1, command="a"),
            action("run", 5, command="b"),
            observation("run", 6, 5, "B"),
            observation("run", 7, 1, "A"),
        ]
    )
    assert [[result.text for result in step.results] for step in run.steps] == [["A"], ["B"]]


def test_actions_of_one_answer_are_one_step_with_its_tokens() -> None:
    def answered(number: int, name: str, thought: str) -> dict[str, Any]:
        usage = {"prompt_tokens": 90, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 50}}
        calls = [{"id": call, "function": {"name": "bash", "arguments": call}} for call in ("t1", "t2")]
        response = {"id": "r1", "model": "gpt-x", "usage": usage, "choices": [{"message": {"tool_calls": calls}}]}
        metadata = {"tool_call_id": name, "model_response": response}
        return action("run", number, command=name, thought=thought) | {"tool_call_metadata": metadata}

    run = read([answered(1, "t1", "Both."), answered(2, "t2", ""), observation("run", 3, 2, "B")])
    (step,) = run.steps
    assert (step.text, run.model) == ("Both.", "gpt-x")
    assert step.tokens == Tokens(prompt=90, completion=7, cached=50)
    assert [(call.id, call.extra["function"]["arguments"]) for call in step.calls] == [("t1", "t1"), ("t2", "t2")]
    assert step.results[0].call_id == "t2"


def test_messages_are_texts_of_who_sent_them_and_what_is_recalled_is_the_systems() -> None:
    run = read(
        [
            action("system", 0, content="You are an agent.", tools=[]),
            action("message", 1, content="Fix it") | {"source": "user"},
            action("recall", 2, query="Fix it") | {"source": "user", "message": "Retrieving"},
            observation("recall", 3, 2, "Use git."),
            action("message", 4, content="Which file?"),
            action("change_agent_state", 5, agent_state="init") | {"source": "environment"},
        ]
    )
    assert [(step.role, step.text) for step in run.steps] == [
        ("system", "You are an agent."),
        ("user", "Fix it"),
        ("system", "Retrieving"),
        ("system", "Use git."),
        ("agent", "Which file?"),
    ]
    assert run.extra["other_events"][0]["args"] == {"agent_state": "init"}


OLD = [
    {"action": "message", "content": "Fix it", "wait_for_response": False},
    {"action": "run", "command": "ls", "thought": "Look."},
    {"observation": "run", "content": "a.py", "exit_code": 1, "command": "ls"},
    {"action": "message", "content": "Which one?", "wait_for_response": True},
]


@pytest.mark.parametrize("history", [OLD, [OLD[0:1], OLD[1:3], OLD[3:]]], ids=["events", "pairs"])
def test_older_events_have_neither_id_nor_source(history: list[Any]) -> None:
    run = read({"issue": {"owner": "kim", "repo": "app", "number": 5}, "history": history, "success": True})
    assert run.id == "kim/app#5"
    assert run.outcome.status == "unknown", "that a model thinks it succeeded is not an outcome"
    assert run.extra["success"] is True
    assert [(step.role, step.text) for step in run.steps] == [
        ("user", "Fix it"),
        ("agent", "Look."),
        ("agent", "Which one?"),
    ]
    assert run.steps[1].calls[0].arguments == {"command": "ls"}
    assert (run.steps[1].results[0].text, run.steps[1].results[0].exit_code) == ("a.py", 1)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"report": {"resolved": True}}, "passed"),
        ({"report": {"resolved": False}}, "failed"),
        ({"test_result": {"report": {"resolved": True}}}, "passed"),
        ({"resolved": False}, "failed"),
        ({"report": None, "test_result": {"git_patch": ""}}, "unknown"),
    ],
)
def test_the_outcome_is_what_the_tests_said(said: dict[str, Any], status: str) -> None:
    assert read({"instance_id": "x-1", "history": OLD} | said).outcome.status == status


def test_a_list_of_events_is_named_by_its_file_and_line() -> None:
    assert read(OLD).id == "output:4"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"instance_id": "x", "history": [3]}, r"an event is not an object - at `\$\.history\[0\]`"),
        ({"instance_id": "x", "history": "none"}, r"\$\.history"),
        ([action("run", 1) | {"cause": "late"}], r"\$\.cause"),
        (3, "neither an object nor a list"),
    ],
)
def test_what_cannot_be_is_named(value: Any, message: str) -> None:
    with pytest.raises(UnreadableTrajectory, match=message) as raised:
        read(value)
    assert raised.value.line_number == 4


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"message": "All is mended.", "args": {"thought": ""}}, "All is mended."),
        ({"args": {"thought": "Done.", "final_thought": "All is mended."}}, "Done.\nAll is mended."),
        ({"message": "All is mended.", "args": {"final_thought": "All is mended.", "outputs": {}}}, "All is mended."),
        ({"args": {"outputs": {"content": "All is mended."}, "thought": ""}}, "All is mended."),
        ({"action": "reject", "args": {"outputs": {"reason": "No hinge."}}}, "No hinge."),
    ],
)
def test_what_an_agent_says_when_it_finishes_is_the_text_of_its_last_step(event: dict[str, Any], text: str) -> None:
    events = [{"id": 0, "source": "agent", "action": "finish"} | event]
    (run,) = openhands.read(json.dumps(events).encode(), Source("openhands", "run.json"))
    assert run.steps[-1].text == text
    assert run.steps[-1].calls[0].name == events[0]["action"]


def test_what_the_program_says_of_an_action_is_kept_beside_its_call_and_its_result() -> None:
    events = [
        {"id": 0, "source": "agent", "action": "run", "message": "Running command: ls", "args": {"command": "ls"}},
        {"id": 1, "source": "agent", "observation": "run", "cause": 0, "message": "It ended.", "content": "a.py"},
    ]
    (run,) = openhands.read(json.dumps(events).encode(), Source("openhands", "run.json"))
    (step,) = run.steps
    assert (step.calls[0].extra["message"], step.results[0].extra["message"]) == ("Running command: ls", "It ended.")


def of_user(number: int, content: str) -> dict[str, Any]:
    return action("message", number, content=content) | {"source": "user"}


def test_what_the_played_user_the_condenser_and_a_delegation_say_is_not_the_user_s() -> None:
    run = read(
        [
            of_user(0, "Fix it"),
            of_user(1, "Please continue working on the task on whatever approach you think is suitable.\nIf you want…"),
            of_user(2, "/exit"),
            action("condensation", 3, summary="So far", forgotten_event_ids=[1]) | {"message": "Summary: So far"},
            action("delegate", 4, agent="BrowsingAgent", inputs={"task": "Read"}),
            of_user(5, "TASK: Read"),
            of_user(6, "TASK: Read"),
        ]
    )
    assert [step.role for step in run.steps] == ["user", "system", "system", "system", "agent", "system", "user"]
    assert run.steps[3].text == "Summary: So far"


@pytest.mark.parametrize("name", ["finish", "reject"])
def test_the_sentence_with_which_the_program_closes_is_not_the_agent_s(name: str) -> None:
    sentence = {
        "finish": "All done! What's next on the agenda?",
        "reject": "Task is rejected by the agent. Reason: No.",
    }
    run = read([action(name, 1, thought="", outputs={"reason": "No."}) | {"message": sentence[name]}])
    assert run.steps[0].text == "No."


def test_thoughts_beside_an_answer_are_reasoning() -> None:
    response = {"id": "r1", "choices": [{"message": {"reasoning_content": "Look first.", "tool_calls": []}}]}
    metadata = {"tool_call_id": "t1", "model_response": response}
    assert read([action("run", 1, command="ls") | {"tool_call_metadata": metadata}]).steps[0].reasoning == "Look first."


@pytest.mark.parametrize(
    ("seen", "is_error", "exit_code"),
    [
        (observation("run", 2, 1, "", extras={"metadata": {"exit_code": -1}}), None, None),
        (observation("user_rejected", 2, 1, "Action has been rejected by the user!"), None, None),
        (observation("browse", 2, 1, "no page", extras={"error": True}), True, None),
        (observation("mcp", 2, 1, '{"isError": true, "error": "no server", "content": []}'), True, None),
        (observation("mcp", 2, 1, '{"isError": false, "content": []}'), None, None),
        (
            observation("error", 2, 1, "x", extras={"error_id": "AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED"}),
            None,
            None,
        ),
        (observation("error", 2, 1, "x", extras={"error_id": ""}), True, None),
    ],
)
def test_whether_a_call_failed_is_what_its_observation_says(
    seen: dict[str, Any], is_error: bool | None, exit_code: int | None
) -> None:
    (result,) = read([action("run", 1, command="ls"), seen]).steps[0].results
    assert (result.is_error, result.exit_code) == (is_error, exit_code)
