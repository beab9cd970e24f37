"""A text that a document has many times is written once, and reading puts it back in every place."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.readers.interchange.atif import from_atif, read, to_atif
from misstep_harness.readers.interchange.atif_document import LONG, folded, unfolded
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory

SOURCE = Source("inspect_ai", "log.json")
VALUES = st.recursive(
    st.none() | st.sampled_from(["", "a", "b" * LONG, "c" * (LONG - 1), "d" * 2 * LONG]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["x", "a/b", "~", "0", ""]), inner),
)


def turns(n: int, text: str) -> Trajectory:
    part = {"type": "image", "image": f"data:{text}"}
    step = Step(
        "agent",
        "",
        text,
        (ToolCall("shot", {"of": text}, "c"),),
        (ToolResult(text, call_id="c", extra={"raw": [part]}),),
    )
    return Trajectory("a", SOURCE, steps=(step,) * n, extra={"attachments": {"a/b~c": text}})


@given(VALUES)
def test_any_document_is_the_same_when_it_is_unfolded(value: Any) -> None:
    document = {"value": value, "extra": {"misstep": {"source": {"format": "x"}}}}
    assert unfolded(json.loads(json.dumps(folded(document)))) == document


def test_a_text_in_every_place_of_many_steps_is_written_once_and_read_back() -> None:
    trajectory = turns(100, "x" * 50_000)
    content = msgspec.json.encode(folded(to_atif(trajectory)))
    assert len(content) < 4 * 50_000
    assert list(read(content, SOURCE)) == [trajectory] == [from_atif(json.loads(content), SOURCE)]
    steps = json.loads(content)["steps"]
    assert steps[1]["observation"]["results"][0]["content"] == "[The same text as in /steps/0/reasoning_content]"


def test_texts_that_are_short_or_repeated_little_stand_in_every_place() -> None:
    few = Trajectory(
        "a", SOURCE, steps=(Step("user", "x" * 5_000), Step("agent", "y" * 9_000), Step("user", "x" * 5_000))
    )
    for trajectory in (turns(50, "x" * (LONG - 10)), few):
        assert folded(to_atif(trajectory)) == to_atif(trajectory)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"/steps/0/message": ["/steps/9/message"]}, "does not exist"),
        ({"/steps/0/step_id": ["/steps/1/message"]}, "holds none"),
        ({"/steps/0/message": ["/steps/1/message"] * 70_000}, "over 64 MiB"),
        ({"": [""]}, "does not exist"),
        ({"/steps/0/message": ["/extra/list/-1"]}, "does not exist"),
    ],
)
def test_a_table_that_does_not_fit_its_document_costs_that_document(table: Any, message: str) -> None:
    steps = [{"step_id": n, "source": "user", "message": "x" * 1_000} for n in (1, 2)]
    document = {"schema_version": "ATIF-v1.8", "steps": steps, "extra": {"misstep": {"repeated": table}, "list": ["x"]}}
    with pytest.raises(UnreadableTrajectory, match=message):
        list(read(json.dumps(document).encode(), SOURCE))


def test_a_document_with_repeats_that_is_nested_too_deep_is_unreadable() -> None:
    table = '{"misstep": {"repeated": {"/steps/0/message": []}}, "deep": ' + "[" * 900 + "]" * 900 + "}"
    steps = '[{"step_id": 1, "source": "user", "message": "Go on."}]'
    document = f'{{"schema_version": "ATIF-v1.8", "steps": {steps}, "extra": {table}}}'
    with pytest.raises(UnreadableTrajectory, match="nested too deep"):
        list(read(document.encode(), SOURCE))
