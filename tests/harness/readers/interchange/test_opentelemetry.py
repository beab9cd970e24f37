"""Traces: model spans as steps, tools as calls and results, messages told once, every span id to be found."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.readers import read_file
from misstep_harness.readers.interchange import opentelemetry
from misstep_harness.readers.interchange.atif import from_atif, to_atif
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("opentelemetry", "traces/trace.json")


def read(*values: Any) -> list[Trajectory]:
    data = "\n".join(json.dumps(value) for value in values)
    return list(opentelemetry.read(data.encode(), SOURCE))


def span(name: str, kind: str, parent: str | None = None, second: int = 0, **attributes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "context": {"trace_id": "t1", "span_id": name},
        "parent_id": parent,
        "start_time": f"2026-01-05T10:00:{second:02}+00:00",
        "end_time": f"2026-01-05T10:00:{second + 2:02}+00:00",
        "status_code": attributes.pop("status", "OK"),
        "attributes": {"openinference": {"span": {"kind": kind}}} | attributes,
    }


def messages(*said: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"message": {"role": role, "content": text}} for role, text in said]


def model(name: str, second: int, given: Any, answer: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    llm = {"input_messages": messages(*given), "output_messages": messages(("assistant", answer))}
    return span(name, "LLM", parent, second, llm=llm, **more)


def roles(trajectory: Trajectory) -> list[tuple[str, str]]:
    return [(step.role, step.text) for step in trajectory.steps]


ASKED = [("system", "Use tools."), ("user", "Rename it")]


def test_the_sample_is_a_run_of_an_agent_and_every_span_id_leads_to_a_step() -> None:
    (run,) = opentelemetry.read(recording_of("opentelemetry"), SOURCE)
    assert (run.id, run.agent, run.model, run.task) == ("t1", "Renamer.run", "gpt-x", "Rename the flag")
    assert roles(run) == [
        ("system", "Use tools."),
        ("user", "Rename the flag"),
        ("agent", "I look."),
        ("agent", "Done."),
    ]
    step = run.steps[2]
    assert (step.tokens, step.seconds) == (Tokens(90, 7), 1.5)
    assert [(call.name, call.arguments, call.id) for call in step.calls] == [("list_files", {"path": "."}, "c1")]
    assert [(result.text, result.call_id, result.is_error) for result in step.results] == [("a.py", "c1", False)]
    assert run.extra["step_of_span"] == {"a1": 2, "a2": 2, "a3": 2, "a4": 2, "a5": 3, "a6": 3}
    assert run.steps[2].extra["span_id"] == "a3"
    assert run.steps[2].calls[0].extra["span_id"] == run.steps[2].results[0].extra["span_id"] == "a4"
    assert [kept["id"] for kept in run.extra["spans"]] == ["a1", "a2", "a5"]


def test_a_span_that_makes_no_step_is_found_inside_then_around_then_after_then_at_the_last_step() -> None:
    (run,) = read(
        [
            span("before", "EMBEDDING", second=0),
            model("m1", 1, ASKED, "a"),
            span("within", "EMBEDDING", "m1", 2),
            span("outer", "CHAIN", second=3),
            model("m2", 4, [*ASKED, ("assistant", "a")], "b", "outer"),
            span("after", "CHAIN", second=9),
        ]
    )
    assert run.extra["step_of_span"] == {"before": 2, "m1": 2, "within": 2, "outer": 3, "m2": 3, "after": 3}


def test_a_trace_without_steps_maps_no_span_and_keeps_them_all() -> None:
    (run,) = read([span("a", "CHAIN"), span("b", "EMBEDDING", "a")])
    assert run.steps == ()
    assert run.extra["step_of_span"] == {}
    assert [kept["id"] for kept in run.extra["spans"]] == ["a", "b"]


def test_steps_stand_in_order_of_time_however_the_spans_are_written() -> None:
    (run,) = read([model("m2", 5, [*ASKED, ("assistant", "a"), ("user", "And?")], "b"), model("m1", 1, ASKED, "a")])
    assert roles(run)[2:] == [("agent", "a"), ("user", "And?"), ("agent", "b")]


def test_a_message_is_told_once_and_equal_answers_of_tools_each_with_its_call() -> None:
    told = [*ASKED, ("assistant", "again"), ("tool", "nothing"), ("assistant", "again"), ("tool", "nothing")]
    (run,) = read([model("m1", 1, told[:2], "again"), model("m2", 2, told[:4], "again"), model("m3", 3, told, "end")])
    assert [step.role for step in run.steps] == ["system", "user", "agent", "agent", "agent"]
    assert [[result.text for result in step.results] for step in run.steps[2:]] == [["nothing"], ["nothing"], []]


def test_an_answer_that_no_span_made_is_a_step_of_its_own() -> None:
    inputs = [*ASKED, ("assistant", "a"), ("user", "b"), ("assistant", "said elsewhere"), ("user", "c")]
    (run,) = read([model("m1", 1, ASKED, "a"), model("m2", 2, inputs, "d")])
    assert [text for role, text in roles(run) if role == "agent"] == ["a", "said elsewhere", "d"]
    assert "span_id" not in run.steps[4].extra


def test_a_prompt_in_between_that_does_not_go_on_is_the_systems() -> None:
    plan = [("system", "You plan."), ("user", "Make a plan for: Rename it. Only use f.")]
    (run,) = read([model("m1", 1, ASKED, "a"), model("plan", 2, plan, "1. Rename"), model("m2", 3, ASKED, "b")])
    assert [step.role for step in run.steps] == ["system", "user", "agent", "system", "system", "agent", "agent"]


def test_what_an_inner_agent_is_told_is_no_word_of_the_user_and_its_steps_name_it() -> None:
    (run,) = read(
        [
            span("manager", "AGENT", second=0),
            model("m1", 1, ASKED, "Ask the searcher.", "manager"),
            span("ask", "TOOL", "manager", 2, tool={"name": "searcher"}),
            span("searcher", "AGENT", "ask", 3),
            model("s1", 4, [("user", "Search it")], "FoundFile.", "searcher"),
        ]
    )
    assert run.agent == "manager"
    assert [(step.role, step.speaker) for step in run.steps] == [
        ("system", None),
        ("user", None),
        ("agent", None),
        ("system", "searcher"),
        ("agent", "searcher"),
    ]


def test_an_agent_around_all_that_asks_no_model_leaves_its_words_to_the_user() -> None:
    (run,) = read(
        [span("Workflow", "AGENT"), span("Clerk", "AGENT", "Workflow"), model("m1", 1, ASKED, "Yes", "Clerk")]
    )
    assert roles(run) == [*ASKED, ("agent", "Yes")]
    assert run.task == "Rename it"


def test_an_agent_that_is_handed_a_conversation_goes_on_with_it_and_repeats_no_call() -> None:
    call = {"tool_call": {"id": "c1", "function": {"name": "look", "arguments": "{}"}}}
    calling = {"message": {"role": "assistant", "tool_calls": [call]}}
    told = messages(("system", "Sell."), ("user", "Rename it"), ("assistant", "I look."))
    answer = {"message": {"role": "tool", "tool_call_id": "c1", "content": "a.py"}}
    first = {"input_messages": messages(*ASKED), "output_messages": [*told[2:], calling]}
    then = {"input_messages": [*told, calling, answer], "output_messages": messages(("assistant", "Sold."))}
    (run,) = read(
        [
            span("Clerk", "AGENT"),
            span("m1", "LLM", "Clerk", 1, llm=first),
            span("handoff", "TOOL", "Clerk", 2, **{"input.value": "Clerk"}),
            span("Seller", "AGENT", second=3),
            span("m2", "LLM", "Seller", 4, llm=then),
        ]
    )
    assert roles(run) == [*ASKED, ("agent", "I look."), ("system", "Sell."), ("agent", "Sold.")]
    assert [(call.name, call.arguments, call.parse_error) for call in run.steps[2].calls] == [
        ("look", {}, None),
        ("handoff", {"input": "Clerk"}, None),
    ]
    assert [result.text for result in run.steps[2].results] == ["a.py"], "what the handoff answered is not recorded"


def test_equal_call_ids_of_two_agents_are_two_calls() -> None:
    def using(name: str, second: int, agent: str) -> list[dict[str, Any]]:
        call = {"tool_call": {"id": "call_1", "function": {"name": name, "arguments": "{}"}}}
        first = model(f"{agent}-1", second, [("user", agent)], "x", agent)
        first["attributes"]["llm"]["output_messages"][0]["message"]["tool_calls"] = [call]
        given = [("user", agent), ("assistant", "x"), ("tool", f"of {name}")]
        second_ = model(f"{agent}-2", second + 1, given, "y", agent)
        second_["attributes"]["llm"]["input_messages"][2]["message"]["tool_call_id"] = "call_1"
        return [first, second_]

    agents = [span("A", "AGENT", second=0), span("B", "AGENT", "A", second=5)]
    (run,) = read([*agents, *using("f", 1, "A"), *using("g", 6, "B")])
    answered = {step.calls[0].name: step.results[0].text for step in run.steps if step.calls}
    assert answered == {"f": "of f", "g": "of g"}


def test_calls_and_answers_that_a_framework_gives_as_text_are_calls_and_results() -> None:
    calling = "Calling tools:\n[{'id': 'call_1', 'type': 'function', 'function': {'name': 'python', 'arguments': 'x'}}]"
    inputs = [
        *ASKED,
        ("assistant", "I run x."),
        ("tool-call", calling),
        ("tool-response", "Call id: call_1\nError:\nno x"),
    ]
    (run,) = read([model("m1", 1, ASKED, "I run x."), model("m2", 2, inputs, "Then not.")])
    step = run.steps[2]
    assert [(call.name, call.arguments, call.id) for call in step.calls] == [("python", {"input": "x"}, "call_1")]
    assert [(result.text, result.is_error, result.call_id) for result in step.results] == [("no x", True, "call_1")]


def test_what_came_of_the_last_step_is_the_output_of_the_span_around_it() -> None:
    outer = span("Step 1", "CHAIN", second=0, status="ERROR") | {"status_message": "no x"}
    (run,) = read([outer, model("m1", 1, ASKED, "I run x.", "Step 1")])
    assert [(result.text, result.is_error) for result in run.steps[2].results] == [("no x", True)]


def test_a_model_that_fails_is_no_tool_that_fails() -> None:
    outer = span("Step 1", "CHAIN", second=0, status="ERROR") | {"status_message": "rate limit"}
    failed = model("m1", 1, ASKED, "", "Step 1", status="ERROR") | {"status_message": "rate limit"}
    (run,) = read([outer, failed])
    assert run.steps[2].results == ()
    assert run.steps[2].extra["status_message"] == "rate limit"


def test_a_tool_without_a_call_is_a_call_of_the_step_before() -> None:
    value = {"input": {"value": '{"q": "x"}'}, "output": {"value": "found"}, "tool": {"name": "search"}}
    (run,) = read([model("m1", 1, ASKED, "a"), span("s", "TOOL", None, 2, **value, status="ERROR")])
    (call,) = run.steps[2].calls
    assert (call.name, call.arguments) == ("search", {"q": "x"})
    assert [(result.text, result.is_error, result.call_id) for result in run.steps[2].results] == [
        ("found", True, call.id)
    ]


def calling(name: str, second: int, *calls: tuple[str, str]) -> dict[str, Any]:
    asks = model(name, second, ASKED, "")
    asks["attributes"]["llm"]["output_messages"][0]["message"]["tool_calls"] = [
        {"tool_call": {"id": call_id, "function": {"name": "look", "arguments": arguments}}}
        for call_id, arguments in calls
    ]
    return asks


def looks(name: str, second: int, arguments: str, answer: str, **more: Any) -> dict[str, Any]:
    value = {"input": {"value": arguments}, "output": {"value": answer}, "tool": {"name": "look"}}
    return span(name, "TOOL", None, second, **value, **more)


def test_a_tool_without_an_id_answers_the_call_with_its_arguments_though_calls_are_carried_out_in_another_order() -> (
    None
):
    a, b = '{"path": "a"}', '{"path": "b"}'
    (run,) = read([calling("m1", 1, ("c1", a), ("c2", b)), looks("s1", 2, b, "of b"), looks("s2", 3, a, "of a")])
    assert {result.call_id: result.text for result in run.steps[2].results} == {"c1": "of a", "c2": "of b"}
    (run,) = read(
        [calling("m1", 1, ("c1", a)), calling("m2", 2, ("c2", b)), looks("s1", 3, a, "of a"), looks("s2", 4, b, "of b")]
    )
    assert [[(result.call_id, result.text) for result in step.results] for step in run.steps[2:]] == [
        [("c1", "of a")],
        [("c2", "of b")],
    ]


@pytest.mark.parametrize("call_id", ["look", ""])
def test_an_id_that_is_used_again_for_another_call_or_is_empty_loses_no_call(call_id: str) -> None:
    a, b = '{"path": "a"}', '{"path": "b"}'
    (run,) = read(
        [calling("m1", 1, (call_id, a)), looks("s1", 2, a, "a"), calling("m2", 3, (call_id, b)), looks("s2", 4, b, "b")]
    )
    assert [(step.calls[0].arguments, [result.text for result in step.results]) for step in run.steps[2:]] == [
        ({"path": "a"}, ["a"]),
        ({"path": "b"}, ["b"]),
    ]


def test_a_models_span_around_another_is_the_same_answer_and_is_counted_once() -> None:
    outer = model("generate", 0, ASKED, "Clean.")
    inner = [model("m1", 1, ASKED, "I look.", "generate"), model("m2", 4, ASKED, "Clean.", "generate")]
    (run,) = read([outer, *inner])
    assert roles(run) == [*ASKED, ("agent", "I look."), ("agent", "Clean.")]
    (run,) = read([outer, inner[1]])
    assert roles(run) == [*ASKED, ("agent", "Clean.")]


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": spans}]}]
    }


def otlp_span(name: str, second: int, **attributes: Any) -> dict[str, Any]:
    return {
        "traceId": "t1",
        "spanId": name,
        "parentSpanId": "",
        "name": name,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + second * 10**9),
        "endTimeUnixNano": str(1_700_000_000_500_000_000 + second * 10**9),
        "status": {"code": 2 if "error.type" in attributes else 1},
        "attributes": [{"key": key, "value": value} for key, value in attributes.items()],
    }


def test_an_otlp_export_in_the_genai_conventions_over_two_lines_is_one_trajectory() -> None:
    given = [{"role": "user", "parts": [{"type": "text", "content": "Rename it"}]}]
    call = {"type": "tool_call", "id": "c1", "name": "ls", "arguments": {"path": "."}}
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "I look."}, call], "finish_reason": "x"}]
    chat = {
        "gen_ai.operation.name": {"stringValue": "chat"},
        "gen_ai.request.model": {"stringValue": "gpt-x"},
        "gen_ai.usage.input_tokens": {"intValue": "90"},
        "gen_ai.system_instructions": {"stringValue": '[{"type": "text", "content": "Use tools."}]'},
        "gen_ai.input.messages": {"stringValue": json.dumps(given)},
        "gen_ai.output.messages": {"stringValue": json.dumps(answer)},
    }
    tool = {
        "gen_ai.operation.name": {"stringValue": "execute_tool"},
        "gen_ai.tool.name": {"stringValue": "ls"},
        "gen_ai.tool.call.id": {"stringValue": "c1"},
        "gen_ai.tool.call.result": {"stringValue": "a.py"},
        "error.type": {"stringValue": "timeout"},
    }
    (run,) = read(otlp(otlp_span("tool", 2, **tool)), otlp(otlp_span("chat", 1, **chat)))
    assert (run.id, run.model) == ("t1", "gpt-x")
    assert roles(run) == [("system", "Use tools."), ("user", "Rename it"), ("agent", "I look.")]
    step = run.steps[2]
    assert (step.tokens, step.seconds) == (Tokens(prompt=90), 0.5)
    assert step.timestamp == "2023-11-14T22:13:21+00:00"
    assert [(call.name, call.arguments, call.id) for call in step.calls] == [("ls", {"path": "."}, "c1")]
    assert [(result.text, result.is_error, result.call_id) for result in step.results] == [("a.py", True, "c1")]


def test_the_older_indexed_convention_and_columns_with_dots_are_read() -> None:
    row = {
        "name": "chat",
        "context.span_id": "a",
        "context.trace_id": "t1",
        "span_kind": "LLM",
        "attributes.gen_ai.prompt.0.role": "user",
        "attributes.gen_ai.prompt.0.content": "Rename it",
        "attributes.gen_ai.completion.0.role": "assistant",
        "attributes.gen_ai.completion.0.content": "Done.",
    }
    (run,) = read([row])
    assert roles(run) == [("user", "Rename it"), ("agent", "Done.")]


def test_several_traces_in_a_file_are_several_trajectories() -> None:
    first = model("a", 1, ASKED, "x")
    second = model("b", 1, ASKED, "y") | {"context": {"trace_id": "t2", "span_id": "b"}}
    assert [run.id for run in read(first, second)] == ["t1", "t2"]


def test_parents_that_go_in_circles_end() -> None:
    (run,) = read([span("a", "CHAIN", "b"), span("b", "AGENT", "a"), model("m", 1, ASKED, "x", "a")])
    assert run.extra["step_of_span"] == {"a": 2, "b": 2, "m": 2}


def test_a_long_chain_of_spans_takes_time_in_proportion() -> None:
    chain = [span(f"c{number}", "CHAIN", f"c{number - 1}") for number in range(20_000)]
    (run,) = read([*chain, model("m", 1, ASKED, "x", "c19999")])
    assert len(run.extra["step_of_span"]) == 20_001


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([{"name": "x", "attributes": {}}], "a span without a span id"),
        ({"trace_id": "t", "spans": [3]}, "a span is not an object but int"),
        ({"resourceSpans": [3]}, "`resourceSpans` holds no objects"),
    ],
)
def test_what_cannot_be_is_said(value: Any, message: str) -> None:
    with pytest.raises(UnreadableTrajectory, match=message):
        read(value)


def spans_in(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pending = list(document["spans"])
    while pending:
        here = pending.pop()
        yield here
        pending += here["child_spans"]


@pytest.mark.data
def test_every_span_of_the_public_traces_leads_to_a_step_and_every_model_span_to_its_own(data_folder: Path) -> None:
    steps = {}
    for path in sorted((data_folder / "trail" / "traces_swe_bench").iterdir()):
        (run,) = read_file(path)
        assert isinstance(run, Trajectory)
        spans = list(spans_in(json.loads(gzip.decompress(path.read_bytes()))))
        where = run.extra["step_of_span"]
        assert set(where) == {one["span_id"] for one in spans}
        for one in spans:
            if one["span_attributes"].get("openinference.span.kind") == "LLM":
                assert run.steps[where[one["span_id"]]].extra["span_id"] == one["span_id"]
        agents = [step for step in run.steps if step.role == "agent"]
        calls, results = (sum(len(getattr(step, kind)) for step in agents) for kind in ("calls", "results"))
        steps[run.id[:8]] = (len(run.steps), len(agents), calls, results)
        assert [step.role for step in run.steps[:2]] == ["system", "user"]
    assert steps == {
        "2102eea2": (11, 9, 9, 9),
        "72822db6": (8, 6, 5, 6),
        "8fa1892f": (11, 9, 9, 9),
        "a18532f8": (11, 9, 9, 9),
        "f12834d0": (10, 8, 7, 7),
    }


WHERE_TOOLS_ARE_TOLD = {
    "the conventions": ({"gen_ai.tool.call.arguments": '{"sku": "1"}', "gen_ai.tool.call.result": "3 pieces"}, []),
    "OpenInference": ({"input.value": '{"sku": "1"}', "output.value": "3 pieces"}, []),
    "Traceloop": (
        {"traceloop.entity.input": '{"sku": "1"}', "traceloop.entity.output": '{"output": "3 pieces"}'},
        [],
    ),
    "Traceloop's decorator": (
        {
            "traceloop.entity.input": '{"args": [], "kwargs": {"sku": "1"}}',
            "traceloop.entity.output": '"3 pieces"',
        },
        [],
    ),
    "Traceloop's chain": (
        {
            "traceloop.entity.input": '{"input_str": "{\'sku\': \'1\'}", "tags": [], "metadata": {}}',
            "traceloop.entity.output": '{"output": "3 pieces", "kwargs": {}}',
        },
        [],
    ),
    "Logfire": ({"tool_arguments": '{"sku": "1"}', "tool_response": "3 pieces"}, []),
    "events": (
        {},
        [
            ("gen_ai.tool.message", {"role": "tool", "content": '{"sku": "1"}', "id": "c1"}),
            ("gen_ai.choice", {"message": '[{"text": "3 pieces"}]', "id": "c1"}),
        ],
    ),
    "one event of details": (
        {},
        [
            (
                "gen_ai.client.inference.operation.details",
                {
                    "gen_ai.input.messages": json.dumps(
                        [{"role": "tool", "parts": [{"type": "tool_call", "name": "f", "arguments": {"sku": "1"}}]}]
                    ),
                    "gen_ai.output.messages": json.dumps(
                        [{"role": "tool", "parts": [{"type": "tool_call_response", "response": "3 pieces"}]}]
                    ),
                },
            )
        ],
    ),
}


def with_events(one: dict[str, Any], *events: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return one | {"events": [{"name": name, "attributes": attributes} for name, attributes in events]}


@pytest.mark.parametrize("where", WHERE_TOOLS_ARE_TOLD)
def test_arguments_and_answers_are_read_wherever_programs_write_them(where: str) -> None:
    attributes, events = WHERE_TOOLS_ARE_TOLD[where]
    (run,) = read([with_events(span("t1", "TOOL", **attributes), *events)])
    (step,) = run.steps
    assert [(call.arguments, call.recorded) for call in step.calls] == [({"sku": "1"}, True)]
    assert [(result.text, result.recorded) for result in step.results] == [("3 pieces", True)]


@pytest.mark.parametrize("hidden", [{}, {"input.value": "__REDACTED__", "output.value": "__REDACTED__"}])
def test_what_no_span_holds_is_neither_an_empty_argument_nor_an_empty_answer(hidden: dict[str, str]) -> None:
    (run,) = read(
        [span(f"t{number}", "TOOL", second=number, **{"tool.name": "stock"}, **hidden) for number in range(5)]
    )
    calls = [call for step in run.steps for call in step.calls]
    assert [(call.arguments, call.recorded) for call in calls] == [({}, False)] * 5
    assert not any(step.results for step in run.steps)
    assert all("attributes" in call.extra or call.extra["span_id"] for call in calls)
    assert from_atif(to_atif(run)) == run


def test_an_empty_answer_that_a_span_holds_is_an_answer() -> None:
    (run,) = read([span("t1", "TOOL", **{"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": ""})])
    assert [(call.arguments, call.recorded) for call in run.steps[0].calls] == [({}, True)]
    assert [(result.text, result.recorded) for result in run.steps[0].results] == [("", True)]


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"status_code": "ERROR"}, None),
        ({"status_code": "ERROR", "status_message": "no such SKU"}, "no such SKU"),
        ({"attributes": {"tool.status": "error"}}, None),
        ({"attributes": {"error.type": "KeyError"}}, None),
        (
            {
                "status_code": "UNSET",
                "events": [{"name": "exception", "attributes": {"exception.message": "no such SKU"}}],
            },
            "no such SKU",
        ),
    ],
)
def test_that_a_call_failed_is_known_also_where_its_words_are_not(more: dict[str, Any], text: str | None) -> None:
    tool = span("t1", "TOOL")
    attributes = tool["attributes"] | more.pop("attributes", {})
    (run,) = read([tool | more | {"attributes": attributes}])
    (result,) = run.steps[0].results
    assert (result.text, result.recorded) == (text or "", text is not None)
    assert result.is_error is (None if "events" in more else True)
    assert from_atif(to_atif(run)) == run


def test_what_a_tools_span_does_not_hold_the_next_call_of_the_model_tells() -> None:
    call = {"tool_call": {"id": "c1", "function": {"name": "look", "arguments": '{"sku": "1"}'}}}
    calling = {"message": {"role": "assistant", "tool_calls": [call]}}
    answer = {"message": {"role": "tool", "tool_call_id": "c1", "content": "3 pieces"}}
    spans = [
        span("m1", "LLM", second=0, llm={"input_messages": messages(*ASKED)}),
        span("t1", "TOOL", second=1, **{"gen_ai.tool.call.id": "c1", "tool.name": "look"}),
        span("m2", "LLM", second=2, llm={"input_messages": [*messages(*ASKED), calling, answer]}),
    ]
    for failed in (False, True):
        spans[1] |= {"status_code": "ERROR"} if failed else {}
        (run,) = read(spans)
        assert [(one.name, one.arguments) for step in run.steps for one in step.calls] == [("look", {"sku": "1"})]
        assert [one.text for step in run.steps for one in step.results] == ["3 pieces"]


def test_a_models_events_are_its_messages() -> None:
    used = '[{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"sku": "1"}}}]'
    told = '[{"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no such SKU"}]}}]'
    older = json.dumps({"message": {"role": "assistant", "content": "There is none."}, "finish_reason": "stop"})
    user = ("gen_ai.user.message", {"content": '[{"text": "Count it"}]'})
    (run,) = read(
        [
            with_events(span("m1", "LLM"), user, ("gen_ai.choice", {"message": used, "finish_reason": "tool_use"})),
            with_events(
                span("m2", "LLM", second=1),
                user,
                ("gen_ai.assistant.message", {"content": used}),
                ("gen_ai.tool.message", {"content": told}),
                ("gen_ai.choice", {"gen_ai.event.content": older}),
            ),
        ]
    )
    assert roles(run) == [("user", "Count it"), ("agent", ""), ("agent", "There is none.")]
    assert [(call.name, call.arguments) for call in run.steps[1].calls] == [("look", {"sku": "1"})]
    assert [(result.text, result.is_error) for result in run.steps[1].results] == [("no such SKU", True)]


def test_two_answers_of_tools_and_a_persons_words_in_one_message_are_three_things() -> None:
    asked = [{"type": "tool_call", "id": name, "name": "look", "arguments": {}} for name in ("c1", "c2")]
    told = [{"type": "tool_call_response", "id": name, "response": name.upper()} for name in ("c1", "c2")]
    given = [{"role": "user", "parts": [{"type": "text", "content": "Look"}]}, {"role": "assistant", "parts": asked}]
    more = {"role": "user", "parts": [*told, {"type": "text", "content": "Faster"}]}
    first = {"gen_ai.input.messages": given[:1], "gen_ai.output.messages": given[1:]}
    last = {"gen_ai.input.messages": [*given, more], "gen_ai.output.messages": []}
    (run,) = read([span("m1", "LLM", None, 1, **first), span("m2", "LLM", None, 3, **last)])
    assert roles(run) == [("user", "Look"), ("agent", ""), ("user", "Faster"), ("agent", "")]
    assert [(result.call_id, result.text) for result in run.steps[1].results] == [("c1", "C1"), ("c2", "C2")]


def test_thoughts_are_no_text_in_either_convention() -> None:
    genai = [
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "A"}]}
    ]
    contents = [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "A"}]
    llm = {
        "output_messages": [{"message": {"role": "assistant", "contents": [{"message_content": c} for c in contents]}}]
    }
    for attributes in ({"gen_ai.output.messages": genai}, {"llm": llm}):
        (run,) = read([span("m1", "LLM", None, 1, **attributes)])
        assert [(step.text, step.reasoning) for step in run.steps] == [("A", "Hm.")]


@pytest.mark.parametrize(
    "message",
    [
        {
            "role": "assistant",
            "contents": [{"tool_call": {"id": "c1", "function": {"name": "look", "arguments": "{}"}}}],
        },
        {"role": "assistant", "function_call_name": "look", "function_call_arguments_json": "{}"},
        {"role": "assistant", "content": '[{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]'},
    ],
)
def test_a_call_is_found_wherever_an_instrumentation_writes_it(message: dict[str, Any]) -> None:
    (run,) = read([span("m1", "LLM", None, 1, llm={"output_messages": [{"message": message}]})])
    assert [(call.name, call.arguments) for call in run.steps[0].calls] == [("look", {})]


def test_what_a_call_cost_is_read_as_a_number_or_a_text() -> None:
    costs = [span(f"m{n}", "LLM", None, n, **{"llm.cost.total": cost}) for n, cost in enumerate([0.5, "0.25", "much"])]
    (run,) = read(costs)
    assert [step.tokens and step.tokens.cost_usd for step in run.steps] == [0.5, 0.25, None]
