"""Goose sessions, exported and as earlier versions wrote them: calls that could not be read, what nobody sees."""

import json
from typing import Any

import pytest

from misstep_harness.readers.coding_agents import goose
from misstep_harness.trajectory import Source, Trajectory
from tests.families.recordings import recording_of


def read(*messages: dict[str, Any]) -> Trajectory:
    (session,) = goose.read(
        json.dumps({"working_dir": "/", "conversation": messages}).encode(), Source("goose", "export.json")
    )
    return session


def test_the_sample_is_a_session_with_the_errors_of_its_two_calls() -> None:
    (session,) = goose.read(recording_of("goose"), Source("goose", "export.json"))
    assert (session.id, session.model, session.task) == ("20260105_1", "gpt-x", "Rename the flag")
    assert session.extra["session"]["output_tokens"] == 7
    assert [(step.role, step.text) for step in session.steps] == [
        ("user", "Rename the flag"),
        ("agent", "I look."),
        ("agent", "Done."),
    ]
    step = session.steps[1]
    assert (step.reasoning, step.timestamp) == ("Look first.", "2026-01-05T10:00:01+00:00")
    called, broken = step.calls
    assert (called.name, called.arguments, called.parse_error) == ("developer__shell", {"command": "ls x"}, None)
    assert broken.parse_error == "The arguments are not JSON"
    assert [(result.text, result.is_error, result.call_id) for result in step.results] == [
        ("no such file", True, "c1"),
        ("-32602: no JSON", True, "c2"),
    ]


def test_an_earlier_session_has_the_same_steps_and_the_name_of_its_file() -> None:
    (exported,) = goose.read(recording_of("goose"), Source("goose", "export.json"))
    (session,) = goose.JSONL.read(recording_of("goose_jsonl"), Source("goose_jsonl", "sessions/20250105_1.jsonl"))
    assert session.steps == exported.steps
    assert (session.id, session.extra["session"]["total_tokens"]) == ("20250105_1", 97)


def test_the_oldest_sessions_have_no_header() -> None:
    messages = b"\n".join(recording_of("goose_jsonl").splitlines()[1:])
    (session,) = goose.JSONL.read(messages, Source("goose_jsonl", "a.jsonl"))
    assert (session.task, "session" in session.extra) == ("Rename the flag", False)


def test_what_the_person_does_not_see_and_notes_are_steps_of_the_system() -> None:
    hidden = {"role": "user", "created": 1, "content": [{"type": "text", "text": "Summary"}]}
    note = {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "Compacted"}
    session = read(
        hidden | {"metadata": {"userVisible": False, "agentVisible": True}},
        {"role": "assistant", "created": 2, "content": [note]},
        {"role": "user", "created": 3, "content": [{"type": "text", "text": "Fix it"}]},
    )
    assert [(step.role, step.text) for step in session.steps] == [
        ("system", "Summary"),
        ("system", "Compacted"),
        ("user", "Fix it"),
    ]
    assert session.task == "Fix it"


def test_an_answer_of_an_earlier_version_is_a_list_of_contents() -> None:
    call = {"type": "toolRequest", "id": "c", "toolCall": {"status": "success", "value": {"name": "shell"}}}
    answer = {"status": "success", "value": [{"type": "text", "text": "a"}, {"type": "image", "data": "eA=="}]}
    session = read(
        {"role": "assistant", "created": 1, "content": [call]},
        {"role": "user", "created": 2, "content": [{"type": "toolResponse", "id": "c", "toolResult": answer}]},
    )
    (result,) = session.steps[0].results
    assert (result.text, result.is_error) == ("a", None)
    assert result.extra["content"] == [{"type": "image", "data": "eA=="}]


def said(role: str, text: str, **metadata: bool) -> dict[str, Any]:
    return {"role": role, "created": 1, "content": [{"type": "text", "text": text}], "metadata": metadata}


def test_what_a_compaction_says_in_both_names_is_the_program_s() -> None:
    session = read(
        said("user", "Fix it", agentVisible=False),
        said("assistant", "I look.", agentVisible=False),
        said("user", "Summary", userVisible=False),
        said("assistant", "Your context was compacted.", userVisible=False),
        said("user", "Fix it"),
        said("assistant", "Done."),
        said("user", "Fix it"),
    )
    roles = [step.role for step in session.steps]
    assert roles == ["user", "agent", "system", "system", "system", "agent", "user"]


def test_words_that_a_compaction_hides_where_they_were_typed_are_the_person_s_where_they_are_shown() -> None:
    session = read(
        said("user", "Go on"),
        said("assistant", "Half."),
        said("user", "Go on", userVisible=False, agentVisible=False),
        said("user", "Summary", userVisible=False),
        said("user", "Go on"),
    )
    assert [step.role for step in session.steps] == ["user", "agent", "system", "system", "user"]


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("user", "You MUST call the `final_output` tool NOW with the final output for the user."),
        (
            "assistant",
            "Ran into this error: no credit.\n\nPlease retry if you think this is a transient or recoverable error.",
        ),
        ("assistant", "The existing call to shell was interrupted. How would you like to proceed?"),
    ],
)
def test_sentences_of_the_program_are_steps_of_the_system(role: str, text: str) -> None:
    assert [step.role for step in read(said(role, text)).steps] == ["system"]


def test_a_question_whether_a_tool_may_run_is_the_program_s_and_reasoning_is_the_agent_s() -> None:
    asked = {"type": "toolConfirmationRequest", "id": "c", "toolName": "shell", "arguments": {}}
    session = read(
        {"role": "assistant", "created": 1, "content": [asked]},
        {"role": "assistant", "created": 2, "content": [{"type": "reasoning", "text": "Look first."}]},
    )
    assert [(step.role, step.reasoning) for step in session.steps] == [("system", ""), ("agent", "Look first.")]


def answer(result: dict[str, Any]) -> Trajectory:
    call = {"type": "toolRequest", "id": "c", "toolCall": {"status": "success", "value": {"name": "shell"}}}
    return read(
        {"role": "assistant", "created": 1, "content": [call]},
        {"role": "user", "created": 2, "content": [{"type": "toolResponse", "id": "c", "toolResult": result}]},
    )


def test_of_an_answer_for_two_audiences_the_agent_reads_its_own() -> None:
    parts = [{"type": "text", "text": "a", "annotations": {"audience": [who]}} for who in ("assistant", "user")]
    (result,) = answer({"status": "success", "value": {"content": parts}}).steps[0].results
    assert (result.text, len(result.extra["content"])) == ("a", 1)


def test_a_call_that_the_person_interrupted_has_not_failed() -> None:
    why = "-32603: Interrupted by the user to make a correction"
    (result,) = answer({"status": "error", "error": why}).steps[0].results
    assert (result.text, result.is_error) == (why, None)
