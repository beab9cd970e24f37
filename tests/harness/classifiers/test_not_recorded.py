"""What a recording does not hold is never the same as anything: no loop is said to have the same answer."""

import pytest

from misstep_harness.classifiers import infinite_loop
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory


def run(call: ToolCall, result: ToolResult | None, times: int = 6) -> Trajectory:
    results = () if result is None else (result,)
    return Trajectory(
        "s", Source("made up"), steps=tuple(Step("agent", calls=(call,), results=results) for _ in range(times))
    )


ASKED, UNKNOWN = ToolCall("stock", {"sku": "1"}), ToolCall("stock", recorded=False)


@pytest.mark.parametrize("result", [None, ToolResult("", is_error=True, recorded=False)])
def test_calls_whose_answers_are_not_recorded_are_never_said_to_have_the_same(result: ToolResult | None) -> None:
    verdict = infinite_loop.classify(run(ASKED, result))
    assert "same answer" not in verdict.rationale
    assert verdict.label == "no" or "no answer recorded" in verdict.rationale


@pytest.mark.parametrize("result", [None, ToolResult("3 pieces")])
def test_calls_whose_arguments_are_not_recorded_are_no_loop(result: ToolResult | None) -> None:
    assert infinite_loop.classify(run(UNKNOWN, result)).label == "no"


def test_two_pictures_without_a_word_are_not_the_same_answer() -> None:
    steps = tuple(
        Step("agent", calls=(ToolCall("look", {"page": "1"}),), results=(ToolResult("", extra={"content": [number]}),))
        for number in range(6)
    )
    assert infinite_loop.classify(Trajectory("s", Source("made up"), steps=steps)).label == "no"
    assert infinite_loop.classify(run(ToolCall("look", {"page": "1"}), ToolResult(""))).label == "yes"
