"""Runs exported from LangSmith: a list, JSON Lines or `{"runs": […]}`; a trajectory for each trace.

    {"id": "r2", "trace_id": "r1", "parent_run_id": "r1", "name": "ChatModel", "run_type": "llm",
     "start_time": "2026-01-05T10:00:00", "end_time": "2026-01-05T10:00:02", "error": null,
     "inputs": {"messages": [[{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages",
      "HumanMessage"], "kwargs": {"content": "Fix it", "type": "human"}}]]},
     "outputs": {"generations": [[{"text": "", "message": {"kwargs": {"content": "", "tool_calls":
      [{"name": "look", "args": {"path": "a.py"}, "id": "c1"}]}}}]]},
     "prompt_tokens": 90, "completion_tokens": 7, "extra": {"metadata": {"ls_model_name": "x"}}}

Runs are spans: an `llm` is a step of the agent, a `tool` or `retriever` a call with its answer (`opentelemetry`).
`child_runs` within a run are runs as well. Not public: messages are LangChain's, with those
calls that it could not parse (`invalid_tool_calls`).
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import decode_document_or_lines
from misstep_harness.readers.input.fields import at, text_or_none, whole, without
from misstep_harness.readers.interchange.opentelemetry import trajectories_of
from misstep_harness.readers.interchange.span_messages import model_attributes, tool_attributes
from misstep_harness.readers.interchange.spans import Span, moment, seconds_between
from misstep_harness.trajectory import Source, Trajectory

FORMAT = "langsmith"
UNIT: Unit = "file"

_KINDS = {"llm": "LLM", "tool": "TOOL", "retriever": "RETRIEVER", "chain": "CHAIN", "agent": "AGENT"}
_PLACED = ("id", "trace_id", "parent_run_id", "name", "run_type", "start_time", "end_time", "error", "child_runs")


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no runs of LangSmith."""
    first = sample.first
    runs = first.get("runs") if isinstance(first, dict) and isinstance(first.get("runs"), list) else first
    run = runs[0] if isinstance(runs, list) and runs else runs
    if not isinstance(run, dict):
        return "no JSON objects"
    return None if _is_run(run) else "no runs with id, run_type and inputs"


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and {"id", "run_type"} <= value.keys() and ("inputs" in value or "outputs" in value)


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return a trajectory for each trace of the file, in the order of their first runs."""
    lines = decode_document_or_lines(data, source)
    others: list[Any] = []
    spans = [span for _, value in lines.values for span in _spans(value, others)]
    yield from trajectories_of(spans, source, lines.unfinished, others)


def _spans(value: Any, others: list[Any]) -> Iterator[Span]:
    pending: list[tuple[Any, str, str | None]] = [(value, "", None)]
    while pending:
        item, trace, parent = pending.pop()
        if isinstance(item, list):
            pending += [(one, trace, parent) for one in reversed(item)]
        elif isinstance(item, dict) and isinstance(item.get("runs"), list) and not _is_run(item):
            others.append(without(item, "runs"))
            pending.append((item["runs"], trace, parent))
        elif _is_run(item):
            span = _span(item, trace, parent)
            yield span
            children = item.get("child_runs")
            pending.append((children if isinstance(children, list) else [], span.trace, span.id))
        else:
            others.append(item)


def _span(run: dict[str, Any], trace: str, parent: str | None) -> Span:
    kind = _KINDS.get(str(run.get("run_type")), "")
    name, identity = str(run.get("name") or run.get("run_type")), str(run["id"])
    start, end = moment(run.get("start_time")), moment(run.get("end_time"))
    given, answer = run.get("inputs"), run.get("outputs")
    rest = without(run, *_PLACED)
    if kind == "LLM":
        attributes = model_attributes(given, answer, _model(run), _used(run), [run.get("total_cost")])
    elif kind in ("TOOL", "RETRIEVER"):
        attributes = tool_attributes(name, given, answer)
    else:
        attributes = {}
    return Span(
        identity,
        str(run.get("trace_id") or trace or identity),
        text_or_none(run.get("parent_run_id")) or parent,
        name,
        kind,
        attributes,
        text_or_none(run.get("start_time")),
        start,
        seconds_between(start, end),
        "error" if run.get("error") or run.get("status") == "error" else "unset",
        text_or_none(run.get("error")) or "",
        rest,
    )


def _model(run: dict[str, Any]) -> Any:
    named = [at(run, "extra", "metadata", "ls_model_name")]
    named += [at(run, "extra", "invocation_params", name) for name in ("model", "model_name")]
    return next((name for name in named if isinstance(name, str)), None)


def _used(run: dict[str, Any]) -> dict[str, Any]:
    used = at(run, "outputs", "usage_metadata") or at(run, "extra", "metadata", "usage_metadata") or {}
    details = at(used, "input_token_details")
    known = {"input": whole(run.get("prompt_tokens")), "output": whole(run.get("completion_tokens"))}
    stated = {name: count for name, count in known.items() if count is not None}
    return (used if isinstance(used, dict) else {}) | (details if isinstance(details, dict) else {}) | stated
