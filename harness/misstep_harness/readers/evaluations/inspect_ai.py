"""Inspect eval logs: one document a task, a trajectory for each of its samples and epochs.

    {"version": 2, "status": "success", "eval": {"task": "triage", "model": "openai/gpt-x"}, "plan": {}, "samples": [
     {"id": "a1", "epoch": 1, "input": "Which file?", "target": "a.py", "scores": {"match": {"value": "C"}},
      "messages": [{"role": "user", "content": "Which file?"},
       {"role": "assistant", "id": "m2", "content": "", "tool_calls":
        [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}]},
       {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "attachment://9f",
        "error": {"type": "timeout", "message": "over 30 s"}}],
      "attachments": {"9f": "a long text"}, "events": []}]}

The binary `.eval` container holds the same (`archive`). A trajectory's id is the sample's, with `-e2` from the second
epoch on. Tokens, seconds and timestamps come from the model events; `extra["log"]` is of all samples.

Messages of Inspect as steps: in its eval logs, and in the transcript databases of Inspect Scout.

Read beside `inspect_ai` at 499e6152 (August 2026; `model`, `agent/_react.py`): what its agents say in the user's name
is the program's; a tool that the model's server ran is a call among the contents; of thoughts that are kept secret
there is a summary; a call that was cancelled has not failed. Newer logs count cached tokens apart from the input.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.archive import brief, is_too_long
from misstep_harness.readers.input.decoding import EXPANSION_LIMIT, UNREADABLE, convert, decode_json, unreadable
from misstep_harness.readers.input.fields import amount, at, filled, rest_of, text_or_none, without
from misstep_harness.readers.interchange.content import as_text, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn, cached_tokens, first_words_of_user
from misstep_harness.trajectory import Outcome, OutcomeStatus, Source, Step, Tokens, ToolResult, Trajectory

_Generated = tuple[str | None, float | None, Tokens | None]
"""Timestamp, seconds and tokens of a message, as a model event says them."""

_REFERENCES = ("attachment://", "tc://")
_BY_PROGRAM = (
    "Please proceed to the next step using your best judgement.",
    "Your submission was incorrect. Please proceed and attempt to find the correct answer.",
    "[CONTEXT COMPACTION SUMMARY]",
    "Context compaction approaching. Use memory() to save concise notes on:",
)
_AGENT_ENDED = re.compile(r"The \S+ (?:agent has completed its work|exceeded its \S+ limit of .+)\.")
_SAID: dict[Any, OutcomeStatus] = {"C": "passed", "I": "failed", 1: "passed", 0: "failed"}


class _Error(Struct):
    type: str | None = None
    message: str | None = None


class _Call(Struct):
    function: str
    id: str | None = None
    arguments: Any = None
    parse_error: str | None = None


class _Message(Struct):
    role: str
    content: Any = None
    id: str | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | list[str] | None = None
    error: _Error | None = None
    tool_error: str | None = None
    model: str | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    total_cost: float | None = None
    input_tokens_cache_read: int | None = None
    input_tokens_cache_write: int | None = None


class _Output(Struct):
    usage: _Usage | None = None
    time: float | None = None
    choices: list[Any] | None = None


def steps_of(messages: list[dict[str, Any]], events: list[Any], stored: "Stored", source: Source) -> tuple[Step, ...]:
    """Return the messages of a sample as steps, with time and cost as its model events say them."""
    generated = _generated(events, source)
    conversation = Conversation()
    for message in messages:
        _add(conversation, message, stored, generated, source)
    return conversation.steps()


def status_of(score: Any) -> OutcomeStatus:
    """Return what a score says of the outcome: C, 1 and true are a pass, I, 0 and false a failure."""
    return _SAID.get(score, "unknown") if isinstance(score, str | int | float) else "unknown"


class Stored:
    """Texts that a sample refers to by name; how much is added by putting one in again and again is bounded."""

    def __init__(self, values: dict[str, Any], source: Source) -> None:
        self._values = values
        self._source = source
        self._length: dict[str, int] = {}
        self._left = EXPANSION_LIMIT

    def get(self, name: str, reference: str) -> Any:
        """Return the value of that name; the reference itself if there is none."""
        if name not in self._values:
            return reference
        value = self._values[name]
        if name in self._length:
            self._left -= self._length[name]
            if self._left < 0:
                why = f"refers to its attachments so often that they come to over {EXPANSION_LIMIT >> 20} MiB more"
                raise unreadable(why, self._source)
        else:
            self._length[name] = len(as_text(value)) + 1
        return value


def _add(
    conversation: Conversation, raw: dict[str, Any], stored: Stored, generated: dict[str, _Generated], source: Source
) -> None:
    message = convert(raw, _Message, source)
    text, parts = split_content(resolved(message.content, stored))
    extra = rest_of(raw, _Message) | filled([("id", message.id)])
    if message.role == "tool":
        conversation.result(_result(message, text, parts, extra))
        return
    if message.role != "assistant":
        typed = message.role == "user" and not _is_by_program(message, text, raw)
        extra |= filled([("content", parts), ("role", None if typed or message.role == "system" else message.role)])
        conversation.begin(Turn("user" if typed else "system", [text], extra=extra))
        return
    reasoning = [part for part in parts if isinstance(part, dict) and isinstance(part.get("reasoning"), str)]
    used = [part for part in parts if at(part, "type") == "tool_use" and isinstance(part.get("name"), str)]
    others = [part for part in parts if part not in reasoning and part not in used]
    extra |= filled([("model", message.model), ("content", others)])
    turn = conversation.say("agent", [text], None, extra)
    thoughts = [as_text(part.get("summary")) if part.get("redacted") else part["reasoning"] for part in reasoning]
    turn.reasoning = [thought for thought in thoughts if thought]
    for part in used:
        call_id = text_or_none(part.get("id"))
        more = without(part, "type", "id", "name", "arguments", "result", "error")
        conversation.call(turn, tool_call(part["name"], part.get("arguments"), call_id, more))
        error = part.get("error")
        conversation.result(ToolResult(as_text(error or part.get("result")), True if error else None, None, call_id))
    if (event := generated.get(message.id or "")) is not None:
        turn.timestamp, turn.seconds, turn.tokens = event
    for call, raw_call in zip(message.tool_calls or [], raw.get("tool_calls") or [], strict=True):
        called = tool_call(call.function, resolved(call.arguments, stored), call.id, rest_of(raw_call, _Call))
        conversation.call(turn, replace(called, parse_error=call.parse_error) if call.parse_error else called)


def _is_by_program(message: _Message, text: str, raw: dict[str, Any]) -> bool:
    """Return whether a message in the user's name is a sentence of Inspect, a summary or what a tool returned."""
    said = text.strip()
    summary = at(raw, "metadata", "summary") is True or message.tool_call_id is not None
    return summary or said.startswith(_BY_PROGRAM) or _AGENT_ENDED.fullmatch(said) is not None


def _result(message: _Message, text: str, parts: list[Any], extra: dict[str, Any]) -> ToolResult:
    error = message.error or (_Error(None, message.tool_error) if message.tool_error else None)
    if error is not None:
        extra |= {"error": filled([("type", error.type), ("message", error.message)])}
        text = text or error.message or ""
    extra |= filled([("content", parts)])
    held = bool(text) or message.content is not None
    failed = True if error is not None and error.type != "cancelled" else None
    return ToolResult(text, failed, None, text_or_none(message.tool_call_id), extra, held)


def resolved(value: Any, stored: Stored) -> Any:
    """Return a value with references to texts elsewhere in the sample put in their place."""
    if isinstance(value, str):
        for reference in _REFERENCES:
            if value.startswith(reference):
                return stored.get(value.removeprefix(reference), value)
        return value
    if isinstance(value, list):
        return [resolved(item, stored) for item in value]
    if isinstance(value, dict):
        return {name: resolved(item, stored) for name, item in value.items()}
    return value


def _generated(events: list[Any], source: Source) -> dict[str, _Generated]:
    """Return message id → when and at what cost the model made it."""
    by_id: dict[str, _Generated] = {}
    for event in events:
        if not isinstance(event, dict) or event.get("event") != "model" or not isinstance(event.get("output"), dict):
            continue
        output = convert(event["output"], _Output, source)
        tokens = None if output.usage is None else _tokens(output.usage)
        for choice in output.choices or []:
            name = at(choice, "message", "id")
            if isinstance(name, str):
                by_id[name] = (text_or_none(event.get("timestamp")), output.time, tokens)
    return by_id


def _tokens(usage: _Usage) -> Tokens:
    read, stored = usage.input_tokens_cache_read, usage.input_tokens_cache_write
    tokens = cached_tokens(usage.input_tokens, read, stored, usage.output_tokens, usage.total_cost)
    cached_within = usage.total_tokens and usage.total_tokens < (tokens.prompt or 0) + (usage.output_tokens or 0)
    return replace(tokens, prompt=usage.input_tokens) if cached_within else tokens


FORMAT = "inspect_ai"
UNIT: Unit = "value"


class _Eval(Struct):
    task: str | None = None
    model: str | None = None
    solver: str | None = None


class _Log(Struct):
    version: int
    eval: _Eval
    samples: list[dict[str, Any]] | None = None


class _Sample(Struct):
    id: int | str | None = None
    epoch: int = 1
    input: str | list[Any] | None = None
    messages: list[dict[str, Any]] = []
    scores: dict[str, Any] | None = None
    score: Any = None
    events: list[Any] | None = None
    transcript: dict[str, Any] | None = None
    attachments: dict[str, Any] | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file is not an Inspect eval log."""
    first = sample.first
    if sample.head.startswith("PK\x03\x04"):
        return "a zip archive without header.json, or a broken one"
    if not isinstance(first, dict):
        return "not a JSON object"
    described = first.get("eval")
    if not isinstance(described, dict) or not isinstance(first.get("version"), int):
        return "no `version` and `eval`"
    return None if "task" in described or "model" in described else "its `eval` names neither task nor model"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return a trajectory for each sample and epoch of the log."""
    value = decode_json(data, source)
    if isinstance(value, dict) and isinstance(why := value.get(UNREADABLE), str):
        raise unreadable(why, source)
    log = convert(value, _Log, source)
    about = {name: field for name, field in value.items() if name != "samples"}
    samples = log.samples or []
    if not samples:
        status = as_text(value.get("status")) or "not said"
        why = f"the log has no samples (its status: {status}): logs that list results alone hold no session"
        raise unreadable(why, source, field="samples")
    try:
        too_long = is_too_long(len(as_text(about)), len(samples), len(data)) if len(samples) > 1 else False
        for raw in samples:
            trajectory = _trajectory(raw, log, about, source)
            yield trajectory
            if too_long and raw is samples[0]:
                about = brief(about, trajectory.id)
    except RecursionError as error:
        raise unreadable("the data are nested too deep", source) from error


def _trajectory(raw: dict[str, Any], log: _Log, about: dict[str, Any], source: Source) -> Trajectory:
    sample = convert(raw, _Sample, source)
    transcript = sample.transcript or {}
    events = sample.events if sample.events is not None else transcript.get("events")
    content = transcript.get("content")
    stored = Stored((sample.attachments or {}) | (content if isinstance(content, dict) else {}), source)
    steps = steps_of(sample.messages, events if isinstance(events, list) else [], stored, source)
    name = "sample" if sample.id is None else str(sample.id)
    question = sample.input if isinstance(sample.input, str) else ""
    task = resolved(question, stored) if question else first_words_of_user(steps)
    scores = list((sample.scores or {}).values()) or ([sample.score] if sample.score is not None else [])
    values = [score.get("value") if isinstance(score, dict) else score for score in scores]
    statuses = set(map(status_of, values))
    alone = amount(values[0]) if len(values) == 1 else None
    return Trajectory(
        id=name if sample.epoch == 1 else f"{name}-e{sample.epoch}",
        source=source,
        task=task if isinstance(task, str) else question,
        steps=steps,
        outcome=Outcome(statuses.pop() if len(statuses) == 1 else "unknown", alone),
        agent=log.eval.solver,
        model=log.eval.model,
        extra=rest_of(raw, _Sample)
        | filled((name, raw.get(name)) for name in ("input", "scores", "score", "events", "transcript", "attachments"))
        | {"epoch": sample.epoch, "log": about},
    )
