"""opencode sessions: a step an answer, what the program puts in, sub-agents, one piece of the older folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.readers.coding_agents import opencode
from misstep_harness.readers.files import sample_file
from misstep_harness.trajectory import Source, Tokens, Trajectory
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


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words} | more


def test_a_compaction_and_the_question_that_it_asks_once_more_are_the_program_s() -> None:
    session = read(
        message("user", text("Fix it"), id="m1"),
        message("user", {"type": "compaction", "auto": True, "overflow": True}, id="m2"),
        message("assistant", text("So far"), summary=True),
        message("user", text("Fix it"), text("Called the Read tool", synthetic=True), id="m3"),
        message("user", {"type": "compaction", "auto": True}, id="m4"),
        message("user", text("Fix it"), id="m5"),
    )
    assert [step.role for step in session.steps] == ["user", "system", "system", "system", "system", "user"]


def test_a_command_that_the_person_ran_is_no_call_of_the_agent_s_and_a_subtask_is_what_was_typed() -> None:
    ran = {"type": "tool", "callID": "c", "tool": "bash", "state": {"status": "completed", "output": "a", "input": {}}}
    session = read(
        message("user", text("The following tool was executed by the user", synthetic=True), id="m1"),
        message("assistant", ran, id="m2", parentID="m1"),
        message("user", {"type": "subtask", "prompt": "Review a.py", "command": "review"}, id="m3"),
        message("user", text("Shown only", ignored=True), id="m4"),
    )
    assert [(step.role, step.text) for step in session.steps[1:]] == [
        ("system", ""),
        ("user", "/review"),
        ("system", "Shown only"),
    ]
    assert [result.text for result in session.steps[1].results] == ["a"]


def test_a_call_that_was_interrupted_has_not_failed_and_one_that_never_came_whole_has_no_arguments() -> None:
    stopped = {"status": "error", "input": {}, "error": "Tool execution aborted", "metadata": {"interrupted": True}}
    (step,) = read(
        message(
            "assistant",
            {"type": "tool", "callID": "a", "tool": "read", "state": stopped},
            {"type": "tool", "callID": "b", "tool": "read", "state": {"status": "pending", "input": {}, "raw": ""}},
        )
    ).steps
    assert [result.is_error for result in step.results] == [None]
    assert [call.recorded for call in step.calls] == [True, False]


def test_thoughts_are_part_of_the_answer_s_tokens_where_they_are_counted_apart() -> None:
    usage = {"input": 40, "output": 7, "reasoning": 3, "total": 50, "cache": {"read": 0, "write": 0}}
    assert read(message("assistant", text("Hi"), tokens=usage)).steps[0].tokens == Tokens(40, 10, 0)


def test_a_stream_has_the_steps_of_its_messages_and_a_call_of_no_tool_is_an_error() -> None:
    (run,) = opencode.STREAM.read(recording_of("opencode_stream"), Source("opencode_stream", "run.jsonl"))
    assert (run.id, [step.text for step in run.steps]) == ("ses_1", ["", "Done."])
    called, done = run.steps
    assert [(call.name, call.parse_error) for call in called.calls] == [("write", "no such tool")]
    assert [(result.text, result.is_error) for result in called.results] == [("It is invalid.", True)]
    assert (done.tokens, done.timestamp) == (Tokens(90, 7, 50, 0.001), "2026-01-05T10:00:01+00:00")


def test_for_one_piece_of_the_older_folder_the_refusal_says_what_to_give(tmp_path: Path) -> None:
    piece = tmp_path / "ses_1.json"
    piece.write_text(json.dumps({"id": "ses_1", "projectID": "p", "time": {"created": 1}}))
    assert "opencode export" in str(opencode.refuse(sample_file(piece)))
