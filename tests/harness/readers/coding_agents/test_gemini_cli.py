"""Gemini CLI sessions: messages that grow and patches applied, one result a call, the older document too."""

import json
from typing import Any

import pytest

from misstep_harness.readers.coding_agents import gemini_cli
from misstep_harness.trajectory import Source, Tokens, Trajectory
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
    assert step.tokens == Tokens(prompt=90, completion=10, cached=50), "thoughts are billed as the answer is"
    assert step.extra["tokens"] == {"thoughts": 3}
    assert [(call.name, call.arguments) for call in step.calls] == [("list_directory", {"path": "."})]
    assert [(result.text, result.is_error, result.call_id) for result in step.results] == [("a.py", False, "c1")]


def test_a_message_written_again_replaces_the_first_where_that_stood() -> None:
    session = read(user("m1", "Fix"), {"id": "m2", "type": "info", "content": "update"}, user("m1", "Fix it"))
    assert [step.text for step in session.steps] == ["Fix it", "update"]
    assert [step.role for step in session.steps] == ["user", "system"]


def agent(name: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": name, "type": "gemini", "content": content} | fields


def history(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"$set": {"messages": list(messages)} | fields}


def called(name: str, answer: str) -> dict[str, Any]:
    result = [{"functionResponse": {"id": name, "name": "f", "response": {"output": answer}}}]
    return {"id": name, "name": "f", "args": {"x": 1}, "status": "success", "result": result}


def roles(session: Trajectory) -> list[tuple[str, str]]:
    return [(step.role, step.text) for step in session.steps]


def test_what_a_compression_leaves_out_stays_and_its_summary_is_the_program_s() -> None:
    summary = user("m5", "<scratchpad>…</scratchpad><state_snapshot>goal</state_snapshot>")
    written = history(summary, agent("m6", "Got it. Thanks for the additional context!"), summary="x")
    session = read(user("m1", "Fix it"), agent("m2", "Done."), written, user("m7", "Test it"), {"note": 1})
    assert [(role, text) for role, text in roles(session) if role != "system"] == [
        ("user", "Fix it"),
        ("agent", "Done."),
        ("user", "Test it"),
    ]
    assert [step.role for step in session.steps] == ["user", "agent", "system", "system", "user"]
    assert session.extra["other_lines"] == [{"line": 6, "value": {"note": 1}}], "neither message nor patch"
    assert session.extra["session"]["summary"] == "x"


def test_a_history_written_anew_with_masked_answers_repeats_nothing() -> None:
    parts = [{"text": "Look.", "thought": True}, {"functionCall": {"id": "c1", "name": "f", "args": {"x": 1}}}]
    masked = [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": "masked"}}}]
    anew = [user("n1", "Fix it"), agent("n2", parts), {"id": "n3", "type": "user", "content": masked}]
    first = [user("m1", "Fix it"), agent("m2", "", toolCalls=[called("c1", "long")])]
    session = read(*first, *anew, history(*anew), user("m4", "And test"), {"$rewindTo": "m4"}, user("m5", "Stop"))
    assert roles(session) == [("user", "Fix it"), ("agent", ""), ("user", "Stop")]
    assert [result.text for result in session.steps[1].results] == ["long"]
    longer = agent("n2", parts, toolCalls=[called("c1", "masked"), called("c2", "next")])
    assert [len(step.calls) for step in read(*first, *anew, history(*anew), longer).steps] == [0, 2]
    again = read(*first, *anew, history(*anew), {"$rewindTo": "n1"}, user("m5", "Stop"))
    assert roles(again) == [("user", "Stop")], "a copy is rewound as what it is a copy of"


def test_an_aborted_turn_stays_and_words_typed_twice_are_two() -> None:
    lines = [user("m1", "Go on"), agent("m2", "Done."), user("m3", "Go on"), agent("m4", "Half", toolCalls=[])]
    assert len(read(*lines, history(*lines[:2])).steps) == 4
    assert len(read(*lines, history(user("m0", "Summary"), *lines[2:])).steps) == 5


def test_contents_of_mentioned_files_and_other_words_of_the_program_are_not_the_user_s() -> None:
    texts = ["Fix @a.py", "\n--- Content from referenced files ---", "\nContent from @a.py:\n", "def f(): never()"]
    mention = {"id": "m1", "type": "user", "content": [{"text": text} for text in texts]}
    joined = user("m2", "Fix @b.py\n--- Content from referenced files ---\nContent from @b.py:\nnever")
    hooked = {"id": "m3", "type": "user", "content": [{"text": "Go"}, {"text": "<hook_context>x</hook_context>"}]}
    loop = user("m4", "System: Potential loop detected. Details: x.") | {"displayContent": [{"text": "Go"}]}
    onward = user("m5", "Please continue.") | {"displayContent": [{"text": "Go"}]}
    session = read(mention, joined, hooked, loop, onward, user("m6", "Please continue."))
    assert roles(session)[:3] == [("user", "Fix @a.py"), ("user", "Fix @b.py"), ("user", "Go")]
    assert "never()" in session.steps[0].extra["injected"][-1]
    assert [step.role for step in session.steps[3:]] == ["system", "system", "user"]


def test_the_user_typed_what_was_shown_and_the_hint_that_went_with_an_answer() -> None:
    expanded = user("m1", "Write a commit message that …") | {"displayContent": [{"text": "/commit"}]}
    hint = {"text": "User steering update:\n<user_input>\nuse tabs\n</user_input>\nInternal instruction: …"}
    answer = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "a"}}}
    picture = {"inlineData": {"mimeType": "image/png", "data": "AA"}}
    session = read(
        expanded,
        agent("m2", "", toolCalls=[called("c1", "a")]),
        {"id": "m3", "type": "user", "content": [hint, answer]},
        {"id": "m4", "type": "user", "content": [answer, picture]},
    )
    assert roles(session) == [("user", "/commit"), ("agent", ""), ("user", "use tabs"), ("system", "")]
    assert session.steps[0].extra["injected"] == ["Write a commit message that …"]


def test_calls_and_thoughts_among_the_parts_of_an_answer_are_calls_and_thoughts() -> None:
    call = {"functionCall": {"id": "c1", "name": "f", "args": {"x": 1}}}
    both = agent("m1", [{"text": "Look.", "thought": True}, {"text": "So."}, call], toolCalls=[called("c1", "a")])
    alone = agent("m2", [{"functionCall": {"id": "c2", "name": "g"}}])
    first, second = read(both, alone).steps
    assert (first.text, first.reasoning, len(first.calls), len(first.results)) == ("So.", "Look.", 1, 1)
    assert [(made.name, made.arguments, made.id) for made in second.calls] == [("g", {}, "c2")]
    assert "content" not in first.extra


def test_messages_that_were_rewound_are_kept_beside() -> None:
    session = read(user("m1", "Fix it"), user("m2", "No"), user("m3", "Stop"), {"$rewindTo": "m2"}, user("m4", "Yes"))
    assert [step.text for step in session.steps] == ["Fix it", "Yes"]
    assert [kept["rewound"]["id"] for kept in session.extra["other_lines"]] == ["m3", "m2"]


def test_a_failed_call_is_an_error_by_its_status_or_its_response_and_a_cancelled_one_is_none() -> None:
    def call(name: str, status: str | None, response: dict[str, Any]) -> dict[str, Any]:
        result = [{"functionResponse": {"id": name, "name": "f", "response": response}}]
        return {"id": name, "name": "f", "args": {}, "status": status, "result": result}

    stopped = {"error": "[Operation Cancelled] Reason: User cancelled"}
    calls = [
        call("a", "error", {"output": "x"}),
        call("b", None, {"error": "y"}),
        call("c", "success", {"z": 1}),
        call("d", "cancelled", stopped),
    ]
    session = read({"id": "m1", "type": "gemini", "content": "", "toolCalls": calls})
    assert [(result.text, result.is_error) for result in session.steps[0].results] == [
        ("x", True),
        ("y", True),
        ('{"z":1}', False),
        (stopped["error"], None),
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


@pytest.mark.parametrize(
    ("kind", "file", "parent"),
    [("subagent", "chats/s0/s1.jsonl", "s0"), ("subagent", "chats/s1.jsonl", None), ("main", "logs/s1.jsonl", None)],
)
def test_the_session_that_began_a_sub_agent_is_named_by_the_folder(kind: str, file: str, parent: str | None) -> None:
    data = "".join(json.dumps(line) + "\n" for line in (HEADER | {"kind": kind}, user("m1", "Look")))
    (session,) = gemini_cli.read(data.encode(), Source("gemini_cli", file))
    assert session.parent == parent


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("Output: Exit Code: 3\nError: no\nExit Code: 1\nProcess Group PGID: 12", 1),
        ("Command: make\nDirectory: (root)\nOutput: ok\nError: (none)\nExit Code: 0\nSignal: (none)", 0),
        ("Output: ok", None),
        ("A page says:\nExit Code: 1", None),
    ],
)
def test_how_a_command_ended_is_said_behind_what_it_printed(answer: str, code: int | None) -> None:
    result = [{"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": answer}}}]
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}, "status": "success", "result": result}
    session = read(user("m1", "Go"), agent("m2", "", toolCalls=[call]))
    assert [one.exit_code for one in session.steps[-1].results] == [code]
