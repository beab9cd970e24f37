"""ATIF is read in all its versions and written such that nothing is lost."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep_harness.protocols import Sample
from misstep_harness.readers.interchange.atif import from_atif, read, refuse, to_atif
from misstep_harness.trajectory import Outcome, Source, Step, Tokens, ToolCall, ToolResult, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("atif", "runs/gate.json")


def document(**fields: Any) -> dict[str, Any]:
    steps = [
        {"step_id": 1, "source": "user", "message": "Mend it."},
        {"step_id": 2, "source": "agent", "message": "Yes."},
    ]
    return {
        "schema_version": "ATIF-v1.4",
        "session_id": "s1",
        "agent": {"name": "a", "version": "1"},
        "steps": steps,
    } | fields


def one(fields: dict[str, Any]) -> Trajectory:
    (trajectory,) = read(json.dumps(fields).encode(), SOURCE)
    return trajectory


def step(**fields: Any) -> Step:
    """A step of the agent as it is read."""
    return one(document(steps=[{"step_id": 1, "source": "agent", "message": ""} | fields])).steps[0]


def test_every_noun_is_read_from_its_field_and_what_has_no_place_kept_under_its_name_in_atif() -> None:
    main, helper = read(recording_of("atif"), SOURCE)
    assert (main.id, main.agent, main.model, main.task) == ("gate-main", "mender", "m-large", "Mend the gate.")
    assert [one.role for one in main.steps] == ["system", "user", "agent", "agent"]
    acting = main.steps[2]
    assert acting.text == "A look first."
    assert acting.reasoning == "The hinge may be loose."
    assert acting.timestamp == "2026-02-03T04:05:06Z"
    assert acting.calls[0] == ToolCall("read", {"path": "gate.py"}, "c1", extra={"attempt": 1})
    assert acting.results[0] == ToolResult("hinge = None", False, None, "c1", {"is_error": False})
    assert acting.tokens == Tokens(900, 20, 100, 0.002)
    assert (helper.id, helper.parent, helper.source) == ("gate-helper", "gate-main", SOURCE)
    assert main.extra["session_id"] == "gate-1"
    assert main.extra["agent"]["version"] == "2.1"
    assert main.extra["notes"] == "Made up."
    assert main.extra["final_metrics"] == {"total_prompt_tokens": 900, "total_steps": 4}
    assert main.extra["continued_trajectory_ref"] == "gate-2.json"
    assert main.extra["weather"] == "rain"
    assert main.steps[1].extra["message"][1]["source"]["path"] == "gate.png"
    assert main.steps[2].extra == {
        "turn": "first",
        "model_name": "m-small",
        "reasoning_effort": "low",
        "is_copied_context": False,
        "llm_call_count": 1,
        "metrics": {"logprobs": [-0.1, -0.2], "extra": {"reasoning_tokens": 7}},
    }
    assert main.steps[2].results[1].extra["subagent_trajectory_ref"] == [{"trajectory_id": "gate-helper"}]
    assert helper.extra["session_id"] == "gate-1"


@pytest.mark.parametrize("minor", range(9))
def test_versions_1_0_to_1_8_are_recognised_and_read(minor: int) -> None:
    fields = document(schema_version=f"ATIF-v1.{minor}")
    assert refuse(Sample(Path("x"), "document", fields, "")) is None
    assert one(fields).extra["schema_version"] == f"ATIF-v1.{minor}"


@pytest.mark.parametrize("first", [None, [], {}, {"schema_version": 3}, {"schema_version": "ATIF-v2.0"}])
def test_another_document_is_refused_with_a_reason(first: Any) -> None:
    assert refuse(Sample(Path("x"), "document", first, ""))


def test_steps_count_from_0_where_atif_counts_from_1_and_another_count_is_kept() -> None:
    steps = [{"step_id": number, "source": "agent", "message": f"step {number}"} for number in (1, 2, 7)]
    trajectory = one(document(steps=steps))
    assert [step.text for step in trajectory.steps] == ["step 1", "step 2", "step 7"]
    assert [step.extra.get("step_id") for step in trajectory.steps] == [None, None, 7]
    assert [step["step_id"] for step in to_atif(trajectory)["steps"]] == [1, 2, 3]


def test_a_trajectory_is_called_by_its_id_else_its_session_else_its_file() -> None:
    assert one(document(trajectory_id="t1")).id == "t1"
    assert one(document()).id == "s1"
    assert one(document(session_id=None)).id == "gate"


def test_embedded_trajectories_without_an_id_are_told_apart_though_they_share_a_session() -> None:
    inner = document(subagent_trajectories=[document()])
    rows = list(read(json.dumps(document(subagent_trajectories=[inner, document()])).encode(), SOURCE))
    assert [(one.id, one.parent) for one in rows] == [("s1", None), ("s1-0", "s1"), ("s1-0-0", "s1-0"), ("s1-1", "s1")]


def test_an_error_is_known_only_where_the_format_says_so() -> None:
    result = {"content": "no such file"}
    assert step(observation={"results": [result]}).results[0].is_error is None
    assert step(observation={"results": [result | {"extra": {"is_error": True, "exit_code": 2}}]}).results[
        0
    ] == ToolResult("no such file", True, 2, extra={"is_error": True, "exit_code": 2})
    marked = step(observation={"results": [result]}, extra={"tool_result_is_error": True})
    assert marked.results[0].is_error is True
    for extra in ({"tool_result_is_error": True}, {"error": "no"}, {"status": "ERROR"}):  # Harbor's converters
        assert step(observation={"results": [result | {"extra": extra}]}).results[0].is_error is True
    assert step(observation={"results": [result | {"extra": {"exitCode": 2}}]}).results[0].exit_code == 2


def test_what_terminus_puts_in_the_users_turns_is_not_the_users_and_what_it_cannot_parse_is_an_error() -> None:
    prompt = "You type.\n\nTask Description:\nMend it.\n\nCurrent terminal state:\n$"
    steps = [
        {"step_id": 1, "source": "user", "message": prompt, "is_copied_context": True},
        {"step_id": 2, "source": "user", "message": "Here are the answers the other agent provided.\n\nGo on."},
        {
            "step_id": 3,
            "source": "agent",
            "message": "{",
            "observation": {"results": [{"content": "Previous response had parsing errors:\nERROR: x"}]},
        },
    ]
    trajectory = one(document(agent={"name": "terminus-2", "version": "1"}, steps=steps))
    assert trajectory.task == "Mend it."
    assert [one.role for one in trajectory.steps] == ["system", "agent"]
    assert trajectory.steps[1].results[0].is_error is True


def test_arguments_that_are_a_text_are_parsed_or_kept_with_the_reason() -> None:
    calls = [{"function_name": "read", "arguments": text} for text in ('{"path": "a"}', '{"path": ')]
    good, bad = step(tool_calls=calls).calls
    assert good.arguments == {"path": "a"}
    assert bad.arguments == '{"path": '
    assert bad.parse_error


def test_an_unknown_field_that_meets_one_of_the_same_name_in_extra_does_not_replace_it() -> None:
    read_step = step(mood="calm", extra={"mood": "brisk"})
    assert read_step.extra == {"mood": "brisk", "mood_": "calm"}


def test_a_task_that_is_not_the_first_words_of_the_user_is_written_down() -> None:
    trajectory = Trajectory("t", Source("taubench"), "Say nothing of it.", (Step("user", "Hello."),))
    assert to_atif(trajectory)["extra"]["misstep"]["task"] == "Say nothing of it."
    plain = Trajectory("t", Source("taubench"), "Hello.", (Step("user", "Hello."),))
    assert "task" not in to_atif(plain)["extra"]["misstep"]


def test_what_is_written_keeps_the_rules_of_the_format() -> None:
    """Agents' fields only on agents' steps, ids for all calls, results joined only to calls of their own step."""
    call = ToolCall("read", {"path": "a"})
    elsewhere = ToolResult("late", call_id="other")
    trajectory = Trajectory(
        "t",
        Source("x"),
        steps=(
            Step("user", "Go.", reasoning="odd", calls=(call,), tokens=Tokens(1), timestamp="yesterday"),
            Step("agent", calls=(call, call), results=(elsewhere,), timestamp="2026-02-03T04:05:06"),
        ),
        extra={"final_metrics": {"total_steps": "many"}, "notes": "kept"},
    )
    written = to_atif(trajectory)
    user, agent = written["steps"]
    assert user.keys() == {"step_id", "source", "message", "extra"}
    assert len({one["tool_call_id"] for one in agent["tool_calls"]}) == 2
    assert "source_call_id" not in agent["observation"]["results"][0]
    assert agent["timestamp"] == "2026-02-03T04:05:06"
    assert written["notes"] == "kept"
    assert written["extra"]["final_metrics"] == {"total_steps": "many"}, "of the wrong type, so no field of ATIF"
    assert from_atif(written) == trajectory


def test_a_value_that_reading_would_leave_out_stays_in_extra() -> None:
    """A step's model that is the run's own, a version that says it is unknown."""
    step = Step("agent", "Yes.", extra={"model_name": "m-large"})
    trajectory = Trajectory("t", Source("x"), steps=(step,), model="m-large", extra={"agent": {"version": "unknown"}})
    assert from_atif(to_atif(trajectory)) == trajectory


TEXT = st.text(max_size=8)
FLAT = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    FLAT, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2), max_leaves=4
)
RESERVED = """misstep extra agent notes session_id metrics message step_id model_name llm_call_count reasoning_effort
    is_copied_context final_metrics content subagent_trajectory_ref is_error tool_result_is_error schema_version"""
NAMES = TEXT | st.sampled_from(RESERVED.split())
EXTRA = st.dictionaries(NAMES, VALUES, max_size=3)
IDS = st.none() | TEXT | st.sampled_from(["misstep-0", "misstep-1", "c1"])
SECONDS = st.none() | st.floats(0, 1e6)
COUNTS = st.none() | st.integers(0, 2**40)
TOKENS = st.builds(Tokens, COUNTS, COUNTS, COUNTS, SECONDS)
CALLS = st.builds(ToolCall, TEXT, st.dictionaries(TEXT, VALUES, max_size=2) | TEXT, IDS, st.none() | TEXT, EXTRA)
RESULTS = st.builds(ToolResult, TEXT, st.none() | st.booleans(), st.none() | st.integers(-9, 255), IDS, EXTRA)
STEPS = st.builds(
    Step,
    st.sampled_from(["user", "agent", "system"]),
    TEXT,
    TEXT,
    st.lists(CALLS, max_size=2).map(tuple),
    st.lists(RESULTS, max_size=2).map(tuple),
    st.none() | TEXT,
    st.none() | TEXT | st.just("2026-02-03T04:05:06Z"),
    SECONDS,
    st.none() | TOKENS,
    EXTRA,
)
NAME = st.none() | TEXT | st.just("unknown")
TRAJECTORIES = st.builds(
    Trajectory,
    TEXT,
    st.builds(Source, TEXT, TEXT, st.none() | st.integers(1, 9), st.none() | TEXT),
    TEXT,
    st.lists(STEPS, max_size=3).map(tuple),
    st.builds(Outcome, st.sampled_from(["passed", "failed", "unknown"]), SECONDS),
    NAME,
    NAME,
    NAME,
    EXTRA,
)


@settings(deadline=None)
@given(TRAJECTORIES)
def test_any_trajectory_whatever_is_in_its_extra_is_the_same_when_written_and_read_again(trajectory) -> None:
    content = msgspec.json.encode(to_atif(trajectory))
    (again,) = read(content, Source("atif", "elsewhere"))
    assert again == trajectory
    assert msgspec.json.encode(to_atif(again)) == content


def test_a_step_that_was_copied_from_an_earlier_trajectory_counts_there() -> None:
    old = [{"source": "user", "message": "Mend it."}, {"source": "agent", "message": "A look.", "metrics": {}}]
    copied = [one | {"step_id": number, "is_copied_context": True} for number, one in enumerate(old, 1)]
    own = {"step_id": 3, "source": "agent", "message": "Mended.", "is_copied_context": False}
    trajectory = one(document(steps=[*copied, own]))
    assert [step.text for step in trajectory.steps] == ["Mended."]
    assert trajectory.task == "Mend it.", "what was asked stays known"
    assert [step["text"] for step in trajectory.extra["copied_steps"]] == ["Mend it.", "A look."], "nothing is lost"
    assert from_atif(to_atif(trajectory)) == trajectory


def test_a_sub_agent_is_not_charged_with_the_steps_that_it_was_given() -> None:
    step = {"step_id": 1, "source": "agent", "message": "A look."}
    inner = document(trajectory_id="summary", steps=[step | {"is_copied_context": True}])
    main, helper = read(json.dumps(document(steps=[step], subagent_trajectories=[inner])).encode(), SOURCE)
    assert (len(main.steps), len(helper.steps)) == (1, 0)
