"""Chat messages become steps: who speaks, which call an answer belongs to, what is kept."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.readers.interchange.chat import is_chat, steps_of
from misstep_harness.trajectory import Step, ToolCall, ToolResult


def call(name: str = "read", arguments: Any = "{}", call_id: str | None = None) -> dict[str, Any]:
    identity = {} if call_id is None else {"id": call_id}
    return identity | {"type": "function", "function": {"name": name, "arguments": arguments}}


def acting(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answer(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": text} | fields


def test_roles_of_openai_are_ours_and_others_are_the_systems_by_name() -> None:
    roles = ["system", "developer", "user", "assistant", "critic"]
    steps, where = steps_of([{"role": role, "content": role} for role in roles])
    assert [step.role for step in steps] == ["system", "system", "user", "agent", "system"]
    assert [step.extra.get("role") for step in steps] == [None, "developer", None, None, "critic"]
    assert where == (0, 1, 2, 3, 4)


def test_a_content_is_null_a_text_or_parts_and_parts_that_are_no_text_are_kept() -> None:
    image = {"type": "image_url", "image_url": {"url": "gate.png"}, "": None}
    contents = [None, "one", [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], ["one", image]]
    steps, _ = steps_of([{"role": "user", "content": content} for content in contents])
    assert [step.text for step in steps] == ["", "one", "one\ntwo", "one"]
    assert [step.extra for step in steps] == [{}, {}, {}, {"content": ["one", image]}]


def test_an_answer_stands_with_the_call_whose_id_it_names_however_late_it_comes() -> None:
    steps, where = steps_of(
        [
            acting(call(call_id="a"), call(call_id="b")),
            answer("for b", tool_call_id="b"),
            {"role": "assistant", "content": "Waiting."},
            answer("for a", tool_call_id="a"),
        ]
    )
    assert [result.text for result in steps[0].results] == ["for b", "for a"]
    assert steps[1].results == ()
    assert where == (0, 0, 1, 0)


def test_an_id_that_is_used_again_means_the_latest_call() -> None:
    turn = [acting(call(call_id="call_0")), answer("found", tool_call_id="call_0")]
    steps, where = steps_of(turn + turn)
    assert [len(step.results) for step in steps] == [1, 1]
    assert where == (0, 0, 1, 1)


def test_without_an_id_an_answer_belongs_to_the_open_call_of_its_name_else_to_the_next_in_order() -> None:
    named, _ = steps_of([acting(call("read"), call("list", call_id="c2")), answer("a.py", name="list")])
    assert named[0].results == (ToolResult("a.py", call_id="c2"),)
    unnamed, _ = steps_of([acting(call(call_id="c1"), call(call_id="c2")), answer("one"), answer("two")])
    assert [result.call_id for result in unnamed[0].results] == ["c1", "c2"]


def test_the_old_function_call_is_answered_by_name() -> None:
    steps, where = steps_of(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": '{"path": "a"}'}},
            {"role": "function", "name": "read", "content": "x = 1"},
        ]
    )
    assert steps == (Step("agent", calls=(ToolCall("read", {"path": "a"}),), results=(ToolResult("x = 1"),)),)
    assert where == (0, 0)


def test_an_answer_to_no_known_call_goes_to_the_agents_last_step_else_to_one_of_the_system() -> None:
    steps, where = steps_of(
        [answer("early", tool_call_id="x"), acting(), {"role": "user", "content": "?"}, answer("late")]
    )
    assert [step.role for step in steps] == ["system", "agent", "user"]
    assert steps[0].results == (ToolResult("early", call_id="x"),)
    assert steps[1].results == (ToolResult("late"),)
    assert where == (0, 1, 2, 1)


@pytest.mark.parametrize(
    ("text", "read", "fails"),
    [
        ('{"path": "a"}', {"path": "a"}, False),
        ({"path": "a"}, {"path": "a"}, False),
        ("", {}, False),
        (None, {}, False),
        ('{"path": ', '{"path": ', True),
        ("[1]", "[1]", True),
    ],
)
def test_arguments_are_parsed_or_kept_as_they_stand_with_the_reason(text: Any, read: Any, fails: bool) -> None:
    steps, _ = steps_of([acting(call(arguments=text))])
    assert steps[0].calls[0].arguments == read
    assert bool(steps[0].calls[0].parse_error) is fails


def test_names_reasoning_and_unknown_fields_are_kept() -> None:
    raw = acting(call() | {"index": 4}) | {"name": "planner", "reasoning_content": "Look first.", "refusal": "no"}
    raw["tool_calls"][0]["function"]["strict"] = True
    steps, _ = steps_of([raw, answer("x", name="reed", index=5, is_error=True)])
    (step,) = steps
    assert (step.speaker, step.reasoning, step.extra) == ("planner", "Look first.", {"refusal": "no"})
    assert step.calls[0].extra == {"index": 4, "function": {"strict": True}}
    assert step.results[0] == ToolResult("x", True, extra={"index": 5, "name": "reed"})


def test_a_call_of_a_custom_tool_has_a_text() -> None:
    steps, _ = steps_of([acting({"id": "c", "type": "custom", "custom": {"name": "patch", "input": "+ x"}})])
    assert steps[0].calls == (ToolCall("patch", "+ x", "c", extra={"type": "custom"}),)


@pytest.mark.parametrize("value", [[], [5], [{}], [{"role": 1}], [{"role": "user"}, {"text": "?"}]])
def test_a_list_without_roles_is_no_chat(value: list[Any]) -> None:
    assert not is_chat(value)


MESSAGES = st.one_of(
    st.builds(
        lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant"]), st.text(max_size=3)
    ),
    st.builds(
        lambda ids: acting(*[call(call_id=one) for one in ids]), st.lists(st.sampled_from(["a", "b", None]), max_size=3)
    ),
    st.builds(lambda one: answer("x", tool_call_id=one), st.sampled_from(["a", "b", "c", None])),
)


@given(st.lists(MESSAGES, max_size=12))
def test_every_message_becomes_a_step_or_a_result_of_one(messages: list[dict[str, Any]]) -> None:
    steps, where = steps_of(messages)
    assert len(where) == len(messages)
    assert set(where) == set(range(len(steps)))
    answers = sum(message["role"] == "tool" for message in messages)
    assert sum(len(step.results) for step in steps) == answers
    assert sum(len(step.calls) for step in steps) == sum(len(message.get("tool_calls", ())) for message in messages)


def test_an_answer_belongs_to_the_user_whose_call_it_answers_and_says_by_a_flag_that_it_failed() -> None:
    steps, _ = steps_of([acting(call()), answer("x"), {"role": "user", "tool_calls": [call()]}, answer("", error=True)])
    assert [[result.is_error for result in step.results] for step in steps] == [[None], [True]]


ASKED = {"role": "user", "content": "Read it"}
OF_VENDORS = {
    "Anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "gone", "is_error": True}],
        },
    ],
    "Gemini": [
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "read", "args": {"path": "a"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "read", "response": {"error": "gone"}}}]},
    ],
    "messages of the AI SDK": [
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": {"path": "a"}}],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "c1", "output": {"type": "error-text", "value": "gone"}}],
        },
    ],
    "the AI SDK's interface": [
        {
            "role": "assistant",
            "parts": [{"type": "tool-read", "toolCallId": "c1", "input": {"path": "a"}, "errorText": "gone"}],
        }
    ],
    "AgentDojo": [
        {"role": "assistant", "content": None, "tool_calls": [{"function": "read", "args": {"path": "a"}, "id": "c1"}]},
        {"role": "tool", "content": [{"type": "text", "content": ""}], "tool_call_id": "c1", "error": "gone"},
    ],
}


@pytest.mark.parametrize("messages", OF_VENDORS.values(), ids=OF_VENDORS)
def test_calls_and_answers_among_the_parts_of_a_message_are_calls_and_results(messages: list[dict[str, Any]]) -> None:
    steps, where = steps_of([ASKED, *messages, {"role": "assistant", "content": [{"type": "text", "content": "No."}]}])
    assert [(step.role, step.text) for step in steps] == [("user", "Read it"), ("agent", ""), ("agent", "No.")]
    assert [(call.name, call.arguments, call.id) for call in steps[1].calls] == [("read", {"path": "a"}, "c1")]
    assert [(result.text, result.is_error, result.call_id) for result in steps[1].results] == [("gone", True, "c1")]
    assert where == (0, *(1 for _ in messages), 2)


def test_a_thought_among_the_parts_is_reasoning_and_words_beside_an_answer_are_a_step() -> None:
    thought, text = {"type": "reasoning", "text": "Look."}, {"type": "text", "text": "And now?"}
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "x = 1"}]}
    call = {"type": "tool_use", "id": "c1", "name": "read"}
    steps, where = steps_of(
        [{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [answer, text]}]
    )
    assert (steps[0].reasoning, steps[0].text, steps[0].results[0].text) == ("Look.", "", "x = 1")
    assert (steps[1].role, steps[1].text, where) == ("user", "And now?", (0, 1))


def test_a_role_may_be_written_large_and_thoughts_as_ollama_names_them() -> None:
    steps, _ = steps_of([{"role": "User", "content": "Go"}, {"role": "assistant", "content": "", "thinking": "Hm."}])
    assert [(step.role, step.reasoning) for step in steps] == [("user", ""), ("agent", "Hm.")]


def test_what_a_tool_of_the_vendors_server_answered_is_a_result() -> None:
    called = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    failed = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    answer = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": failed}
    steps, _ = steps_of([{"role": "assistant", "content": [called, answer]}])
    assert [(result.call_id, result.is_error) for result in steps[0].results] == [("s1", True)]


@pytest.mark.parametrize("content", [{"path": "a"}, [{"path": "a"}, {"path": "b"}]])
def test_an_answer_that_is_an_object_is_its_text(content: Any) -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "c1", "content": content}
    steps, _ = steps_of([{"role": "assistant", "content": "", "tool_calls": [call]}, answer])
    assert [(result.text, result.extra) for result in steps[0].results] == [(json.dumps(content).replace(" ", ""), {})]


def test_an_empty_id_is_no_id_and_answers_come_in_the_order_of_their_calls() -> None:
    calls = [{"id": "", "function": {"name": "look", "arguments": json.dumps({"path": name})}} for name in "ab"]
    answers = [{"role": "tool", "tool_call_id": "", "content": f"of {name}"} for name in "ab"]
    steps, _ = steps_of([{"role": "assistant", "content": "", "tool_calls": calls}, *answers])
    assert [call.id for call in steps[0].calls] == [None, None]
    assert [(result.text, result.call_id) for result in steps[0].results] == [("of a", None), ("of b", None)]
