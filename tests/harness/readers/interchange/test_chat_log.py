"""Chats whatever their fields are called: told by speakers and texts, agents by their names."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.readers import read_file
from misstep_harness.readers.files import sample_file
from misstep_harness.readers.interchange import chat_log
from misstep_harness.trajectory import Source, ToolCall, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("chat_log", "logs/7.json")


def read(value: Any) -> list[Trajectory]:
    return list(chat_log.read(json.dumps(value).encode(), SOURCE))


def refusal(folder: Path, value: Any) -> str | None:
    path = folder / "any.json"
    path.write_text(json.dumps(value))
    return chat_log.refuse(sample_file(path))


def speakers(trajectory: Trajectory) -> list[tuple[str, str | None]]:
    return [(step.role, step.speaker) for step in trajectory.steps]


def test_who_is_no_role_is_an_agent_but_for_people_and_what_runs_code() -> None:
    (run,) = chat_log.read(recording_of("chat_log"), SOURCE)
    assert (run.id, run.task) == ("7", "How many bridges are there?")
    assert speakers(run) == [
        ("user", None),
        ("agent", "Planner (thought)"),
        ("agent", "Counting_Expert"),
        ("system", "Code_terminal"),
        ("agent", "Counting_Expert"),
    ]
    assert run.extra == {"question": run.task, "level": 2, "step_of_message": [0, 1, 2, 3, 4]}


def test_where_several_are_named_the_name_tells_and_not_the_role_of_whoever_kept_the_log() -> None:
    (run,) = read(
        {
            "log": [
                {"role": "user", "name": "Writer", "content": "Here it is."},
                {"role": "assistant", "name": "Reviewer", "content": "Again, please."},
                {"role": "user", "name": "UserProxy", "content": "Go on."},
                {"role": "user", "name": "Proxy", "content": "exitcode: 1 (execution failed)"},
            ]
        }
    )
    assert [role for role, _ in speakers(run)] == ["agent", "agent", "user", "system"]


def test_one_person_with_a_name_stays_a_person() -> None:
    (run,) = read(
        {"log": [{"role": "user", "name": "kim", "content": "Sort it."}, {"role": "assistant", "content": "Sorted."}]}
    )
    assert speakers(run) == [("user", "kim"), ("agent", None)]


@pytest.mark.parametrize(
    ("speaker", "text", "list_"),
    [
        ("from", "value", "conversations"),
        ("sender", "text", "chat_messages"),
        ("role", "text", "trajectory"),
        ("source", "content", "any_name"),
        ("speaker", "message", "dialogue"),
    ],
)
def test_fields_may_have_any_usual_name(tmp_path: Path, speaker: str, text: str, list_: str) -> None:
    turns = [("human", "Sort it."), ("assistant", "Sorted.")]
    value = {"id": 3, "model": "m-small", list_: [{speaker: who, text: what} for who, what in turns]}
    assert refusal(tmp_path, value) is None
    (run,) = read(value)
    assert (run.id, run.model, run.task) == ("3", "m-small", "Sort it.")
    assert [(step.role, step.text) for step in run.steps] == [("user", "Sort it."), ("agent", "Sorted.")]


def test_a_type_that_is_a_role_says_who_speaks_before_the_name_of_a_tool() -> None:
    call = {"name": "look", "args": {"path": "a"}, "id": "c1", "type": "tool_call"}
    (run,) = read(
        {
            "messages": [
                {"type": "human", "content": "Look"},
                {"type": "ai", "content": "", "tool_calls": [call]},
                {"type": "tool", "name": "look", "content": "gone", "tool_call_id": "c1", "status": "error"},
            ]
        }
    )
    assert speakers(run) == [("user", None), ("agent", None)]
    assert run.steps[1].calls == (ToolCall("look", {"path": "a"}, "c1"),)
    assert [(result.text, result.is_error) for result in run.steps[1].results] == [("gone", True)]


def test_calls_and_observations_that_are_messages_are_calls_and_results() -> None:
    (run,) = read(
        {
            "conversations": [
                {"from": "human", "value": "List."},
                {"from": "function_call", "value": '{"name": "ls", "arguments": {"path": "."}}'},
                {"from": "observation", "value": "a.py"},
                {"from": "gpt", "value": "One file."},
            ]
        }
    )
    assert [step.role for step in run.steps] == ["user", "agent", "agent"]
    assert run.steps[1].calls == (ToolCall("ls", {"path": "."}),)
    assert [result.text for result in run.steps[1].results] == ["a.py"]


CHAT = {"messages": [{"role": "user", "content": "Sort it."}, {"role": "assistant", "content": "Sorted."}]}


@pytest.mark.parametrize(
    "value",
    [
        [CHAT, CHAT],
        {"simulations": [CHAT | {"seed": 1}, CHAT | {"seed": 2}], "timestamp": "2026-01-05"},
        {"first": CHAT, "second": CHAT},
    ],
)
def test_a_document_of_several_conversations_gives_a_run_of_each(tmp_path: Path, value: Any) -> None:
    assert refusal(tmp_path, value) is None
    assert [(run.id, len(run.steps)) for run in read(value)] == [("7-1", 2), ("7-2", 2)]


@pytest.mark.parametrize(
    "value",
    [
        {"authors": [{"name": "Kim"}, {"name": "Lee"}]},
        {"comments": [{"author": "kim", "text": "Looks good."}, {"author": "lee", "text": "No."}]},
        {"prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Sort it."}]},
        {"chosen": CHAT["messages"], "rejected": CHAT["messages"]},
        {"steps": [{"role": "assistant", "level": 3}]},
        [1, 2],
        "text",
    ],
)
def test_what_is_no_chat_with_an_agent_or_could_be_either_of_two_is_refused(tmp_path: Path, value: Any) -> None:
    assert refusal(tmp_path, value)


@pytest.mark.data
def test_the_public_logs_of_several_agents_are_read_with_their_speakers(data_folder: Path) -> None:
    runs = [run for path in (data_folder / "whoandwhen" / "logs").iterdir() for run in read_file(path)]
    assert len(runs) == 126
    assert {step.role for run in runs if isinstance(run, Trajectory) for step in run.steps} == {"agent", "system"}
