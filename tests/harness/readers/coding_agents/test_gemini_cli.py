"""Gemini CLI sessions: messages that grow and patches applied, one result a call, the older document too."""

import json
from typing import Any

from misstep.harness.readers.coding_agents import gemini_cli
from misstep.harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("gemini_cli", "logs/session.jsonl")
HEADER = {"sessionId": "s1", "projectHash": "9f", "startTime": "2026-01-05T10:00:00Z", "kind": "main"}


def read(*lines: dict[str, Any], unfinished: str = "") -> Trajectory:
    data = "".join(json.dumps(line) + "\n" for line in (HEADER, *lines)) + unfinished
    (trajectory,) = gemini_cli.read(data.encode(), SOURCE)
    return trajectory


def user(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "type": "user", "content": [{"text": text}]}


def test_the_sample_is_a_session_of_two_answers() -> None:
    (session,) = gemini_cli.read(recording_of("gemini_cli"), SOURCE)
    assert (session.id, session.agent, session.model) == ("s1", "gemini-cli", "gemini-x")
    asked = session.task
    assert [(step.role, step.text) for step in session.steps[1:]] == [
        ("user", asked),
        ("agent", ""),
        ("agent", "Done."),
    ]
    assert asked == "Rename the flag"
    assert session.steps[0].role == "system", "the context that the program sends"
    step = session.steps[2]
    assert step.reasoning == "Look: First list files."
    assert step.tokens == Tokens(prompt=90, completion=7, cached=50)
    assert step.extra["tokens"] == {"thoughts": 3}
    assert [(call.name, call.arguments) for call in step.calls] == [("list_directory", {"path": "."})]
    assert [(result.text, result.is_error, result.call_id) for result in step.results] == [("a.py", False, "c1")]


def test_a_message_written_again_replaces_the_first_where_that_stood() -> None:
    session = read(user("m1", "Fix"), {"id": "m2", "type": "info", "content": "update"}, user("m1", "Fix it"))
    assert [step.text for step in session.steps] == ["Fix it", "update"]
    assert [step.role for step in session.steps] == ["user", "system"]


def test_a_patch_of_all_messages_replaces_those_before() -> None:
    patch = {"$set": {"messages": [user("m5", "Summary")], "summary": "x"}}
    session = read(user("m1", "Fix it"), patch, {"note": 1})
    assert [step.text for step in session.steps] == ["Summary"]
    assert session.extra["other_lines"] == [{"line": 4, "value": {"note": 1}}], "neither message nor patch"
    assert session.extra["session"]["summary"] == "x"


def test_messages_that_were_rewound_are_kept_beside() -> None:
    session = read(user("m1", "Fix it"), user("m2", "No"), user("m3", "Stop"), {"$rewindTo": "m2"}, user("m4", "Yes"))
    assert [step.text for step in session.steps] == ["Fix it", "Yes"]
    assert [kept["rewound"]["id"] for kept in session.extra["other_lines"]] == ["m3", "m2"]


def test_a_failed_call_is_an_error_by_its_status_or_its_response() -> None:
    def call(name: str, status: str | None, response: dict[str, Any]) -> dict[str, Any]:
        result = [{"functionResponse": {"id": name, "name": "f", "response": response}}]
        return {"id": name, "name": "f", "args": {}, "status": status, "result": result}

    calls = [call("a", "error", {"output": "x"}), call("b", None, {"error": "y"}), call("c", "cancelled", {"z": 1})]
    session = read({"id": "m1", "type": "gemini", "content": "", "toolCalls": calls})
    assert [(result.text, result.is_error) for result in session.steps[0].results] == [
        ("x", True),
        ("y", True),
        ('{"z":1}', None),
    ]


def test_a_response_that_only_a_user_line_has_stands_with_its_call() -> None:
    session = read(
        {"id": "m1", "type": "gemini", "content": "", "toolCalls": [{"id": "a", "name": "f", "args": {}}]},
        {"id": "m2", "type": "user", "content": [{"functionResponse": {"id": "a", "response": {"output": "x"}}}]},
    )
    assert [[result.text for result in step.results] for step in session.steps] == [["x"]]


def test_the_older_document_is_read() -> None:
    document = HEADER | {"messages": [user("m1", "Fix it"), {"id": "m2", "type": "gemini", "content": "Done."}]}
    (session,) = gemini_cli.read(json.dumps(document, indent=2).encode(), SOURCE)
    assert [(step.role, step.text) for step in session.steps] == [("user", "Fix it"), ("agent", "Done.")]


def test_a_header_of_another_session_begins_another_run() -> None:
    def session(name: str, text: str) -> list[dict[str, Any]]:
        header = {"sessionId": name, "projectHash": "9f", "startTime": "2026-01-05T10:00:00Z"}
        return [header, {"id": "m1", "type": "user", "content": [{"text": text}]}]

    lines = [*session("a", "Fix it"), *session("b", "Test it"), session("a", "")[0] | {"lastUpdated": "later"}]
    data = "\n".join(json.dumps(line) for line in lines).encode()
    results = list(gemini_cli.read(data, SOURCE))
    assert [(one.id, one.task, one.source.line) for one in results] == [("a", "Fix it", 1), ("b", "Test it", 3)]
    assert results[0].extra["session"]["lastUpdated"] == "later", "a header of the same session goes on with it"
