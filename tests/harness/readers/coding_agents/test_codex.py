"""Codex rollouts: answers of the model as steps, calls joined with outputs, texts and tokens counted once."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.readers import read_file
from misstep_harness.readers.coding_agents import codex
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("codex", "logs/rollout.jsonl")


def read(*lines: dict[str, Any], unfinished: str = "") -> Trajectory:
    data = "".join(json.dumps(line) + "\n" for line in lines) + unfinished
    (trajectory,) = codex.read(data.encode(), SOURCE)
    return trajectory


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-05T10:00:00Z", "type": "response_item", "payload": payload}


def event(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-05T10:00:00Z", "type": "event_msg", "payload": payload}


def message(role: str, *texts: str) -> dict[str, Any]:
    return item(type="message", role=role, content=[{"type": "input_text", "text": text} for text in texts])


def roles(trajectory: Trajectory) -> list[tuple[str, str]]:
    return [(step.role, step.text) for step in trajectory.steps]


def test_the_sample_is_a_session_of_three_answers() -> None:
    (session,) = codex.read(recording_of("codex"), SOURCE)
    assert (session.id, session.agent, session.model, session.task) == ("s1", "codex", "gpt-x", "Rename the flag")
    assert [step.role for step in session.steps] == ["system", "user", "agent", "agent", "agent"]
    first, second, last = session.steps[2:]
    assert first.reasoning == "Look first."
    assert (first.calls[0].arguments, first.results[0].text, first.results[0].exit_code) == (
        {"command": ["ls"]},
        "a.py\n",
        0,
    )
    assert first.tokens == Tokens(prompt=90, completion=7, cached=50)
    assert (second.calls[0].name, second.calls[0].arguments) == ("apply_patch", {"input": "*** Begin Patch"})
    assert second.results[0].exit_code == 1
    assert last.text == "Done.", "the event says the same and is not counted again"
    assert session.extra["other_lines"][0]["type"] == "world_state"


def test_the_environment_and_other_instructions_are_no_words_of_the_user() -> None:
    session = read(
        message("developer", "<permissions instructions> read only"),
        message("user", "# AGENTS.md instructions for /x", "<environment_context>\n</environment_context>"),
        message("user", "<user_instructions>be brief</user_instructions>", "Fix it"),
        message("user", "# Context from my IDE setup:\n\n## My request for Codex:\nAnd test it"),
    )
    assert [step.role for step in session.steps] == ["system", "system", "user", "user"]
    assert [step.text for step in session.steps[2:]] == ["Fix it", "And test it"]
    assert session.steps[2].extra["injected"] == ["<user_instructions>be brief</user_instructions>"]
    assert session.steps[3].extra["injected"][0].startswith("# Context from my IDE")


@pytest.mark.parametrize(
    "text",
    [
        '<hook_prompt hook_run_id="h1">Run the tests</hook_prompt>',
        '<codex_internal_context source="goal">\nGo on\n</codex_internal_context>',
        "<external_page>text</external_page>",
        "Another language model started to solve this problem and produced a summary of it.",
    ],
)
def test_what_hooks_goals_and_summaries_say_is_no_words_of_the_user(text: str) -> None:
    assert roles(read(message("user", text))) == [("system", text)]


def test_a_message_in_two_parts_with_a_picture_is_one_step_though_an_event_says_it_in_one() -> None:
    parts = [
        {"type": "input_text", "text": "Like "},
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "this"},
    ]
    session = read(item(type="message", role="user", content=parts), event(type="user_message", message="Like this"))
    assert roles(session) == [("user", "Like \nthis")]
    assert session.steps[0].extra["injected"] == ["<image name=[Image #1]>", "</image>"]


def test_what_another_agent_says_is_the_system_s_and_counts_once() -> None:
    said = {"author": "lead", "recipient": "tester", "content": "Look at a.py", "trigger_turn": True}
    line = {"timestamp": "t", "type": "inter_agent_communication", "payload": said}
    twice = item(type="agent_message", content=[{"type": "input_text", "text": "Look at a.py"}])
    assert roles(read(line)) == [("system", "Look at a.py")]
    assert roles(read(line, twice)) == [("system", "Look at a.py")]


@pytest.mark.parametrize(
    ("told", "is_error"),
    [
        ({"type": "mcp_tool_call_end", "result": {"Err": "no server"}}, True),
        ({"type": "mcp_tool_call_end", "result": {"Ok": {"content": [], "isError": True}}}, True),
        ({"type": "mcp_tool_call_end", "result": {"Ok": {"content": []}}}, None),
        ({"type": "patch_apply_end", "success": False}, True),
    ],
)
def test_a_tool_failed_if_an_event_says_so(told: dict[str, Any], is_error: bool | None) -> None:
    call = item(type="function_call", name="f", call_id="a", arguments="{}")
    session = read(call, event(call_id="a", **told), item(type="function_call_output", call_id="a", output="x"))
    assert session.steps[0].results[0].is_error is is_error


def test_texts_that_only_events_have_are_steps() -> None:
    session = read(
        event(type="user_message", message="Fix it"),
        event(type="agent_reasoning", text="Look."),
        event(type="agent_message", message="Done."),
    )
    assert roles(session) == [("user", "Fix it"), ("agent", "Done.")]
    assert session.steps[1].reasoning == "Look."


def test_calls_made_together_are_one_step_and_what_follows_an_output_is_the_next() -> None:
    def call(name: str) -> dict[str, Any]:
        return item(type="function_call", name="f", call_id=name, arguments="{}")

    def output(name: str) -> dict[str, Any]:
        return item(type="function_call_output", call_id=name, output=name)

    session = read(call("a"), call("b"), output("b"), output("a"), call("c"), output("c"))
    assert [[c.id for c in step.calls] for step in session.steps] == [["a", "b"], ["c"]]
    assert [[r.call_id for r in step.results] for step in session.steps] == [["b", "a"], ["c"]]


def test_other_kinds_of_calls_are_calls_by_their_kind() -> None:
    session = read(
        item(type="local_shell_call", call_id="a", action={"type": "exec", "command": ["ls"]}, status="completed"),
        item(type="web_search_call", id="w1", action={"type": "search", "query": "flags"}),
    )
    calls = [call for step in session.steps for call in step.calls]
    assert [(call.name, call.id) for call in calls] == [("local_shell", "a"), ("web_search", "w1")]
    assert calls[0].arguments == {"type": "exec", "command": ["ls"]}
    assert calls[0].extra["status"] == "completed"


@pytest.mark.parametrize(
    ("output", "text", "exit_code", "is_error"),
    [
        ('{"output": "x", "metadata": {"exit_code": 3}}', "x", 3, None),
        ("Exit code: 2\nWall time: 1 s\nOutput:\nx", "Exit code: 2\nWall time: 1 s\nOutput:\nx", 2, None),
        ("Process exited with code 4\nx", "Process exited with code 4\nx", 4, None),
        ("Session ID 7\nOutput:\nExit code: 5\n", "Session ID 7\nOutput:\nExit code: 5\n", None, None),
        ("The text says Exit code: 5 somewhere", "The text says Exit code: 5 somewhere", None, None),
        ({"content": "no", "success": False}, "no", None, True),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "b"}], "a", None, None),
        ('{"other": 1}', '{"other": 1}', None, None),
    ],
)
def test_outputs_come_in_several_forms(output: Any, text: str, exit_code: int | None, is_error: bool | None) -> None:
    call = item(type="function_call", name="f", call_id="a", arguments="{}")
    session = read(call, item(type="function_call_output", call_id="a", output=output))
    (result,) = session.steps[0].results
    assert (result.text, result.exit_code, result.is_error) == (text, exit_code, is_error)


def test_an_event_about_a_call_is_kept_with_its_result() -> None:
    session = read(
        item(type="function_call", name="f", call_id="a", arguments="{}"),
        event(type="exec_command_end", call_id="a", exit_code=7),
        item(type="function_call_output", call_id="a", output="x"),
        event(type="patch_apply_end", call_id="unknown", success=False),
    )
    (result,) = session.steps[0].results
    assert result.exit_code == 7
    assert result.extra["events"] == [{"type": "exec_command_end", "call_id": "a", "exit_code": 7}]
    assert [kept["payload"]["call_id"] for kept in session.extra["other_lines"]] == ["unknown"]


def test_running_totals_written_twice_count_once_and_tokens_may_come_before_or_after_their_step() -> None:
    def count(total: int, last: int) -> dict[str, Any]:
        usage = {"total_token_usage": {"input_tokens": total}, "last_token_usage": {"input_tokens": last}}
        return event(type="token_count", info=usage)

    session = read(
        count(5, 5),
        message("assistant", "a"),
        message("user", "b"),
        message("assistant", "c"),
        count(12, 7),
        count(12, 7),
        message("user", "d"),
        message("assistant", "e"),
        event(type="token_count", info=None, rate_limits={"primary": 3}),
    )
    assert [step.tokens and step.tokens.prompt for step in session.steps] == [5, None, 7, None, None]
    assert session.extra["total_token_usage"] == {"input_tokens": 12}
    assert session.extra["other_lines"][0]["payload"] == {"rate_limits": {"primary": 3}}


def test_a_summary_after_a_compaction_is_a_step_of_the_system() -> None:
    session = read({"timestamp": "t", "type": "compacted", "payload": {"message": "So far: nothing."}})
    assert roles(session) == [("system", "So far: nothing.")]


OLDER = [
    {"id": "s9", "timestamp": "2025-06-01T10:00:00Z", "instructions": None},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]},
    {"type": "function_call", "name": "shell", "call_id": "a", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "a", "output": "x"},
]


def test_the_older_layout_without_the_wrapper_and_the_oldest_in_one_document_are_read() -> None:
    document = {"session": {"id": "s9", "timestamp": "t", "instructions": ""}, "items": OLDER[2:]}
    (oldest,) = codex.read(json.dumps(document, indent=2).encode(), SOURCE)
    session = read(*OLDER)
    for one in (session, oldest):
        assert (one.id, one.task, len(one.steps)) == ("s9", "Fix it", 2)
    assert session.extra["other_lines"][0]["payload"] == {"record_type": "state"}


@pytest.mark.data
def test_the_public_rollout_has_eighteen_calls_with_outputs_and_the_tokens_it_says(data_folder: Path) -> None:
    (session,) = read_file(data_folder / "transcript_formats" / "codex_cli" / "rollout_2025-09.jsonl")
    assert isinstance(session, Trajectory)
    functions = [call for step in session.steps for call in step.calls if call.extra["type"] == "function_call"]
    answered = {result.call_id for step in session.steps for result in step.results}
    assert len(functions) == 18
    assert {call.id for call in functions} <= answered
    assert len(answered) == 19, "and one custom call"
    assert sum(step.tokens.prompt or 0 for step in session.steps if step.tokens) == 270_530
    assert session.extra["total_token_usage"]["input_tokens"] == 270_530
    assert [step.role for step in session.steps].count("user") == 1
