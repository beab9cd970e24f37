"""OpenAI chat files: one conversation a document or a line."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.protocols import Sample, Shape
from misstep_harness.readers.interchange.openai_chat import read, refuse
from misstep_harness.trajectory import Source, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("openai_chat", "runs/chats.jsonl", 4)
HELLO = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good day."}]


def one(value: Any, source: Source = SOURCE) -> Trajectory:
    (trajectory,) = read(json.dumps(value).encode(), source)
    return trajectory


def seen(value: Any, shape: Shape = "document") -> Sample:
    return Sample(Path("chats.jsonl"), shape, value, "")


def test_a_conversation_stands_under_messages_or_is_a_bare_list() -> None:
    assert refuse(seen({"messages": HELLO})) is None
    assert refuse(seen(HELLO)) is None
    assert one({"messages": HELLO}).steps == one(HELLO).steps


def test_items_of_the_responses_api_between_messages_are_thoughts_calls_and_answers() -> None:
    items = [
        HELLO[0],
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"path": "a"}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** Begin"},
        {"type": "function_call_output", "call_id": "c1", "output": "x = 1"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "Done"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Good day."}]},
    ]
    assert refuse(seen(items)) is None
    run = one(items)
    assert [(step.role, step.text, step.reasoning) for step in run.steps] == [
        ("user", "Hello.", ""),
        ("agent", "", "Look."),
        ("agent", "", ""),
        ("agent", "", ""),
        ("agent", "Good day.", ""),
    ]
    assert [call.arguments for step in run.steps for call in step.calls] == [{"path": "a"}, {"input": "*** Begin"}]
    assert [[result.text for result in step.results] for step in run.steps] == [[], [], ["x = 1"], ["Done"], []]


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [],
        {"messages": []},
        {"messages": [5]},
        {"messages": "hello"},
        [{"text": "?"}],
        [{"role": "user", "text": "?"}],
    ],
)
def test_what_has_no_messages_with_roles_is_refused(value: Any) -> None:
    assert refuse(seen(value))


def test_a_run_of_mini_swe_agent_is_left_to_its_own_reader_and_a_bash_block_alone_does_not_make_one() -> None:
    assert refuse(seen(json.loads(recording_of("mini_swe_agent"))))
    assert refuse(seen([*HELLO, {"role": "user", "content": "<returncode>0</returncode>"}]))

    assert refuse(seen([HELLO[0], {"role": "assistant", "content": "Try this:\n\n```bash\nls\n```"}])) is None


def test_it_is_called_by_its_id_else_by_file_and_line() -> None:
    assert one({"id": "chat-9", "messages": HELLO}).id == "chat-9"
    assert one({"messages": HELLO}).id == "chats-4"
    assert one(HELLO, Source("openai_chat", "runs/chat.json.gz")).id == "chat"


def test_task_model_and_everything_beside_the_messages_are_kept() -> None:
    trajectory = one(json.loads(recording_of("openai_chat")))
    assert trajectory.task == "Where is my order W12?"
    assert trajectory.model == "m-small"
    assert trajectory.extra["metadata"] == {"shop": 4}
    assert trajectory.outcome.status == "unknown"


@pytest.mark.parametrize("value", [5, "hello", {"messages": 5}, {"messages": [5]}, {"messages": [{"content": "?"}]}])
def test_another_shape_is_unreadable_and_named_by_file_and_line(value: Any) -> None:
    with pytest.raises(UnreadableTrajectory) as caught:
        one(value)
    assert (caught.value.file, caught.value.line_number) == (SOURCE.file, SOURCE.line)
