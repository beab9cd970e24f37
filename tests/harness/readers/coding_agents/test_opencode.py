"""opencode sessions: a step an answer, what the program puts in, sub-agents, one piece of the older folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep.harness.readers.coding_agents import opencode, opencode_stream
from misstep.harness.readers.files import sample_file
from misstep.harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("opencode", "export.json")


def read(*messages: dict[str, Any]) -> Trajectory:
    (session,) = opencode.read(json.dumps({"info": {"id": "ses_1"}, "messages": messages}).encode(), SOURCE)
    return session


def message(role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"role": role} | info, "parts": list(parts)}


def test_the_sample_is_a_sub_agents_session_of_two_answers() -> None:
    (session,) = opencode.read(recording_of("opencode"), SOURCE)
    assert (session.id, session.parent, session.model, session.task) == ("ses_1", "ses_0", "gpt-x", "Rename the flag")
    asked, called, done = session.steps
    assert asked.extra["injected"] == ["The file cli.py is open."]
    assert (called.role, called.reasoning, called.timestamp) == ("agent", "Look first.", "2026-01-05T10:00:01+00:00")
    assert called.tokens == Tokens(prompt=90, completion=7, cached=50, cost_usd=0.001)
    assert [(call.name, call.arguments, call.id) for call in called.calls] == [("bash", {"command": "ls x"}, "c1")]
    assert [(result.text, result.is_error, result.exit_code) for result in called.results] == [
        ("no such file", False, 2)
    ]
    assert (done.text, done.tokens) == ("Done.", Tokens(90, 7, 50, 0.002))


def test_a_message_of_one_answer_has_its_duration_and_what_the_message_cost() -> None:
    usage = {"input": 40, "output": 7, "cache": {"read": 0, "write": 10}}
    times = {"created": 1000, "completed": 3500}
    session = read(message("assistant", {"type": "text", "text": "Hi"}, tokens=usage, cost=0.5, time=times))
    assert (session.steps[0].seconds, session.steps[0].tokens) == (2.5, Tokens(50, 7, 0, 0.5, 10))


@pytest.mark.parametrize(
    ("state", "results"),
    [
        ({"status": "error", "input": {}, "error": "not found"}, [("not found", True)]),
        ({"status": "running", "input": {}}, []),
        ({"status": "completed", "input": {}, "output": ""}, [("", False)]),
    ],
)
def test_a_call_has_a_result_once_it_is_over(state: dict[str, Any], results: list[tuple[str, bool]]) -> None:
    session = read(message("assistant", {"type": "tool", "callID": "c", "tool": "read", "state": state}))
    assert [(result.text, result.is_error) for result in session.steps[0].results] == results


def test_a_message_of_the_program_alone_and_a_summary_are_steps_of_the_system() -> None:
    session = read(
        message("user", {"type": "text", "text": "Continue", "synthetic": True}),
        message("assistant", {"type": "text", "text": "So far"}, summary=True),
    )
    assert [(step.role, step.text) for step in session.steps] == [("system", "Continue"), ("system", "So far")]


def test_a_stream_has_the_steps_of_its_messages_and_a_call_of_no_tool_is_an_error() -> None:
    (run,) = opencode_stream.read(recording_of("opencode_stream"), Source("opencode_stream", "run.jsonl"))
    assert (run.id, [step.text for step in run.steps]) == ("ses_1", ["", "Done."])
    called, done = run.steps
    assert [(call.name, call.parse_error) for call in called.calls] == [("write", "no such tool")]
    assert [(result.text, result.is_error) for result in called.results] == [("It is invalid.", True)]
    assert (done.tokens, done.timestamp) == (Tokens(90, 7, 50, 0.001), "2026-01-05T10:00:01+00:00")


def test_for_one_piece_of_the_older_folder_the_refusal_says_what_to_give(tmp_path: Path) -> None:
    piece = tmp_path / "ses_1.json"
    piece.write_text(json.dumps({"id": "ses_1", "projectID": "p", "time": {"created": 1}}))
    assert "opencode export" in str(opencode.refuse(sample_file(piece)))
