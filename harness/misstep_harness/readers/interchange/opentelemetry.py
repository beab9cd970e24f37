"""Traces of agents: OpenTelemetry and OpenInference spans, a trajectory for each trace. For the layouts see `spans`.

    {"span_id": "a1", "parent_span_id": "a0", "span_name": "Model.call", "timestamp": "2026-01-05T10:00:00Z",
     "duration": "PT3.5S", "status_code": "Ok", "child_spans": [], "span_attributes": {
      "openinference.span.kind": "LLM", "llm.model_name": "x", "llm.token_count.prompt": "90",
      "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Fix it",
      "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "I look."}}

Each model span (kind LLM) is a step of the agent; what it was given and no earlier step said is in steps of user
and system before it, or, if it is a tool's answer, with the call it answers. A tool's span is a call with its
result in the step of the agent that went before; a RETRIEVER counts as a tool. Messages are the user's only in the
outermost agent that asks a model, and only if they open or continue its conversation; another prompt in between is the
system's. An agent that is handed all that another was told goes on with its conversation.

`extra["step_of_span"]` maps every span id of the trace to the index of a step: a model's span to its step, a tool's to
the step of its call; another span to the first step made inside it, else the step of the span that encloses it, else
the next step, else the last. Spans that make no step are kept whole in `extra["spans"]`.

Checked with the GenAI conventions of 2026 (parts, operations, usage) and OpenInference at 1fe497f.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import decode_document_or_lines, unreadable
from misstep_harness.readers.input.fields import at, filled, text_or_none
from misstep_harness.readers.interchange.content import as_text, parse_arguments
from misstep_harness.readers.interchange.conversation import Conversation, Turn, is_used_again
from misstep_harness.readers.interchange.span_messages import (
    SpanMessage,
    answered,
    inputs,
    is_message_attribute,
    tools_answer,
    tools_arguments,
)
from misstep_harness.readers.interchange.spans import COSTS, COUNTS, Span, holds_spans, spans_of, tokens_of
from misstep_harness.trajectory import Role, Source, ToolCall, ToolResult, Trajectory


class SpanContext(Struct):
    """The conversation of one agent: what its models were given and asked for."""

    outermost: bool
    speaker: str | None
    inputs: list[tuple[str, str]] = []
    seen: set[tuple[str, str]] = set()
    unechoed: int = 0
    turn: Turn | None = None
    makers: dict[str, Turn] = {}
    asked: dict[str, deque[tuple[Turn, int]]] = {}

    def add_calls(self, turn: Turn, calls: list[ToolCall], *, made_now: bool = False) -> None:
        """Add calls to a turn, each once; what a prompt repeats tells at most the arguments of one that lacks them."""
        for call in calls:
            maker = self.makers.get(call.id or "")
            if not (made_now or call.id) and _asked(call) in self.asked:
                continue
            if maker is None or (made_now and is_used_again(maker, call)):
                self.asked.setdefault(_asked(call), deque()).append((turn, len(turn.calls)))
                turn.calls.append(call)
                self.makers |= {call.id: turn} if call.id else {}
            elif call.recorded:
                self._fill(maker.calls, call)

    def carried_out(self, told: ToolCall, wanted: str | None) -> tuple[Turn | None, int | None]:
        """Return the call that a tool's span carries out: by id, by name and arguments, or by name in the last turn."""
        turn = self.makers.get(wanted or "")
        waiting = self.asked.get(_asked(told)) if turn is None and told.recorded else None
        while waiting:
            maker, place = waiting.popleft()
            call = maker.calls[place]
            if (wanted is None or call.id is None) and _is_open(maker, call):
                return maker, place
        turn = turn or self.turn
        return turn, None if turn is None else call_of(turn, told.name, wanted)

    def _fill(self, calls: list[ToolCall], told: ToolCall) -> None:
        """Give a call whose arguments were not recorded those that another span has of it."""
        for place, call in enumerate(calls):
            if call.id == told.id and not call.recorded:
                calls[place] = replace(call, arguments=told.arguments, parse_error=told.parse_error, recorded=True)


def call_of(turn: Turn, name: str, wanted: str | None) -> int | None:
    """Return the place of the call with an id, or of the first of a name that is still open."""
    for place, call in enumerate(turn.calls):
        by_id = wanted is not None and call.id == wanted and "span_id" not in call.extra
        if by_id or (wanted is None and call.name == name and _is_open(turn, call)):
            return place
    return None


def _is_open(turn: Turn, call: ToolCall) -> bool:
    return "span_id" not in call.extra and all(result.call_id != call.id for result in turn.results)


def _asked(call: ToolCall) -> str:
    return f"{call.name} {as_text(call.arguments)}"


T = TypeVar("T")

FORMAT = "opentelemetry"
UNIT: Unit = "file"

_TOOLS = ("TOOL", "RETRIEVER")
TOOL_NAMES = ("tool.name", "gen_ai.tool.name", "traceloop.entity.name", "ai.toolCall.name")
CALL_IDS = ("tool_call.id", "gen_ai.tool.call.id", "ai.toolCall.id")
_ANSWERS, _ASKING = ("tool", "function", "tool-response"), ("user", "human", "system", "developer")
_STATUSES = ("tool.status", "gen_ai.tool.status")
_FAILED = ("error", "failed", "failure")
_AGENT_STEP = re.compile(r"Step \d+")
_MODEL = (
    "llm.model_name",
    "llm.response.model_name",
    "llm.request.model_name",
    "gen_ai.response.model",
    "gen_ai.request.model",
)
_PLACED = frozenset({name for names in (*COUNTS.values(), COSTS) for name in names} | {"openinference.span.kind"})


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no spans."""
    if sample.shape == "text":
        return "not JSON"
    if holds_spans(sample.first):
        return None
    return "no resourceSpans, no trace_id with spans, no spans with span id and attributes"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return a trajectory for each trace of the file, in the order of their first spans."""
    lines = decode_document_or_lines(data, source)
    spans: list[Span] = []
    for number, value in lines.values:
        try:
            spans += spans_of(value, source, number)
        except RecursionError as error:
            raise unreadable("the data are nested too deep", source, number) from error
    yield from trajectories_of(spans, source, lines.unfinished)


def trajectories_of(
    spans: Iterable[Span], source: Source, unfinished: str | None = None, others: Sequence[Any] = ()
) -> Iterator[Trajectory]:
    """Return a trajectory for each trace of some spans; what else their file says is kept with the first."""
    traces: dict[str, dict[str, Span]] = {}
    for span in spans:
        traces.setdefault(span.trace, {}).setdefault(span.id, span)
    for number, (trace, of_trace) in enumerate(traces.items()):
        run = _Reading(of_trace).trajectory(trace, source, unfinished)
        kept = filled([("other_lines", list(others) if not number else None)])
        yield replace(run, extra=run.extra | kept) if kept else run


class _Reading:
    def __init__(self, spans: dict[str, Span]) -> None:
        order = {span.id: place for place, span in enumerate(spans.values())}
        started = _starts(spans)
        self.spans = sorted(spans.values(), key=lambda span: (started[span.id], order[span.id]))
        self.by_id = spans
        self.conversation = Conversation()
        self.model: str | None = None
        self._contexts: dict[str | None, SpanContext] = {}
        self._agents = {span.id: span.id for span in self.spans if span.kind == "AGENT"}
        self._agent_of: dict[str, str | None] = {}
        self._asking = {self._agent(span) for span in self.spans if span.kind == "LLM"}
        self._outermost: SpanContext | None = None
        self._turn_of: dict[str, Turn] = {}

    def trajectory(self, trace: str, source: Source, unfinished: str | None) -> Trajectory:
        told_twice = self._told_twice()
        for span in self.spans:
            if span.id in told_twice:
                continue
            if span.kind == "LLM":
                self._place_model(span)
            elif span.kind in _TOOLS:
                self._place_tool(span)
        self._place_outcomes()
        outermost = next((span for span in self.spans if span.kind == "AGENT"), None)
        spans = [_span_fields(span) for span in self.spans if span.id not in self._turn_of]
        value = parse_arguments(outermost.attributes.get("input.value"))[0] if outermost else {}
        return self.conversation.trajectory(
            trace or "trace",
            source,
            task=text_or_none(at(value, "task")) or "",
            agent=outermost.name if outermost else None,
            model=self.model,
            extra=filled([("spans", spans), ("unfinished_line", unfinished)]) | {"step_of_span": self._step_of_span()},
        )

    def _told_twice(self) -> set[str]:
        """Return the models' spans that tell of the same answer as others: around several, or alone within one."""
        makers = {span.id: span for span in self.spans if span.kind in ("LLM", "AGENT", *_TOOLS)}
        around: dict[str, Span | None] = {}
        inside: dict[str, list[Span]] = {}
        for span in makers.values():
            outer = self._around(span, makers, around)
            if outer is not None and outer.kind == "LLM":
                inside.setdefault(outer.id, []).append(span)
        told: set[str] = set()
        for outer_id, spans in inside.items():
            models = {span.id for span in spans if span.kind == "LLM"}
            told |= {outer_id} if models and len(spans) > 1 else models
        return told

    def _enclosing(self, span: Span) -> Iterator[Span]:
        seen: set[str] = set()
        here = self.by_id.get(span.parent or "")
        while here is not None and here.id not in seen:
            seen.add(here.id)
            yield here
            here = self.by_id.get(here.parent or "")

    def _agent(self, span: Span) -> str | None:
        return self._around(span, self._agents, self._agent_of)

    def _context(self, span: Span) -> SpanContext:
        agent = self._agent(span)
        if agent not in self._contexts:
            around = (
                [] if agent is None else [one.id for one in self._enclosing(self.by_id[agent]) if one.kind == "AGENT"]
            )
            speaker = self.by_id[agent].name if agent is not None and around else None
            outermost = not self._asking.intersection(around)
            self._contexts[agent] = SpanContext(outermost, speaker, [], set(), makers={}, asked={})
        return self._contexts[agent]

    def _place_model(self, span: Span) -> None:
        context = self._context(span)
        messages = inputs(span)
        texts = [(message.role, message.text) for message in messages]
        if context.outermost:
            self._take_over(context, texts)
        continued = texts[: len(context.inputs)] == context.inputs
        opens = context.turn is None
        for key, message in list(zip(texts, messages, strict=True))[len(context.inputs) if continued else 0 :]:
            if continued or key not in context.seen:
                self._place_input(message, context, by_user=context.outermost and (opens or continued))
        if continued:
            context.inputs = texts
        context.seen.update(texts)
        turn = self.conversation.begin(Turn("agent", speaker=context.speaker))
        turn.timestamp, turn.seconds, turn.tokens = span.timestamp, span.seconds, tokens_of(span.attributes)
        for message in answered(span):
            if message.role == "tool":
                _place_answer(message, context.makers.get(message.call_id or "", turn))
                continue
            turn.texts += [message.text] if message.text else []
            turn.reasoning += message.reasoning
            turn.extra |= message.extra
            context.add_calls(turn, message.calls, made_now=True)
            context.seen.add(("assistant", message.text))
        turn.extra |= _about(span)
        if not messages:
            turn.extra |= filled([("input", span.attributes.get("input.value"))])
        context.turn = self._turn_of[span.id] = turn
        context.unechoed += 1
        self.model = self.model or next(
            (as_text(span.attributes[name]) for name in _MODEL if name in span.attributes), None
        )

    def _take_over(self, context: SpanContext, texts: list[tuple[str, str]]) -> None:
        """Let an agent go on with the conversation of the one before, if it was handed over with all that was said."""
        before, self._outermost = self._outermost, context
        if before is None or context.turn is not None:
            return
        told = [key for key in before.inputs if key[0] != "system"]
        if told and told == [key for key in texts if key[0] != "system"][: len(told)]:
            context.inputs, context.seen, context.makers = before.inputs, before.seen, before.makers
            context.turn, context.unechoed, context.asked = before.turn, before.unechoed, before.asked

    def _place_input(self, message: SpanMessage, context: SpanContext, by_user: bool) -> None:
        if message.role in ("tool-call", "assistant", "model"):
            if message.role == "tool-call":
                pass
            elif context.unechoed:
                context.unechoed -= 1
            elif message.text or message.extra or any(call.id not in context.makers for call in message.calls):
                context.turn = self.conversation.say("agent", [message.text], None, message.extra)
                context.turn.speaker, context.turn.reasoning = context.speaker, message.reasoning
            if context.turn is not None:
                context.add_calls(context.turn, message.calls)
        elif message.role in _ANSWERS and context.turn is not None:
            _place_answer(message, context.makers.get(message.call_id or "", context.turn))
        elif (
            message.role not in _ASKING
            and context.turn is not None
            and (place := call_of(context.turn, message.role, None)) is not None
        ):
            _place_answer(replace(message, call_id=context.turn.calls[place].id), context.turn)
        else:
            role: Role = "user" if message.role in ("user", "human") and by_user else "system"
            extra = message.extra | ({} if message.role == role else {"role": message.role})
            self.conversation.say(role, [message.text], None, extra).speaker = context.speaker

    def _place_tool(self, span: Span) -> None:
        context = self._context(span)
        attributes = span.attributes
        wanted = next((text for name in CALL_IDS if (text := text_or_none(attributes.get(name)))), None)
        name = next((as_text(attributes[name]) for name in TOOL_NAMES if attributes.get(name)), span.name)
        extra = _about(span) | filled([("seconds", span.seconds), ("timestamp", span.timestamp)])
        call_id = wanted or span.id
        known = tools_arguments(span)
        given, no_object = parse_arguments(known)
        told = ToolCall(name, {"input": given} if no_object else given, call_id, None, {}, known is not None)
        turn, place = context.carried_out(told, wanted)
        if turn is None:
            turn = context.turn = self.conversation.begin(
                Turn("agent", speaker=context.speaker, timestamp=span.timestamp)
            )
        if place is None:
            turn.calls.append(told)
            place = len(turn.calls) - 1
        if wanted is not None:
            context.makers.setdefault(wanted, turn)
        call = turn.calls[place]
        call_id = call.id if call.id is not None else call_id
        if told.recorded and not call.recorded:
            call = replace(call, arguments=told.arguments, parse_error=None, recorded=True)
        answer = tools_answer(span)
        said = answer or span.message
        result = ToolResult(said, _failed(span), None, call_id, extra, bool(said) or answer is not None)
        about = extra if result.says_nothing else {"span_id": span.id}
        turn.calls[place] = replace(call, id=call_id, extra=call.extra | about)
        if not result.says_nothing:
            turn.results.append(result)
        self._turn_of[span.id] = turn

    def _place_outcomes(self) -> None:
        """Place what came of a step if no later prompt and no tool tells: the output of the span around it."""
        last_inside = {span.parent: self._turn_of[span.id] for span in self.spans if span.id in self._turn_of}
        for span in self.spans:
            if span.kind != "CHAIN" or not _AGENT_STEP.fullmatch(span.name):
                continue
            turn = last_inside.get(span.id)
            text = as_text(span.attributes.get("output.value")) or span.message
            if turn is not None and not turn.results and text and "status" not in turn.extra:
                failed = True if span.status == "error" else None
                turn.results.append(ToolResult(text, failed, None, None, {"span_id": span.id}))

    def _step_of_span(self) -> dict[str, int]:
        index = {id(turn): place for place, turn in enumerate(self.conversation.turns)}
        steps = {name: index[id(turn)] for name, turn in self._turn_of.items()}
        inside: dict[str, int] = {}
        for span in self.spans:
            if span.id in steps:
                for here in takewhile(lambda one: one.id not in inside, self._enclosing(span)):
                    inside[here.id] = steps[span.id]
        following: dict[str, int] = {}
        after = max(steps.values(), default=None)
        for span in reversed(self.spans):
            after = steps.get(span.id, after)
            if after is not None:
                following[span.id] = after
        around: dict[str, int | None] = {}
        return {
            span.id: next(
                step
                for step in (steps.get(span.id), inside.get(span.id), self._around(span, steps, around), after)
                if step is not None
            )
            for span in self.spans
            if (after := following.get(span.id)) is not None
        }

    def _around(self, span: Span, own: dict[str, T], known: dict[str, T | None]) -> T | None:
        """Return what the nearest span around a span has of its own; the answer is put in `known`."""
        path: list[str] = []
        nearest = None
        for here in self._enclosing(span):
            if here.id in own or here.id in known:
                nearest = own.get(here.id, known.get(here.id))
                break
            path.append(here.id)
        known.update(dict.fromkeys(path, nearest))
        return nearest


def _place_answer(message: SpanMessage, turn: Turn) -> None:
    failed = True if message.failed else None
    for place, result in enumerate(turn.results):
        if message.call_id is not None and result.call_id == message.call_id:
            if message.recorded and not result.recorded:
                turn.results[place] = replace(
                    result, text=message.text, is_error=failed or result.is_error, recorded=True
                )
            elif message.recorded and result.text != message.text:
                turn.results[place] = replace(result, extra=result.extra | {"as_seen_by_model": message.text})
            return
    told = bool(turn.calls) and len(turn.results) >= len(turn.calls)
    if message.call_id is None and told and all("span_id" in call.extra for call in turn.calls):
        turn.extra.setdefault("as_seen_by_model", []).append(message.text)  # the spans of the tools hold the answers
        return
    turn.add_result(ToolResult(message.text, failed, None, message.call_id, message.extra, message.recorded))


def _failed(span: Span) -> bool | None:
    """Return whether a tool failed, by the status of its span or by what its program writes in addition."""
    stated = (text_or_none(span.attributes.get(name)) for name in _STATUSES)
    if "error.type" in span.attributes or any(state.lower() in _FAILED for state in stated if state):
        return True
    return {"ok": False, "error": True}.get(span.status)


def _starts(spans: dict[str, Span]) -> dict[str, float]:
    """Return when each span began; one that does not say began with the one written before it."""
    started: dict[str, float] = {}
    last = 0.0
    for span in spans.values():
        last = span.start if span.start is not None else last
        started[span.id] = last
    return started


def _about(span: Span) -> dict[str, Any]:
    attributes = {
        name: value for name, value in span.attributes.items() if name not in _PLACED and not is_message_attribute(name)
    }
    failed = span.status == "error"
    status = [("status", "error"), ("status_message", span.message)] if failed else []
    return {"span_id": span.id, "span": span.name} | filled([*status, ("attributes", attributes), *span.rest.items()])


def _span_fields(span: Span) -> dict[str, Any]:
    return filled((name, value) for name, value in asdict(span).items() if name not in ("trace", "start", "events"))
