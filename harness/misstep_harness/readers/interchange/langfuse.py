"""Traces exported from Langfuse: traces with their observations, or observations alone; a trajectory for each trace.

    {"id": "t1", "name": "shop", "sessionId": null, "scores": [], "observations": [
     {"id": "o1", "traceId": "t1", "parentObservationId": null, "type": "GENERATION", "name": "chat", "model": "x",
      "startTime": "2026-01-05T10:00:00Z", "endTime": "2026-01-05T10:00:02Z", "level": "DEFAULT", "statusMessage": null,
      "input": [{"role": "user", "content": "Fix it"}],
      "output": {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function",
       "function": {"name": "look", "arguments": "{}"}}]}, "usageDetails": {"input": 90, "output": 7}},
     {"id": "o2", "traceId": "t1", "type": "TOOL", "name": "look", "input": {}, "output": "x = 1"}]}

A document is such a trace, `{"trace": {…}, "observations": […]}`, a page of the API (`{"data": […]}`) or a list; JSON
Lines are each of them a line. A GENERATION is a step of the agent, a TOOL a call with its answer (`opentelemetry`).
Of spans from OpenTelemetry `metadata.attributes` has what Langfuse has no field for, such as the id of a call.

Checked with Langfuse at 6275144 (ingestion types, usage and cost) and the traces of 20 frameworks in its tests.
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import decode_document_or_lines
from misstep_harness.readers.input.fields import at, filled, first_whole, text_or_none, whole, without
from misstep_harness.readers.interchange.content import parse_arguments
from misstep_harness.readers.interchange.opentelemetry import CALL_IDS, TOOL_NAMES, trajectories_of
from misstep_harness.readers.interchange.span_messages import READ, WRITTEN, model_attributes, tool_attributes
from misstep_harness.readers.interchange.spans import Span, moment, seconds_between
from misstep_harness.trajectory import Source, Trajectory

FORMAT = "langfuse"
UNIT: Unit = "file"

_KINDS = {"GENERATION": "LLM", "TOOL": "TOOL", "RETRIEVER": "RETRIEVER", "AGENT": "AGENT", "CHAIN": "CHAIN"}
_TYPES = frozenset({*_KINDS, "SPAN", "EVENT", "EMBEDDING", "EVALUATOR", "GUARDRAIL"})
_TRACES = ("traceId", "trace_id")
_PARENTS = ("parentObservationId", "parent_observation_id")
_PLACED = ("id", "name", "type", "model", "startTime", "start_time", "endTime", "end_time", *_TRACES, *_PARENTS)


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no traces of Langfuse."""
    value = sample.first
    for _ in range(2):
        if isinstance(value, dict) and isinstance(value.get("data"), list):
            value = value["data"]
        value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return "no JSON objects"
    if _is_observation(value) or _holds_observations(value):
        return None
    return "no observations with a type such as GENERATION or SPAN and a traceId"


def _is_observation(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return False
    return value.get("type") in _TYPES if isinstance(value.get("type"), str) and _first(value, _TRACES) else False


def _holds_observations(value: dict[str, Any]) -> bool:
    observations = value.get("observations")
    return isinstance(observations, list) and any(map(_is_observation, observations))


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return a trajectory for each trace of the file, in the order of their first observations."""
    lines = decode_document_or_lines(data, source)
    others: list[Any] = []
    spans = [span for _, value in lines.values for span in _spans(value, others)]
    yield from trajectories_of(spans, source, lines.unfinished, others)


def _spans(value: Any, others: list[Any]) -> Iterator[Span]:
    pending = [value]
    while pending:
        item = pending.pop()
        held = next((name for name in ("observations", "data") if isinstance(item, dict) and name in item), None)
        if isinstance(item, list):
            pending += reversed(item)
        elif _is_observation(item):
            yield _span(item)
        elif held is not None and isinstance(item[held], list):
            if rest := without(item, held):
                others.append(rest)
            pending.append(item[held])
        else:
            others.append(item)


def _first(value: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := text_or_none(value.get(name)))), None)


def _span(observation: dict[str, Any]) -> Span:
    of_tool = _of_tool(observation)
    kind = _KINDS.get(observation["type"], "TOOL" if of_tool else "")
    identity = observation["id"]
    name = str(observation.get("name") or observation["type"].lower())
    began = observation.get("startTime", observation.get("start_time"))
    start, end = moment(began), moment(observation.get("endTime", observation.get("end_time")))
    given, answer = observation.get("input"), observation.get("output")
    if kind == "LLM":
        attributes = model_attributes(given, answer, observation.get("model"), _used(observation), _costs(observation))
    elif kind in ("TOOL", "RETRIEVER"):
        attributes = tool_attributes(name, given, answer) | of_tool
    else:
        attributes = {}
    return Span(
        identity,
        _first(observation, _TRACES) or "",
        _first(observation, _PARENTS),
        name,
        kind,
        attributes,
        text_or_none(began),
        start,
        seconds_between(start, end),
        "error" if observation.get("level") == "ERROR" else "unset",
        _first(observation, ("statusMessage", "status_message")) or "",
        without(observation, *_PLACED),
    )


def _of_tool(observation: dict[str, Any]) -> dict[str, Any]:
    """Return the name of a tool and the call that it answers, from the attributes of the span that Langfuse keeps."""
    kept = at(parse_arguments(observation.get("metadata"))[0], "attributes")
    kind = at(kept, "openinference.span.kind") or at(kept, "gen_ai.operation.name")
    ids, names = ([(name, at(kept, name)) for name in told] for told in (CALL_IDS, TOOL_NAMES))
    is_tool = kind in ("TOOL", "execute_tool") or bool(filled(ids))
    return filled([*ids, *names]) if is_tool and filled(names) else {}


def _used(observation: dict[str, Any]) -> dict[str, Any]:
    """Return the tokens; Langfuse takes those of a cache out of `input`, and ours has them."""
    for name in ("usageDetails", "usage_details", "usage"):
        if isinstance(used := observation.get(name), dict) and any(whole(count) is not None for count in used.values()):
            new = whole(used.get("input", used.get("input_tokens")))
            apart = [first_whole(used.get(key) for key in keys) or 0 for keys in (READ, WRITTEN)]
            return used if new is None else used | {"input": new + sum(apart)}
    return {"input": observation.get("promptTokens"), "output": observation.get("completionTokens")}


def _costs(observation: dict[str, Any]) -> list[Any]:
    details = [at(observation, name, "total") for name in ("costDetails", "cost_details")]
    return details + [
        observation.get(name) for name in ("calculatedTotalCost", "totalCost", "total_cost", "totalPrice")
    ]
