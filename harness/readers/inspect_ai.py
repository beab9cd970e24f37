"""Inspect eval logs: one document a task, a trajectory for each of its samples and epochs.

A log (made up)::

    {"version": 2, "status": "success", "eval": {"task": "triage", "model": "openai/gpt-x"}, "plan": {}, "samples": [
     {"id": "a1", "epoch": 1, "input": "Which file?", "target": "a.py", "scores": {"match": {"value": "C"}},
      "messages": [{"role": "user", "content": "Which file?"},
       {"role": "assistant", "id": "m2", "content": "", "tool_calls":
        [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}]},
       {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "attachment://9f",
        "error": {"type": "timeout", "message": "over 30 s"}}],
      "attachments": {"9f": "a long text"}, "events": []}]}

The binary `.eval` container holds the same, each sample in a file of its own: see `archive`. A trajectory's id is the
sample's, with `-e2` from the second epoch on. Scores C, 1 and true are a pass, I, 0 and false a failure; where scorers
disagree or say something else the outcome is unknown and `extra["scores"]` has what they said. Tokens, seconds and
timestamps come from the model events. `extra["log"]` has what the log says of all samples.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from harness.protocols import Sample, Unit
from harness.readers.content import as_text, parse_arguments, split_content
from harness.readers.conversation import Conversation, Turn, first_words_of_user
from harness.readers.decoding import (
    EXPANSION_LIMIT,
    amount,
    at,
    convert,
    decode_json,
    filled,
    rest_of,
    text_or_none,
    unreadable,
)
from harness.readers.inspect_log import UNREADABLE, brief, is_too_long
from harness.trajectory import Outcome, OutcomeStatus, Source, Tokens, ToolCall, ToolResult, Trajectory

FORMAT = "inspect_ai"
UNIT: Unit = "value"

_REFERENCES = ("attachment://", "tc://")
_SAID: dict[Any, OutcomeStatus] = {"C": "passed", "I": "failed", 1: "passed", 0: "failed"}


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
    tool_call_id: str | None = None
    error: _Error | None = None
    model: str | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_cache_read: int | None = None


class _Generated(Struct):
    """What a model event says of the message it made."""

    timestamp: str | None
    seconds: float | None
    tokens: Tokens | None


class _Output(Struct):
    usage: _Usage | None = None
    time: float | None = None
    choices: list[Any] | None = None


def refuse(sample: Sample) -> str | None:
    """Why the file is no Inspect eval log."""
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
    """A trajectory for each sample and epoch of the log."""
    value = decode_json(data, source)
    if isinstance(value, dict) and isinstance(why := value.get(UNREADABLE), str):
        raise unreadable(why, source)
    log = convert(value, _Log, source)
    about = {name: field for name, field in value.items() if name != "samples"}
    samples = log.samples or []
    try:
        too_long = is_too_long(len(as_text(about)), len(samples)) if len(samples) > 1 else False
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
    stored = _Stored((sample.attachments or {}) | (content if isinstance(content, dict) else {}), source)
    generated = _generated(events if isinstance(events, list) else [], source)
    conversation = Conversation()
    for message in sample.messages:
        _add(conversation, message, stored, generated, source)
    steps = conversation.steps()
    name = "sample" if sample.id is None else str(sample.id)
    asked = sample.input if isinstance(sample.input, str) else ""
    task = _resolve(asked, stored) if asked else first_words_of_user(steps)
    return Trajectory(
        id=name if sample.epoch == 1 else f"{name}-e{sample.epoch}",
        source=source,
        task=task if isinstance(task, str) else asked,
        steps=steps,
        outcome=_outcome(sample),
        agent=log.eval.solver,
        model=log.eval.model,
        extra=rest_of(raw, _Sample)
        | filled((name, raw.get(name)) for name in ("input", "scores", "score", "events", "transcript", "attachments"))
        | {"epoch": sample.epoch, "log": about},
    )


class _Stored:
    """Texts that stand elsewhere in a sample; how much is added by putting one in again and again is bounded."""

    def __init__(self, values: dict[str, Any], source: Source) -> None:
        self._values = values
        self._source = source
        self._length: dict[str, int] = {}
        self._left = EXPANSION_LIMIT

    def get(self, name: str, reference: str) -> Any:
        """The value of that name; the reference itself where there is none."""
        if name not in self._values:
            return reference
        value = self._values[name]
        if name in self._length:
            self._left -= self._length[name]
            if self._left < 0:
                raise unreadable(
                    f"refers to its attachments so often that they come to over {EXPANSION_LIMIT >> 20} MiB more",
                    self._source,
                )
        else:
            self._length[name] = len(as_text(value)) + 1
        return value


def _add(
    conversation: Conversation,
    raw: dict[str, Any],
    stored: _Stored,
    generated: dict[str, _Generated],
    source: Source,
) -> None:
    message = convert(raw, _Message, source)
    text, parts = split_content(_resolve(message.content, stored))
    extra = rest_of(raw, _Message) | filled([("id", message.id)])
    if message.role == "tool":
        conversation.result(_result(message, text, parts, extra))
        return
    if message.role != "assistant":
        extra |= filled([("content", parts), ("role", None if message.role in ("user", "system") else message.role)])
        conversation.begin(Turn("user" if message.role == "user" else "system", [text], extra=extra))
        return
    reasoning = [part for part in parts if isinstance(part, dict) and isinstance(part.get("reasoning"), str)]
    others = [part for part in parts if part not in reasoning]
    extra |= filled([("model", message.model), ("content", others)])
    turn = conversation.begin(Turn("agent", [text] if text else [], extra=extra))
    turn.reasoning = [part["reasoning"] for part in reasoning]
    made = generated.get(message.id or "")
    if made is not None:
        turn.timestamp, turn.seconds, turn.tokens = made.timestamp, made.seconds, made.tokens
    for call, said in zip(message.tool_calls or [], raw.get("tool_calls") or [], strict=True):
        arguments, error = parse_arguments(_resolve(call.arguments, stored))
        rest = rest_of(said, _Call)
        conversation.call(turn, ToolCall(call.function, arguments, call.id, call.parse_error or error, rest))


def _result(message: _Message, text: str, parts: list[Any], extra: dict[str, Any]) -> ToolResult:
    """A tool's answer; where it failed without a word, what the error says."""
    error = message.error
    if error is not None:
        extra |= {"error": filled([("type", error.type), ("message", error.message)])}
        text = text or error.message or ""
    extra |= filled([("content", parts)])
    return ToolResult(text, None if error is None else True, None, message.tool_call_id, extra)


def _resolve(value: Any, stored: _Stored) -> Any:
    """A value with references to texts that stand elsewhere in the sample put in their place."""
    if isinstance(value, str):
        for reference in _REFERENCES:
            if value.startswith(reference):
                return stored.get(value.removeprefix(reference), value)
        return value
    if isinstance(value, list):
        return [_resolve(item, stored) for item in value]
    if isinstance(value, dict):
        return {name: _resolve(item, stored) for name, item in value.items()}
    return value


def _generated(events: list[Any], source: Source) -> dict[str, _Generated]:
    """Message id → when and at what cost the model made it."""
    made: dict[str, _Generated] = {}
    for event in events:
        if not isinstance(event, dict) or event.get("event") != "model" or not isinstance(event.get("output"), dict):
            continue
        output = convert(event["output"], _Output, source)
        usage = output.usage
        tokens = None if usage is None else _tokens(usage)
        timestamp = event.get("timestamp")
        for choice in output.choices or []:
            name = at(choice, "message", "id")
            if isinstance(name, str):
                made[name] = _Generated(text_or_none(timestamp), output.time, tokens)
    return made


def _tokens(usage: _Usage) -> Tokens:
    return Tokens(usage.input_tokens, usage.output_tokens, usage.input_tokens_cache_read)


def _outcome(sample: _Sample) -> Outcome:
    """What the scorers agree on, and the reward where there is one number."""
    scores = list((sample.scores or {}).values()) or ([sample.score] if sample.score is not None else [])
    values = [score.get("value") if isinstance(score, dict) else score for score in scores]
    said = {_SAID.get(value, "unknown") if isinstance(value, str | int | float) else "unknown" for value in values}
    alone = amount(values[0]) if len(values) == 1 else None
    return Outcome(said.pop() if len(said) == 1 else "unknown", alone)
