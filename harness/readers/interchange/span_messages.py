r"""The messages of a model's span: what it was given and what it answered, in the attributes of either convention.

OpenInference writes each message in attributes of its own, `llm.input_messages.0.message.role` and so on, calls as
`…message.tool_calls.0.tool_call.function.name`. OpenTelemetry's GenAI conventions write one list as JSON,
`gen_ai.input.messages` = `[{"role": "user", "parts": [{"type": "text", "content": "Fix it"}]}]`; before that,
`gen_ai.prompt.0.role`. Some frameworks give calls as a text, `Calling tools:\n[{'id': 'c1', 'type': 'function',
'function': {'name': 'f', 'arguments': 'x'}}]`, and answers as `Call id: c1\nObservation:\n…`.
"""

import ast
import math
import re
import warnings
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from misstep.harness.escaping import without_surrogates
from misstep.harness.readers.input.fields import at, filled, text_or_none
from misstep.harness.readers.interchange.content import as_text, split_content, text_and_others, tool_call
from misstep.harness.readers.interchange.spans import Span
from misstep.harness.trajectory import ToolCall

_GIVEN = ("llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt")
_ANSWERED = ("llm.output_messages", "gen_ai.output.messages", "gen_ai.completion")
_GIVEN_EVENTS = ("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message")
_ANSWERED_EVENTS = ("gen_ai.choice",)
_TOOLS_EVENT = "gen_ai.tool.message"
_ROLE_OF_EVENT = dict(
    zip((*_GIVEN_EVENTS, *_ANSWERED_EVENTS), ["system", "user", "assistant", "tool", "assistant"], strict=True)
)
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "input.value",
    "traceloop.entity.input",
    "tool_arguments",
    "ai.toolCall.args",
    "gcp.vertex.agent.tool_call_args",
)
_RESULTS = (
    "gen_ai.tool.call.result",
    "output.value",
    "traceloop.entity.output",
    "tool_response",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
)
_REDACTED = "__REDACTED__"
"""What OpenInference writes in the place of what is not to be captured."""

_AROUND_ARGUMENTS = frozenset({"inputs", "input", "input_str", "args", "kwargs", "tags", "metadata"})
_WRAPPED_RESULTS = frozenset({"output", "outputs"})
_PLACE = re.compile(r"\.(\d{1,6})\.(.+)", re.DOTALL)
_CALL_FIELD = re.compile(r"tool_calls\.(\d{1,6})\.(?:tool_call\.)?(?:function\.)?(name|arguments|id)")
_CONTENT_TEXT = re.compile(r"contents?\.(\d{1,6})\.(?:message_content\.)?text")
_CALLING = "Calling tools:\n"
_ANSWER = re.compile(r"Call id: (\S+)\n(Observation|Error):?\n?")
_LITERAL_LIMIT = 1 << 20
_MOST_BITS = 14_000
"""Longer whole numbers have more digits than Python prints."""


class SpanMessage(Struct):
    """One message: its speaker, text and calls, and the call that it answers."""

    role: str
    text: str = ""
    calls: list[ToolCall] = []
    call_id: str | None = None
    failed: bool = False
    extra: dict[str, Any] = {}
    recorded: bool = True


def inputs(span: Span) -> list[SpanMessage]:
    """Return what the model was given, in order."""
    first = span.attributes.get("gen_ai.system_instructions")
    instructions = [SpanMessage("system", _text_of_parts(_parsed(first)))] if first else []
    return instructions + (_messages(span.attributes, _GIVEN) or _of_events(span, _GIVEN_EVENTS))


def answered(span: Span) -> list[SpanMessage]:
    """Return what the model answered; if no message says it, the span's output."""
    attributes = span.attributes
    messages = _messages(attributes, _ANSWERED) or _of_events(span, _ANSWERED_EVENTS)
    if messages or "output.value" not in attributes:
        return messages
    value = _parsed(attributes["output.value"])
    if isinstance(value, dict) and "content" in value:
        return [SpanMessage("assistant", split_content(value["content"])[0])]
    return [SpanMessage("assistant", as_text(attributes["output.value"]))]


def tools_arguments(span: Span) -> Any:
    """Return what a tool was called with; `None` where the span does not hold it."""
    given = _held(span, _ARGUMENTS)
    if given is None:
        told = [call.arguments for message in _messages(span.attributes, _GIVEN) for call in message.calls]
        given = next(iter(told), None) or next(_contents(span, _TOOLS_EVENT), None)
    return _unwrapped_arguments(_parsed(given))


def tools_answer(span: Span) -> str | None:
    """Return what a tool answered; `None` where the span does not hold it."""
    held = _held(span, _RESULTS)
    if held is not None:
        value = _parsed(held)
        wrapped = isinstance(value, dict) and len(value.keys() - {"kwargs"}) == 1 and (value.keys() & _WRAPPED_RESULTS)
        inner = value[next(iter(wrapped))] if wrapped else None
        if inner is not None:
            return text_of_content(inner)
        return value if isinstance(value, str) and _held(span, _RESULTS[:2]) is None else as_text(held)
    answers = [message for message in _messages(span.attributes, _ANSWERED) if message.recorded]
    if answers:
        return "\n".join(message.text for message in answers)
    told = [*_contents(span, *_ANSWERED_EVENTS)]
    if not told and _held(span, _ARGUMENTS) is not None:
        told = [*_contents(span, _TOOLS_EVENT)]
    if told:
        return text_of_content(_parsed(told[-1]))
    raised = (attributes.get("exception.message") for name, attributes in span.events if name == "exception")
    return next((message for message in raised if isinstance(message, str) and message), None)


def text_of_content(value: Any) -> str:
    """Return the text of a tool's answer: a text, typed parts of one, or any other value as JSON."""
    parts = value if isinstance(value, list) else []
    typed = bool(parts) and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts)
    if isinstance(value, dict) and isinstance(value.get("content"), str) and value.keys() & {"tool_call_id", "type"}:
        return str(value["content"])
    return split_content(value)[0] if typed else as_text(value)


def _held(span: Span, names: tuple[str, ...]) -> Any:
    values = (span.attributes.get(name) for name in names)
    return next((value for value in values if value is not None and value != _REDACTED), None)


def _contents(span: Span, *names: str) -> Iterator[Any]:
    for name, attributes in span.events:
        if name in names:
            value = attributes.get("message", attributes.get("content"))
            if value is not None:
                yield value


def _unwrapped_arguments(value: Any) -> Any:
    """Return the arguments within what decorators and chains write around them."""
    if not isinstance(value, dict) or not value or not value.keys() <= _AROUND_ARGUMENTS:
        return value
    named = value.get("inputs", value.get("input"))
    if named not in (None, "", {}):
        return named
    text = value.get("input_str")
    if isinstance(text, str) and text:
        parsed = _parsed(text)
        return parsed if isinstance(parsed, dict) else json_value_of_literal(text) or text
    named_ones = value.get("kwargs")
    keywords: dict[str, Any] = named_ones if isinstance(named_ones, dict) else {}
    places = {"args": value["args"]} if value.get("args") else {}
    return {**places, **keywords} if "args" in value or "kwargs" in value else value


def _of_events(span: Span, names: tuple[str, ...]) -> list[SpanMessage]:
    return [_of_event(name, attributes) for name, attributes in span.events if name in names]


def _of_event(name: str, attributes: dict[str, Any]) -> SpanMessage:
    body = _parsed(attributes.get("gen_ai.event.content"))
    fields = body if isinstance(body, dict) else attributes
    if name in _ANSWERED_EVENTS:
        inner = _parsed(fields.get("message"))
        fields = (inner if isinstance(inner, dict) else fields | {"content": inner}) | filled(
            [("finish_reason", fields.get("finish_reason"))]
        )
    role = as_text(fields.get("role")) or _ROLE_OF_EVENT.get(name, "")
    content = _parsed(fields.get("content"))
    parts = [_as_part(part) for part in content] if isinstance(content, list) else content
    message = {"role": role, "content": parts, "tool_calls": _parsed(fields.get("tool_calls"))}
    answered_call = {"tool_call_id": fields.get("id")} if name == _TOOLS_EVENT else {}
    return _of_parts(message | answered_call | filled([("finish_reason", fields.get("finish_reason"))]))


def _as_part(part: Any) -> Any:
    """Return a block of a message of Bedrock's as the part that the conventions have for it."""
    if isinstance(called := at(part, "toolUse"), dict):
        named = {"id": called.get("toolUseId"), "name": called.get("name"), "arguments": called.get("input")}
        return {"type": "tool_call"} | named
    if isinstance(answer := at(part, "toolResult"), dict):
        content = answer.get("content")
        said = None if content is None else text_of_content(content)
        failed = {"is_error": True} if answer.get("status") == "error" else {}
        return {"type": "tool_call_response", "id": answer.get("toolUseId"), "response": said} | failed
    return part


def is_message_attribute(name: str) -> bool:
    """Return whether an attribute is part of a message, and so is in a step."""
    placed = ("input.value", "output.value", "gen_ai.system_instructions")
    return name.startswith((*_GIVEN, *_ANSWERED)) or name in placed


def _messages(attributes: dict[str, Any], prefixes: tuple[str, ...]) -> list[SpanMessage]:
    for prefix in prefixes:
        if (whole := attributes.get(prefix)) is not None:
            return [_of_parts(message) for message in _listed(_parsed(whole)) if isinstance(message, dict)]
        fields: dict[int, dict[str, Any]] = {}
        for name, value in attributes.items():
            if name.startswith(prefix) and (match := _PLACE.fullmatch(name, len(prefix))):
                fields.setdefault(int(match[1]), {})[match[2].removeprefix("message.")] = value
        if fields:
            return [_of_fields(fields[place]) for place in sorted(fields)]
    return []


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return value


def _of_fields(fields: dict[str, Any]) -> SpanMessage:
    calls: dict[int, dict[str, Any]] = {}
    texts: dict[int, str] = {}
    extra: dict[str, Any] = {}
    for name, value in fields.items():
        if match := _CALL_FIELD.fullmatch(name):
            calls.setdefault(int(match[1]), {})[match[2]] = value
        elif match := _CONTENT_TEXT.fullmatch(name):
            texts[int(match[1])] = as_text(value)
        elif name not in ("role", "content", "tool_call_id"):
            extra[name] = value
    content = as_text(fields.get("content")) or "\n".join(texts[place] for place in sorted(texts))
    tool_calls = [_call(calls[place]) for place in sorted(calls)]
    call_id = text_or_none(fields.get("tool_call_id"))
    held = "content" in fields or bool(texts)
    return _from_text(
        SpanMessage(as_text(fields.get("role")), content, tool_calls, call_id, extra=extra, recorded=held)
    )


def _of_parts(value: dict[str, Any]) -> SpanMessage:
    message = SpanMessage(as_text(value.get("role")))
    parts = value.get("parts", value.get("content"))
    message.recorded = parts is not None
    others: list[Any] = []
    texts: list[str] = []
    for part in parts if isinstance(parts, list) else [parts]:
        fields = part if isinstance(part, dict) else {}
        kind = fields.get("type")
        if kind == "tool_call":
            message.calls = [*message.calls, _call(fields)]
        elif kind == "tool_call_response":
            message.role = "tool"
            message.call_id = text_or_none(fields.get("id"))
            said = fields.get("response", fields.get("result"))
            message.recorded = said is not None
            message.failed = fields.get("is_error") is True
            texts.append(as_text(said))
        elif kind == "text" and isinstance(fields.get("content"), str):
            texts.append(fields["content"])
        else:
            texts_of_part, rest = text_and_others(part)
            texts += texts_of_part
            others += rest
    message.text = "\n".join(texts)
    for call in _listed(value.get("tool_calls")):
        function = at(call, "function")
        if isinstance(function, dict):
            message.calls = [*message.calls, _call(function | {"id": call.get("id")})]
    if isinstance(value.get("tool_call_id"), str):
        message.call_id = value["tool_call_id"]
    message.extra = filled([("content", others), ("finish_reason", value.get("finish_reason"))])
    return _from_text(message)


def _text_of_parts(value: Any) -> str:
    return _of_parts({"role": "system", "parts": value}).text if isinstance(value, list) else as_text(value)


def _call(fields: dict[str, Any]) -> ToolCall:
    return tool_call(as_text(fields.get("name")), fields.get("arguments"), text_or_none(fields.get("id")))


def _from_text(message: SpanMessage) -> SpanMessage:
    if message.role == "tool-call" and message.text.startswith(_CALLING):
        message.calls = list(_literal_calls(message.text.removeprefix(_CALLING)))
    elif match := _ANSWER.match(message.text) if message.role != "assistant" else None:
        message.role = "tool"
        message.call_id = match[1]
        message.failed = match[2] == "Error"
        message.text = message.text[match.end() :]
    elif message.role == "user" and message.text.startswith("Observation:\n"):
        message.role = "tool"
        message.text = message.text.removeprefix("Observation:\n")
    return message


def _literal_calls(text: str) -> Iterator[ToolCall]:
    listed = json_value_of_literal(text) if len(text) <= _LITERAL_LIMIT else None
    for entry in _listed(listed):
        function = at(entry, "function")
        if isinstance(function, dict):
            arguments = function.get("arguments")
            objects = arguments if isinstance(arguments, dict) else {"input": arguments}
            yield ToolCall(as_text(function.get("name")), objects, text_or_none(entry.get("id")))


def json_value_of_literal(text: str) -> Any:
    """Return the value of a Python literal as a JSON value; `None` if the text is not one, or too deep.

    Tuples and sets become lists (sets in the order of what they print as), bytes text, and everything else what Python
    prints of it: `{1: b"a", "x": {2, 1}, "y": 1j}` gives `{"1": "a", "x": [1, 2], "y": "1j"}`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a text from outside, such as "\d" in it
            return _json_value(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, int):
        return value if value.bit_length() <= _MOST_BITS else hex(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, dict):
        return {_name(name): _json_value(item) for name, item in value.items()}
    if isinstance(value, set):
        return [_json_value(item) for item in sorted(value, key=repr)]
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    return repr(value)


def _name(name: Any) -> str:
    value = _json_value(name)
    return value if isinstance(value, str) else repr(value)
