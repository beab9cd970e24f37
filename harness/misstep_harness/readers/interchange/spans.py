"""Spans as tracing tools export them, brought to one form: OTLP JSON, span trees, flat lists.

OTLP (one export a document or line)::

    {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": [
     {"traceId": "t1", "spanId": "a1", "parentSpanId": "", "name": "chat", "startTimeUnixNano": "1700000000000000000",
      "endTimeUnixNano": "1700000001000000000", "status": {"code": 1},
      "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]}]}]}]}

A tree: `{"trace_id": "t1", "spans": [{"span_id": "a1", "parent_span_id": null, "span_name": "Step 1",
"timestamp": "2026-01-05T10:00:00Z", "duration": "PT1M3.5S", "status_code": "Ok", "span_attributes":
{"openinference.span.kind": "LLM"}, "child_spans": []}]}`. A flat list, or one span a line: `{"name": "chat",
"context": {"trace_id": "t1", "span_id": "a1"}, "parent_id": null, "start_time": "2026-01-05T10:00:00Z",
"end_time": "…", "status_code": "OK", "attributes": {"llm": {"model_name": "x"}}}`.

Attributes come out flat, with dotted names, however they are nested. A span written twice counts once.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.readers.input.decoding import EXPANSION_LIMIT, unreadable
from misstep_harness.readers.input.fields import amount, at, filled, whole
from misstep_harness.trajectory import Source, Tokens
from misstep_harness.values import NOT_JSON

_KIND_OF_OPERATION = {
    "chat": "LLM",
    "text_completion": "LLM",
    "generate_content": "LLM",
    "completion": "LLM",
    "execute_tool": "TOOL",
    "tool": "TOOL",
    "invoke_agent": "AGENT",
    "agent": "AGENT",
    "retrieval": "RETRIEVER",
    "invoke_workflow": "CHAIN",
    "workflow": "CHAIN",
    "task": "CHAIN",
}
COUNTS = {
    "prompt": ("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "completion": ("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "cached": (
        "llm.token_count.prompt_details.cache_read",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
    ),
    "cache_written": (
        "llm.token_count.prompt_details.cache_write",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write_input_tokens",
    ),
}
"""The fields of `Tokens` → the attributes that hold them."""

COSTS = ("llm.cost.total", "gen_ai.usage.cost", "gen_ai.usage.total_cost")

_MOST_SHARED = 2_000_000
"""How many fields shared by several spans may be copied to each of them."""

_DETAILS = "gen_ai.client.inference.operation.details"
"""The event that holds what other versions write as attributes of the span."""

_OTLP_VALUES = ("stringValue", "boolValue", "intValue", "doubleValue", "bytesValue")
_PLACED = frozenset(
    {"context", "span_id", "spanId", "context.span_id", "trace_id", "traceId", "context.trace_id", "child_spans"}
    | {"parent_span_id", "parentSpanId", "parent_id", "span_name", "name", "span_attributes", "attributes"}
    | {"startTimeUnixNano", "endTimeUnixNano", "start_time", "end_time", "timestamp", "duration"}
    | {"status", "status_code", "status_message"}
)
_STATUS = {"1": "ok", "2": "error", "status_code_ok": "ok", "status_code_error": "error", "ok": "ok", "error": "error"}


class Span(Struct):
    """One span; `kind` is that of OpenInference (LLM, TOOL, AGENT, CHAIN, …), `status` ok, error or unset.

    `events` are its events by name, with flat attributes; they are in `rest` unchanged as well.
    """

    id: str
    trace: str
    parent: str | None
    name: str
    kind: str
    attributes: dict[str, Any]
    timestamp: str | None = None
    start: float | None = None
    seconds: float | None = None
    status: str = "unset"
    message: str = ""
    rest: dict[str, Any] = {}
    events: list[tuple[str, dict[str, Any]]] = []


def holds_spans(value: Any) -> bool:
    """Return whether a JSON value is one of the layouts, as far as its first span shows."""
    if isinstance(value, list):
        return bool(value) and holds_spans(value[0]) and not (isinstance(value[0], list))
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("resourceSpans", value.get("resource_spans")), list):
        return True
    spans = value.get("spans")
    if isinstance(spans, list) and ("trace_id" in value or "traceId" in value):
        return not spans or (isinstance(spans[0], dict) and _identity(spans[0]) is not None)
    return _identity(value) is not None and ("attributes" in value or "span_attributes" in value or _is_dotted(value))


def _is_dotted(value: dict[str, Any]) -> bool:
    return any(isinstance(name, str) and name.startswith("attributes.") for name in value)


def spans_of(value: Any, source: Source, line: int | None) -> Iterator[Span]:
    """Return the spans in a JSON value, in the order in which they are written."""
    pending: list[tuple[Any, str, dict[str, Any]]] = [(value, "", {})]
    shared_fields = 0
    while pending:
        item, trace, about = pending.pop()
        if isinstance(item, list):
            pending += [(part, trace, about) for part in reversed(item)]
        elif not isinstance(item, dict):
            raise unreadable(f"a span is not an object but {type(item).__name__}", source, line)
        elif (exported := item.get("resourceSpans", item.get("resource_spans"))) is not None:
            pending.append((_of_resources(exported, source, line), trace, about))
        elif "spans" in item and _identity(item) is None:
            trace = str(item.get("trace_id") or item.get("traceId") or trace)
            shared = {name: field for name, field in item.items() if name not in ("spans", "trace_id", "traceId")}
            pending.append((item["spans"] or [], trace, about | shared))
        else:
            shared_fields += len(about)
            if shared_fields > _MOST_SHARED:
                raise unreadable("too many fields shared by several spans to copy to each of them", source, line)
            yield _span(item, trace, about, source, line)
            children = item.get("child_spans")
            pending.append((children if isinstance(children, list) else [], trace, about))


def _of_resources(exported: Any, source: Source, line: int | None) -> list[dict[str, Any]]:
    groups = []
    for resource in exported if isinstance(exported, list) else [exported]:
        if not isinstance(resource, dict):
            raise unreadable("`resourceSpans` holds no objects", source, line)
        scopes = resource.get("scopeSpans") or resource.get("scope_spans") or []
        for scope in scopes if isinstance(scopes, list) else [scopes]:
            if not isinstance(scope, dict):
                raise unreadable("`scopeSpans` holds no objects", source, line)
            about = filled([("resource", resource.get("resource")), ("scope", scope.get("scope"))])
            groups.append({"spans": scope.get("spans")} | about)
    return groups


def _identity(span: dict[str, Any]) -> str | None:
    names = (span.get(name) for name in ("span_id", "spanId", "context.span_id"))
    return _first_text(at(span, "context", "span_id"), *names)


def _first_text(*values: Any) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _span(item: dict[str, Any], trace: str, about: dict[str, Any], source: Source, line: int | None) -> Span:
    identity = _identity(item)
    if identity is None:
        raise unreadable("a span without a span id", source, line)
    traces = [
        at(item, "context", "trace_id"),
        *(item.get(name) for name in ("trace_id", "traceId", "context.trace_id")),
    ]
    events = list(_events(item.get("events")))
    attributes = _attributes(item)
    for name, details in events:
        if name == _DETAILS:
            attributes = details | attributes
    start = moment(item.get("startTimeUnixNano", item.get("start_time", item.get("timestamp"))))
    end = moment(item.get("endTimeUnixNano", item.get("end_time")))
    status = item["status"] if isinstance(item.get("status"), dict) else {}
    code = item.get("status_code", status.get("code", status.get("status_code", item.get("status"))))
    stated = item.get("start_time", item.get("timestamp"))
    return Span(
        id=identity,
        trace=_first_text(*traces, trace) or "",
        parent=_first_text(*(item.get(name) for name in ("parent_span_id", "parentSpanId", "parent_id"))),
        name=str(item.get("span_name", item.get("name", ""))),
        kind=_kind(item, attributes),
        attributes=attributes,
        timestamp=stated if isinstance(stated, str) else _printed(start),
        start=start,
        seconds=_seconds(item.get("duration"), start, end),
        status=_STATUS.get(str(code).lower(), "unset"),
        message=_first_text(item.get("status_message"), status.get("message"), status.get("description")) or "",
        rest=about | filled((name, field) for name, field in item.items() if not _is_placed(name)),
        events=events,
    )


def _events(events: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for event in listed(events):
        if isinstance(event, dict) and isinstance(event.get("name"), str):
            yield event["name"], _attributes(event)


def _is_placed(name: str) -> bool:
    return name in _PLACED or name.startswith("attributes.")


def _attributes(item: dict[str, Any]) -> dict[str, Any]:
    fields = item.get("span_attributes", item.get("attributes"))
    if isinstance(fields, str):
        try:
            fields = msgspec.json.decode(fields)
        except NOT_JSON:
            fields = {"attributes": fields}
    if isinstance(fields, list):
        fields = {
            pair["key"]: _otlp_value(pair.get("value"))
            for pair in fields
            if isinstance(pair, dict) and isinstance(pair.get("key"), str)
        }
    if not isinstance(fields, dict):
        prefix = "attributes."
        fields = {name.removeprefix(prefix): field for name, field in item.items() if name.startswith(prefix)}
    return flat(fields)


def _otlp_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    for name in _OTLP_VALUES:
        if name in value:
            return value[name]
    if isinstance(value.get("arrayValue"), dict):
        return [_otlp_value(part) for part in listed(value["arrayValue"].get("values"))]
    if isinstance(value.get("kvlistValue"), dict):
        pairs = [pair for pair in listed(value["kvlistValue"].get("values")) if isinstance(pair, dict)]
        return {str(pair.get("key")): _otlp_value(pair.get("value")) for pair in pairs}
    return value


def listed(value: Any) -> list[Any]:
    """Return a list; of anything else an empty one."""
    return value if isinstance(value, list) else []


def flat(value: dict[str, Any]) -> dict[str, Any]:
    """Return nested objects and lists of objects as one object with dotted names; other lists stay as they are."""
    result: dict[str, Any] = {}
    pending: list[tuple[str, Any]] = [("", value)]
    named = 0
    while pending:
        prefix, item = pending.pop()
        if isinstance(item, list) and item and all(isinstance(part, dict) for part in item):
            item = {str(place): part for place, part in enumerate(item)}
        if isinstance(item, dict) and item:
            named += len(prefix) * len(item)
            if named > EXPANSION_LIMIT:
                raise UnreadableTrajectory(f"the dotted names of the attributes exceed {EXPANSION_LIMIT >> 20} MiB")
            pending += [(f"{prefix}.{name}" if prefix else str(name), part) for name, part in reversed(item.items())]
        elif prefix and item is not None:
            result[prefix] = item
    return result


def _kind(item: dict[str, Any], attributes: dict[str, Any]) -> str:
    named = attributes.get("openinference.span.kind") or item.get("span_kind")
    if isinstance(named, str) and named.isupper() and not named.startswith("SPAN_KIND"):
        return named
    operations = ("gen_ai.operation.name", "traceloop.span.kind", "llm.request.type")
    operation = next((attributes[name] for name in operations if isinstance(attributes.get(name), str)), "")
    return _KIND_OF_OPERATION.get(operation, "")


def moment(value: Any) -> float | None:
    """Return seconds since 1970 of an ISO 8601 text, or of a count of seconds, milli-, micro- or nanoseconds."""
    if isinstance(value, str) and not value.isdecimal():
        try:
            read = msgspec.convert(value.replace(" ", "T", 1), datetime)
            return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
        except (msgspec.ValidationError, OverflowError, ValueError):
            return None
    if isinstance(value, str):
        value = int(value) if len(value) < 25 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e24:
        return None
    moment_ = float(value)
    while moment_ > 1e11:  # the year 5138 in seconds
        moment_ /= 1000
    return moment_


def _printed(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat()


def _seconds(duration: Any, start: float | None, end: float | None) -> float | None:
    if isinstance(duration, str):
        try:
            return msgspec.convert(duration, timedelta).total_seconds()
        except (msgspec.ValidationError, OverflowError):
            return None
    return seconds_between(start, end)


def seconds_between(start: float | None, end: float | None) -> float | None:
    """Return the seconds from a start to an end; `None` where one is not known."""
    return None if start is None or end is None or end < start else end - start


def tokens_of(attributes: dict[str, Any]) -> Tokens | None:
    """Return the tokens of a call of a model, and what it cost."""
    counts = {
        name: next((_count(attributes[key]) for key in keys if key in attributes), None)
        for name, keys in COUNTS.items()
    }
    tokens = Tokens(**counts, cost_usd=next((_cost(attributes[name]) for name in COSTS if name in attributes), None))
    return tokens if tokens != Tokens() else None


def _cost(value: Any) -> float | None:
    """Return US dollars, which exporters write as a number or as a text."""
    try:
        return amount(float(value)) if isinstance(value, str) else amount(value)
    except ValueError:
        return None


def _count(value: Any) -> int | None:
    """Return a count, which exporters write as a number or as a text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 19:
        return int(value)
    return whole(value)
