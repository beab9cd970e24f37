"""Copilot CLI sessions: calls that several events tell of, sub-agents, what the person ran, tokens."""

import json
from typing import Any

import pytest

from misstep_harness.readers.coding_agents import copilot_cli
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("copilot_cli", "session-state/s9/events.jsonl")


def event(kind: str, /, agent: str | None = None, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data} | ({"agentId": agent} if agent else {})


def read(*events: dict[str, Any]) -> list[Trajectory]:
    return list(copilot_cli.read("".join(json.dumps(one) + "\n" for one in events).encode(), SOURCE))


def test_the_sample_is_a_session_and_its_sub_agent_with_each_call_once_and_its_result() -> None:
    session, agent = copilot_cli.read(recording_of("copilot_cli"), SOURCE)
    assert (session.id, session.model, session.task, session.parent) == ("s1", "gpt-x", "Rename the flag", None)
    assert [(step.role, step.text) for step in session.steps] == [
        ("user", "Rename the flag"),
        ("agent", "I look."),
        ("agent", ""),
        ("agent", "Done."),
    ]
    assert session.steps[0].extra["data"] == {"transformedContent": "Rename the flag, kindly"}
    assert (agent.id, agent.parent, agent.task) == ("s1/a7", "s1", "Search for flags")
    assert [step.text for step in agent.steps] == ["Found two."]
    first, second = session.steps[1:3]
    assert [(call.name, call.arguments, call.id) for call in first.calls] == [("bash", {"command": "ls x"}, "c1")]
    assert [(result.is_error, result.exit_code) for result in first.results] == [(False, 2)]
    assert (first.reasoning, first.tokens) == ("Look first.", Tokens(completion=7))
    assert [(result.text, result.is_error) for result in second.results] == [("stopped", True)]


def test_a_session_without_a_start_is_called_after_its_folder_and_a_start_alone_is_a_call() -> None:
    started = event("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "ls"})
    (session,) = read(event("user.message", content="Fix it"), started)
    assert session.id == "s9"
    assert [call.name for call in session.steps[1].calls] == ["bash"]


def test_an_older_sub_agent_is_known_by_the_call_that_began_it() -> None:
    asked = {"toolCallId": "c1", "name": "task", "arguments": {"prompt": "Search"}}
    _, agent = read(
        event("assistant.message", content="", toolRequests=[asked]),
        event("assistant.message", content="Found.", parentToolCallId="c1"),
    )
    assert (agent.id, agent.task) == ("s9/c1", "Search")


def test_what_the_person_ran_and_what_the_program_says_are_steps_of_the_system() -> None:
    (session,) = read(
        event("user.message", content="Use the skill", source="skill-pdf"),
        event("tool.user_requested", toolCallId="c1", toolName="bash", arguments={"command": "false"}),
        event("tool.execution_complete", toolCallId="c1", success=False, error={"message": "failed"}),
        event("session.error", message="Quota exceeded", errorType="quota"),
        event("user.message", content="Fix it"),
    )
    assert [step.role for step in session.steps] == ["system", "system", "system", "user"]
    assert [result.text for result in session.steps[1].results] == ["failed"]
    assert session.task == "Fix it"


def test_what_a_request_took_is_of_the_message_before_it() -> None:
    usage = event("assistant.usage", model="gpt-x", inputTokens=90, outputTokens=7, cacheReadTokens=50, cost=1)
    (session,) = read(event("assistant.message", content="Done."), usage)
    assert session.steps[0].tokens == Tokens(90, 7, 50)
    assert session.model == "gpt-x"


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"content": "x\n<exited with exit code 1>"}, 1),
        ({"content": "x\n<shellId: 0 completed with exit code 0>"}, 0),
        ({"content": "x", "contents": [{"type": "terminal", "text": "x", "exitCode": 3}]}, 3),
        ({"content": "it said: exited with exit code 1> and went on"}, None),
        ("plain", None),
    ],
)
def test_an_exit_code_is_read_where_the_program_says_it(result: Any, code: int | None) -> None:
    (session,) = read(event("tool.execution_complete", toolCallId="c1", success=True, result=result))
    assert session.steps[0].results[0].exit_code == code


def test_what_autopilot_goes_on_with_is_not_the_users() -> None:
    (session,) = read(event("user.message", content="Go on until done.", isAutopilotContinuation=True))
    assert [step.role for step in session.steps] == ["system"]


def test_the_input_of_a_custom_tool_is_a_text_and_not_malformed() -> None:
    patch = {"toolCallId": "c1", "name": "apply_patch", "arguments": "*** Begin Patch", "type": "custom"}
    (session,) = read(event("assistant.message", content="", toolRequests=[patch]))
    (call,) = session.steps[0].calls
    assert (call.arguments, call.parse_error) == ("*** Begin Patch", None)
