"""Exports of LangSmith and Langfuse: the same session whichever of them recorded it, in each of their shapes."""

import json
from typing import Any

import pytest

from misstep_harness.readers import reader_for
from misstep_harness.readers.interchange.atif import from_atif, to_atif
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

BOTH = pytest.mark.parametrize("name", ["langsmith", "langfuse"])


def read(name: str, *values: Any) -> list[Trajectory]:
    data = "\n".join(map(json.dumps, values)).encode()
    return list(reader_for(name).read(data, Source(name, "export.json")))


@BOTH
def test_the_sample_is_a_session_of_two_answers_and_a_call(name: str) -> None:
    (run,) = read(name, json.loads(recording_of(name)))
    assert [(step.role, step.text) for step in run.steps] == [
        ("system", "Use tools."),
        ("user", "Count SKU 1"),
        ("agent", "I look."),
        ("agent", "There are 3 pieces."),
    ]
    assert [(call.name, call.arguments, call.id) for call in run.steps[2].calls] == [("stock", {"sku": "1"}, "c1")]
    assert [(result.text, result.call_id) for result in run.steps[2].results] == [("3 pieces", "c1")]
    assert [step.tokens for step in run.steps[2:]] == [Tokens(90, 7), Tokens(120, 9)]
    assert (run.model, run.steps[2].seconds) == ("gpt-x", 2.0)


@BOTH
def test_lines_lists_and_pages_hold_the_same_session(name: str) -> None:
    sample = json.loads(recording_of(name))
    ones = sample if name == "langsmith" else sample["observations"]
    about = {"id": "t1", "name": "shop"}
    others = [[{"runs": ones}]] if name == "langsmith" else [[{"data": ones}], [{"trace": about, "observations": ones}]]
    (whole,) = read(name, ones)
    for values in ([*ones], *others):
        (run,) = read(name, *values)
        assert run.steps == whole.steps


@BOTH
def test_what_an_export_does_not_hold_is_not_empty_and_an_error_is_a_failure(name: str) -> None:
    one = {"id": "x", "name": "stock", "trace_id": "t", "traceId": "t"}
    lacking = one | {"run_type": "tool", "type": "TOOL", "inputs": None, "outputs": None, "input": None, "output": None}
    (run,) = read(name, lacking)
    (call,) = run.steps[0].calls
    assert (call.recorded, run.steps[0].results) == (False, ())
    (failed,) = read(name, lacking | {"error": "no such SKU", "level": "ERROR", "statusMessage": "no such SKU"})
    assert [(result.text, result.is_error) for result in failed.steps[0].results] == [("no such SKU", True)]
    assert from_atif(to_atif(run)) == run


def generation(**fields: Any) -> dict[str, Any]:
    return {"id": "o1", "traceId": "t1", "type": "GENERATION", "input": "Go", "output": "Done."} | fields


def test_langfuse_takes_cached_tokens_out_of_the_prompt_and_says_what_it_cost() -> None:
    used = {"input": 9, "input_cached_tokens": 50, "output": 7, "total": 66}
    (run,) = read("langfuse", generation(usageDetails=used, costDetails={"total": 0.5}))
    assert run.steps[-1].tokens == Tokens(59, 7, 50, 0.5)


def test_items_of_the_responses_interface_and_calls_that_did_not_parse_are_calls() -> None:
    item = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    (run,) = read("langfuse", generation(output=[item]))
    assert [(call.name, call.id) for call in run.steps[-1].calls] == [("look", "c1")]
    broken = {"name": "look", "args": '{"path": ', "id": "c1", "error": None}
    answer = {"messages": [{"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": [broken]}]}
    (run,) = read("langsmith", {"id": "r1", "run_type": "llm", "inputs": {}, "outputs": answer, "total_cost": "0.5"})
    (call,) = run.steps[-1].calls
    assert (call.arguments, call.parse_error is None) == ('{"path": ', False)
    assert run.steps[-1].tokens == Tokens(cost_usd=0.5)


def test_an_answer_of_the_responses_interface_as_a_whole_holds_its_calls_and_its_text() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Clean."}]}
    (run,) = read("langfuse", generation(output={"object": "response", "output": [call, said], "tools": []}))
    assert (run.steps[-1].text, [one.id for one in run.steps[-1].calls]) == ("Clean.", ["c1"])


def test_what_gemini_is_asked_and_answers_is_read_in_either_spelling() -> None:
    asked = {"model": "g", "contents": [{"role": "user", "parts": [{"text": "Go"}]}], "config": {}}
    called = {"content": {"role": "model", "parts": [{"function_call": {"name": "look", "args": {}}}]}, "index": 0}
    whole = generation(input=asked, output={"candidates": [called], "model_version": "g-1"})
    for one in (whole, generation(input={"model": "g", "contents": "Go"}, output=called)):
        (run,) = read("langfuse", one)
        assert [(step.role, step.text, [call.name for call in step.calls]) for step in run.steps] == [
            ("user", "Go", []),
            ("agent", "", ["look"]),
        ]


def test_a_call_without_an_id_is_made_once_though_its_tool_has_one_and_the_next_prompt_repeats_it() -> None:
    call = {"role": "model", "parts": [{"function_call": {"name": "look", "args": {}}}]}
    answer = {"role": "user", "parts": [{"function_response": {"name": "look", "response": {"text": "x = 1"}}}]}
    attributes = {"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1"}
    tool = {"id": "o2", "traceId": "t1", "type": "TOOL", "name": "look", "input": {}, "output": {"text": "x = 1"}}
    asked = {"role": "user", "parts": [{"text": "Go"}]}
    then = generation(id="o3", input={"contents": [asked, call, answer]}, output="Clean.")
    first = generation(input={"contents": [asked]}, output={"content": call})
    (run,) = read("langfuse", first, tool | {"metadata": {"attributes": attributes}}, then)
    assert [step.role for step in run.steps] == ["user", "agent", "agent"]
    assert [one.id for one in run.steps[1].calls] == ["c1"]
    assert [(one.text, one.call_id) for one in run.steps[1].results] == [('{"text":"x = 1"}', "c1")]


def test_calls_of_the_ai_sdk_without_a_type_are_calls() -> None:
    (run,) = read("langfuse", generation(output=[{"toolCallId": "c1", "toolName": "look", "input": '{"path": "a"}'}]))
    assert [(call.name, call.id, call.arguments) for call in run.steps[-1].calls] == [("look", "c1", {"path": "a"})]


def test_the_attributes_that_langfuse_keeps_say_which_call_a_tool_answers_and_that_a_span_is_a_tool() -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}
    asks = generation(output={"role": "assistant", "content": "", "tool_calls": [call]})
    named = {"attributes": {"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1"}}
    tool = {"id": "o2", "traceId": "t1", "type": "TOOL", "name": "running look", "input": {}, "output": "x = 1"}
    for kind in ("TOOL", "SPAN"):
        for metadata in (named, json.dumps(named)):
            (run,) = read("langfuse", asks, tool | {"type": kind, "metadata": metadata})
            assert [(one.name, one.id) for one in run.steps[-1].calls] == [("look", "c1")]
            assert [(one.text, one.call_id) for one in run.steps[-1].results] == [("x = 1", "c1")]


def test_an_answer_whose_role_is_the_tools_name_is_no_word_of_the_user() -> None:
    asked = {"role": "user", "content": "Go"}
    called = {"role": "assistant", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "c1"}]}
    first = generation(input=[asked], output=called)
    answers = {"role": "look", "content": "x = 1"}
    (run,) = read("langfuse", first, generation(id="o2", input=[asked, called, answers], output="Clean."))
    assert [(step.role, step.text) for step in run.steps] == [("user", "Go"), ("agent", ""), ("agent", "Clean.")]
    assert [(one.text, one.call_id) for one in run.steps[1].results] == [("x = 1", "c1")]


def test_an_answer_without_an_id_counts_where_the_span_of_its_tool_holds_none() -> None:
    call = {"role": "model", "parts": [{"function_call": {"name": "look", "args": {}}}]}
    answer = {"role": "user", "parts": [{"function_response": {"name": "look", "response": {"output": "x = 1"}}}]}
    tool = {"id": "o2", "traceId": "t1", "type": "TOOL", "name": "look", "input": {}, "output": None}
    then = generation(id="o3", input={"contents": [{"role": "user", "parts": [{"text": "Go"}]}, call, answer]})
    first = generation(input={"contents": "Go"}, output={"content": call})
    (run,) = read("langfuse", first, tool, then)
    assert [[one.text for one in step.results] for step in run.steps if step.calls] == [["x = 1"]]


def test_an_answer_that_is_an_object_is_its_text_and_the_definition_of_a_tool_is_no_answer() -> None:
    called = {"role": "assistant", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "c1"}]}
    definition = {"role": "tool", "content": {"type": "function", "function": {"name": "look", "parameters": {}}}}
    for content in ([{"path": "a"}], {"path": "a"}):
        answer = {"role": "tool", "content": content, "tool_call_id": "c1"}
        asked = [{"role": "user", "content": "Go"}, called, answer, definition]
        (run,) = read("langfuse", generation(input=asked, output="Clean."))
        assert [step.role for step in run.steps] == ["user", "agent", "agent"]
        assert [(one.text, one.call_id) for one in run.steps[1].results] == [
            (json.dumps(content).replace(" ", ""), "c1")
        ]
