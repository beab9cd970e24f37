"""Exports of LangSmith and Langfuse: the same session whichever of them recorded it, in each of their shapes."""

import json
from typing import Any

import pytest

from misstep.harness.readers import reader_for
from misstep.harness.readers.interchange.atif import from_atif, to_atif
from misstep.harness.trajectory import Source, Tokens, Trajectory
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
