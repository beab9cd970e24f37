"""Cursor: bubbles that make one answer, transcripts with calls alone, streams with results."""

import json
from typing import Any

import pytest

from misstep_harness.readers.coding_agents import cursor, cursor_agent
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

TRANSCRIPT = Source("cursor_agent", "agent-transcripts/s1/s1.jsonl")


def composer(*bubbles: dict[str, Any], **more: Any) -> Trajectory:
    line = {"misstep_database": "cursor", "composerData": {"composerId": "s1"} | more, "bubbles": bubbles}
    (result,) = cursor.read(json.dumps(line).encode(), Source("cursor", "state.vscdb", 1))
    return result


def tool(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": 2, "text": "", "toolFormerData": {"toolCallId": name, "name": "read_file", "params": "{}"} | fields}


def lines(source: Source, *values: dict[str, Any]) -> Trajectory:
    (result,) = cursor_agent.read("".join(json.dumps(value) + "\n" for value in values).encode(), source)
    return result


def test_the_sample_is_a_composer_whose_thought_and_call_are_one_step() -> None:
    (session,) = cursor.read(recording_of("cursor"), Source("cursor", "state.vscdb", 1))
    assert (session.id, session.model, session.task) == ("s1", "gpt-x", "Rename the flag")
    asked, called, done = session.steps
    assert asked.timestamp == "2026-01-05T10:00:00.000Z"
    assert called.reasoning == "Look first."
    assert [(call.name, call.arguments, call.id) for call in called.calls] == [
        ("run_terminal_cmd", {"command": "ls x"}, "c1")
    ]
    assert [(result.text, result.is_error, result.exit_code) for result in called.results] == [
        ("no such file", False, 2)
    ]
    assert (done.text, done.tokens) == ("Done.", Tokens(90, 7))


def test_calls_of_one_call_of_the_model_are_one_step_and_others_are_steps_each() -> None:
    session = composer(
        tool("c1", modelCallId="m1", result="a"),
        tool("c2", modelCallId="m1", result="b"),
        tool("c3", result="c"),
        tool("c4", result="d", status="error"),
    )
    assert [[call.id for call in step.calls] for step in session.steps] == [["c1", "c2"], ["c3"], ["c4"]]
    assert session.steps[2].results[0].is_error is True


def test_thoughts_may_stand_in_blocks_of_their_own() -> None:
    session = composer({"type": 2, "text": "", "allThinkingBlocks": [{"text": "One."}, {"text": ""}, {"text": "Two."}]})
    assert session.steps[0].reasoning == "One.\nTwo."


def test_a_call_that_is_not_over_has_no_result_and_a_sub_agents_composer_names_its_parent() -> None:
    session = composer(tool("c1", status="loading"), subagentInfo={"parentComposerId": "s0"})
    assert (session.steps[0].results, session.parent) == ((), "s0")


def test_an_older_composer_holds_its_bubbles_itself() -> None:
    session = composer(conversation=[{"type": 1, "text": "Fix it", "createdAt": 1767607200000}])
    assert [(step.text, step.timestamp) for step in session.steps] == [("Fix it", "2026-01-05T10:00:00+00:00")]


def test_the_sample_of_a_stream_has_the_result_of_its_call() -> None:
    (session,) = cursor_agent.read(recording_of("cursor_agent"), Source("cursor_agent", "run.jsonl"))
    assert (session.id, session.model, session.task) == ("s1", "gpt-x", "Rename the flag")
    step = session.steps[1]
    assert (step.text, [(call.name, call.arguments) for call in step.calls]) == (
        "I look.",
        [("shell", {"command": "ls x"})],
    )
    assert [(result.text, result.is_error, result.exit_code) for result in step.results] == [("no such file", True, 2)]
    assert session.steps[2].timestamp == "2026-01-05T10:00:09+00:00"


def test_a_transcript_has_the_persons_own_words_and_calls_without_results() -> None:
    asked = "<timestamp>Monday</timestamp>\n<user_query>\nFix it\n</user_query>"
    call = {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}
    session = lines(
        TRANSCRIPT,
        {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "I look."}, call]}},
        {"type": "turn_ended", "status": "success"},
    )
    assert (session.id, session.task) == ("s1", "Fix it")
    assert session.steps[0].extra["injected"] == ["<timestamp>Monday</timestamp>"]
    assert [(step.calls[0].arguments, step.results) for step in session.steps[1:]] == [({"command": "ls"}, ())]
    assert session.extra["other_lines"][0]["line"] == 3


def test_a_transcript_with_thoughts_and_results_keeps_them_and_a_mere_result_is_no_word_of_a_person() -> None:
    thought = {"type": "thinking", "thinking": "Look first."}
    call = {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a.py"}]}
    session = lines(
        TRANSCRIPT,
        {"role": "assistant", "message": {"content": [thought, call]}},
        {"role": "user", "message": {"content": [answer]}},
    )
    (step,) = session.steps
    assert (step.reasoning, [result.text for result in step.results]) == ("Look first.", ["a.py"])


def test_a_call_is_found_among_what_else_is_said_of_it() -> None:
    call = {
        "hookAdditionalContexts": [],
        "readToolCall": {"args": {"path": "a"}, "description": "d"},
        "toolCallId": "c9",
    }
    session = lines(TRANSCRIPT, {"type": "tool_call", "subtype": "started", "tool_call": call})
    (made,) = session.steps[0].calls
    assert (made.name, made.arguments, made.id, made.extra["description"]) == ("read", {"path": "a"}, "c9", "d")


def test_a_transcript_of_a_sub_agent_names_the_session_above_it() -> None:
    source = Source("cursor_agent", "agent-transcripts/s1/subagents/a7.jsonl")
    session = lines(source, {"role": "user", "message": {"content": "Search"}})
    assert (session.id, session.parent, session.task) == ("a7", "s1", "Search")


@pytest.mark.parametrize(
    ("result", "text", "is_error"),
    [
        ({"success": {"content": "x = 1", "totalLines": 1}}, "x = 1", False),
        ({"rejected": {"reason": "by the user"}}, "by the user", True),
        ({"success": {"files": 2}}, '{"files":2}', False),
    ],
)
def test_a_result_is_what_stands_under_its_outcome(result: Any, text: str, is_error: bool) -> None:
    call = {"type": "tool_call", "subtype": "completed", "call_id": "c1"}
    session = lines(TRANSCRIPT, call | {"tool_call": {"readToolCall": {"args": {"path": "a"}, "result": result}}})
    assert [(one.text, one.is_error) for one in session.steps[0].results] == [(text, is_error)]


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}} | fields


def test_a_text_that_comes_in_pieces_is_one_step_and_the_lines_that_repeat_it_are_none() -> None:
    call = {"shellToolCall": {"args": {"command": "ls"}, "result": {"isBackground": False, "success": {"stdout": "a"}}}}
    session = lines(
        Source("cursor_agent", "stream.jsonl"),
        {"type": "system", "subtype": "init", "session_id": "s1"},
        said("I ", timestamp_ms=1),
        said("look.", timestamp_ms=2),
        said("I look.", timestamp_ms=3, model_call_id="m1"),
        {"type": "tool_call", "subtype": "completed", "call_id": "c1", "tool_call": call},
        said("Do", timestamp_ms=4),
        said("ne.", timestamp_ms=5),
        said("I look.Done."),
    )
    assert [step.text for step in session.steps] == ["I look.", "Done."]
    assert [result.is_error for result in session.steps[0].results] == [False]


def test_a_call_that_failed_without_a_word_has_failed() -> None:
    (result,) = composer(tool("c1", status="error")).steps[0].results
    assert (result.is_error, result.recorded) == (True, False)
