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

from msgspec import Struct

from misstep_harness.escaping import without_surrogates
from misstep_harness.readers.input.fields import at, filled, text_or_none, whole
from misstep_harness.readers.interchange.content import (
    answer_of,
    as_message,
    as_text,
    json_value,
    place_parts,
    split_content,
    text_and_others,
    tool_call,
)
from misstep_harness.readers.interchange.conversation import Turn
from misstep_harness.readers.interchange.spans import Span, listed
from misstep_harness.trajectory import ToolCall

_HOLD_MESSAGES = ("messages", "generations", "choices", "message", "output", "candidates", "contents", "content")
_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "function": "tool"}
_OF_CLASS = {"HumanMessage": "user", "AIMessage": "assistant", "SystemMessage": "system", "ToolMessage": "tool"}
_OF_CLASS |= {f"{name}Chunk": role for name, role in _OF_CLASS.items()}
_KNOWN = frozenset({"user", "assistant", "system", "tool", "developer", "model", *_ROLES})
_WRAPPED = frozenset({"output", "outputs", "input", "inputs"})
READ = ("cache_read", "cache_read_input_tokens", "input_cache_read", "input_cached_tokens")
WRITTEN = ("cache_creation", "cache_creation_input_tokens", "input_cache_creation")


def model_attributes(given: Any, answer: Any, model: Any, used: dict[str, Any], costs: list[Any]) -> dict[str, Any]:
    """Return the attributes of a call of a model: its messages, the model, the tokens, and the first of the costs."""
    counts = {
        "input": whole(used.get("input", used.get("input_tokens"))),
        "output": whole(used.get("output", used.get("output_tokens"))),
        "cache_read.input": next((used[name] for name in READ if whole(used.get(name)) is not None), None),
        "cache_creation.input": next((used[name] for name in WRITTEN if whole(used.get(name)) is not None), None),
    }
    fields = [("gen_ai.input.messages", _messages(given, "user")), ("gen_ai.request.model", text_or_none(model))]
    fields += [("gen_ai.usage.cost", next((cost for cost in costs if cost not in (None, "")), None))]
    return filled([*fields, ("gen_ai.output.messages", _messages(answer, "assistant"))]) | {
        f"gen_ai.usage.{name}_tokens": count for name, count in counts.items() if count is not None
    }


def tool_attributes(name: str, given: Any, answer: Any) -> dict[str, Any]:
    """Return the attributes of a call of a tool; what is not recorded is none of them."""
    attributes: dict[str, Any] = {"gen_ai.tool.name": name}
    given, answer = _inner(_parsed(given)), _inner(_parsed(answer))
    if isinstance(given, str):
        read = json_value_of_literal(given)
        given = read if isinstance(read, dict) else given
    if given is not None:
        attributes["gen_ai.tool.call.arguments"] = given if isinstance(given, dict) else {"input": given}
    fields = _fields(answer) if isinstance(answer, dict) else {}
    if "content" in fields and ("tool_call_id" in fields or _role(answer) == "tool"):
        attributes |= filled([("gen_ai.tool.call.id", text_or_none(fields.get("tool_call_id")))])
        attributes |= {"tool.status": "error"} if fields.get("status") == "error" else {}
        answer = fields["content"]
    if answer is not None:
        attributes["gen_ai.tool.call.result"] = answer
    return attributes


def _inner(value: Any) -> Any:
    return (
        next(iter(value.values()))
        if isinstance(value, dict) and len(value) == 1 and value.keys() <= _WRAPPED
        else value
    )


def _parsed(value: Any) -> Any:
    """Return the JSON value that a text holds, as exports to tables write them; any other value as it is."""
    return json_value(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") else value


def _messages(value: Any, role: str) -> list[dict[str, Any]]:
    value = _inner(_parsed(value))
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    return list(_listed(value, role))


def _listed(value: Any, role: str, depth: int = 0) -> Iterator[dict[str, Any]]:
    value = as_message(value)
    if isinstance(value, list) and depth < 8:
        for one in value:
            yield from _listed(one, role, depth + 1)
    elif isinstance(value, dict):
        held = next((value[name] for name in _HOLD_MESSAGES if _holds(value, name)), None)
        if isinstance(held, str):
            yield {"role": role, "content": held}
        elif held is not None and depth < 8:
            yield from _listed(held, role, depth + 1)
        elif _role(value) == "tool" and isinstance(at(_fields(value), "content", "function"), dict):
            return  # the definition of a tool
        elif _role(value) or {"content", "parts"} & _fields(value).keys():
            yield _message(value, role)
        elif isinstance(value.get("text"), str):
            yield {"role": role, "content": value["text"]}


def _holds(value: dict[str, Any], name: str) -> bool:
    """Return whether a field holds messages; the content of a message does not, but that of an answer of Gemini's."""
    held = value.get(name)
    if name == "content":
        return isinstance(held, dict) and "parts" in held
    if name == "output":
        return isinstance(held, list)
    return isinstance(held, list | dict) or (name == "contents" and isinstance(held, str))


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    return value["kwargs"] if "lc" in value and isinstance(value.get("kwargs"), dict) else value


def _role(value: dict[str, Any]) -> str:
    fields = _fields(value)
    path = value.get("id")
    named = _OF_CLASS.get(str(path[-1])) if isinstance(path, list) and path else None
    stated = next((one for name in ("role", "type") if (one := text_or_none(fields.get(name))) in _KNOWN), None)
    return named or _ROLES.get(str(stated), stated or "")


def _message(value: dict[str, Any], role: str) -> dict[str, Any]:
    fields = _fields(value)
    stated = [fields.get("tool_calls"), fields.get("invalid_tool_calls")]
    calls = [call for calls in stated if isinstance(calls, list) for call in calls]
    calls = calls or at(fields, "additional_kwargs", "tool_calls")
    content = fields.get("content", fields.get("parts"))
    if _role(value) == "tool" and "content" in fields:
        content = answer_of(content)
    message = {"role": _role(value) or text_or_none(fields.get("role")) or role, "content": content}
    called = [_call(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    more = [(name, text_or_none(fields.get(name))) for name in ("tool_call_id", "reasoning_content")]
    return message | filled([("tool_calls", called), *more])


def _call(call: dict[str, Any]) -> dict[str, Any]:
    if isinstance(call.get("function"), dict):
        return call
    function = {"name": call.get("name")} | ({"arguments": call["args"]} if "args" in call else {})
    return {"id": call.get("id"), "function": function}


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
_CALL_FIELD = re.compile(
    r"(?:tool_calls\.(\d{1,6})\.(?:tool_call\.)?|contents?\.(\d{1,6})\.tool_call\.)(?:function\.)?(name|arguments|id)"
)
_CONTENT_FIELD = re.compile(r"contents?\.(\d{1,6})\.(?:message_content\.)?(type|text)")
_OLDER_CALL = ("function_call_name", "function_call_arguments_json")
_SAID_BY_TOOL = ("response", "result", "server_tool_call_response")
_CALLING = "Calling tools:\n"
_ANSWER = re.compile(r"Call id: (\S+)\n(Observation|Error):?\n?")
_LITERAL_LIMIT = 1 << 20
_MOST_BITS = 14_000
"""Longer whole numbers have more digits than Python prints."""


class SpanMessage(Struct):
    """One message: its speaker, text, thoughts and calls, and the call that it answers."""

    role: str
    text: str = ""
    reasoning: list[str] = []
    calls: list[ToolCall] = []
    call_id: str | None = None
    failed: bool = False
    extra: dict[str, Any] = {}
    recorded: bool = True


def inputs(span: Span) -> list[SpanMessage]:
    """Return what the model was given, in order."""
    first = span.attributes.get("gen_ai.system_instructions")
    instructions = [SpanMessage("system", _text_of_parts(json_value(first)))] if first else []
    return instructions + (_messages_below(span.attributes, _GIVEN) or _of_events(span, _GIVEN_EVENTS))


def answered(span: Span) -> list[SpanMessage]:
    """Return what the model answered; if no message says it, the span's output."""
    attributes = span.attributes
    messages = _messages_below(attributes, _ANSWERED) or _of_events(span, _ANSWERED_EVENTS)
    if messages or "output.value" not in attributes:
        return messages
    value = json_value(attributes["output.value"])
    if isinstance(value, dict) and "content" in value:
        return [SpanMessage("assistant", split_content(value["content"])[0])]
    return [SpanMessage("assistant", as_text(attributes["output.value"]))]


def tools_arguments(span: Span) -> Any:
    """Return what a tool was called with; `None` where the span does not hold it."""
    given = _held(span, _ARGUMENTS)
    if given is None:
        told = [call.arguments for message in _messages_below(span.attributes, _GIVEN) for call in message.calls]
        given = next(iter(told), None) or next(_contents(span, _TOOLS_EVENT), None)
    return _unwrapped_arguments(json_value(given))


def tools_answer(span: Span) -> str | None:
    """Return what a tool answered; `None` where the span does not hold it."""
    held = _held(span, _RESULTS)
    if held is not None:
        value = json_value(held)
        wrapped = isinstance(value, dict) and len(value.keys() - {"kwargs"}) == 1 and (value.keys() & _WRAPPED_RESULTS)
        inner = value[next(iter(wrapped))] if wrapped else None
        if inner is not None:
            return text_of_content(inner)
        return value if isinstance(value, str) and _held(span, _RESULTS[:2]) is None else as_text(held)
    answers = [message for message in _messages_below(span.attributes, _ANSWERED) if message.recorded]
    if answers:
        return "\n".join(message.text for message in answers)
    told = [*_contents(span, *_ANSWERED_EVENTS)]
    if not told and _held(span, _ARGUMENTS) is not None:
        told = [*_contents(span, _TOOLS_EVENT)]
    if told:
        return text_of_content(json_value(told[-1]))
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
        parsed = json_value(text)
        return parsed if isinstance(parsed, dict) else json_value_of_literal(text) or text
    named_ones = value.get("kwargs")
    keywords: dict[str, Any] = named_ones if isinstance(named_ones, dict) else {}
    places = {"args": value["args"]} if value.get("args") else {}
    return {**places, **keywords} if "args" in value or "kwargs" in value else value


def _of_events(span: Span, names: tuple[str, ...]) -> list[SpanMessage]:
    return [message for name, about in span.events if name in names for message in _of_event(name, about)]


def _of_event(name: str, attributes: dict[str, Any]) -> list[SpanMessage]:
    body = json_value(attributes.get("gen_ai.event.content"))
    fields = body if isinstance(body, dict) else attributes
    if name in _ANSWERED_EVENTS:
        inner = json_value(fields.get("message"))
        fields = (inner if isinstance(inner, dict) else fields | {"content": inner}) | filled(
            [("finish_reason", fields.get("finish_reason"))]
        )
    role = as_text(fields.get("role")) or _ROLE_OF_EVENT.get(name, "")
    content = json_value(fields.get("content"))
    parts = [_as_part(part) for part in content] if isinstance(content, list) else content
    message = {"role": role, "content": parts, "tool_calls": json_value(fields.get("tool_calls"))}
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


def _messages_below(attributes: dict[str, Any], prefixes: tuple[str, ...]) -> list[SpanMessage]:
    for prefix in prefixes:
        if (whole := attributes.get(prefix)) is not None:
            given = [message for message in listed(json_value(whole)) if isinstance(message, dict)]
            return [message for one in given for message in _of_parts(one)]
        fields: dict[int, dict[str, Any]] = {}
        for name, value in attributes.items():
            if name.startswith(prefix) and (match := _PLACE.fullmatch(name, len(prefix))):
                fields.setdefault(int(match[1]), {})[match[2].removeprefix("message.")] = value
        if fields:
            return [message for place in sorted(fields) for message in _of_fields(fields[place])]
    return []


def _of_fields(fields: dict[str, Any]) -> list[SpanMessage]:
    if any(name.startswith("parts.") for name in fields):
        return _of_parts(_nested(fields))
    calls: dict[int, dict[str, Any]] = {}
    ordered: dict[int, dict[str, Any]] = {}
    parts: dict[int, dict[str, Any]] = {}
    extra: dict[str, Any] = {}
    for name, value in fields.items():
        if match := _CALL_FIELD.fullmatch(name):
            (ordered if match[1] is None else calls).setdefault(int(match[1] or match[2]), {})[match[3]] = value
        elif match := _CONTENT_FIELD.fullmatch(name):
            parts.setdefault(int(match[1]), {})[match[2]] = value
        elif name not in ("role", "content", "tool_call_id", *_OLDER_CALL):
            extra[name] = value
    if older := [fields.get(name) for name in _OLDER_CALL if name in fields]:
        calls.setdefault(0, {"name": older[0], "arguments": older[-1] if len(older) > 1 else None})
    stated = json_value(fields.get("content"))
    typed = isinstance(stated, list) and bool(stated) and all(isinstance(at(part, "type"), str) for part in stated)
    content = stated if typed else fields.get("content")
    if not content and parts:
        content = [{"type": "text"} | parts[place] for place in sorted(parts)]
    elif not typed and content is not None:
        content = as_text(content)
    answers = {"tool_call_id": fields["tool_call_id"]} if "tool_call_id" in fields else {}
    messages = _of_parts({"role": fields.get("role"), "content": content} | answers)
    own = messages[-1]
    if calls := calls or ordered:
        own.calls = [_call_in(calls[place]) for place in sorted(calls)]
    own.extra |= extra
    return messages


def _nested(fields: dict[str, Any]) -> Any:
    """Return the object that `flat` made flat."""
    tree: dict[str, Any] = {name: value for name, value in fields.items() if "." not in name}
    branches: dict[str, dict[str, Any]] = {}
    for name in fields.keys() - tree.keys():
        first, _, rest = name.partition(".")
        branches.setdefault(first, {})[rest] = fields[name]
    tree |= {name: _nested(branches[name]) for name in branches}
    numbered = all(map(str.isdecimal, tree))
    return [tree[name] for name in sorted(tree, key=lambda name: (len(name), name))] if numbered else tree


def _of_parts(value: dict[str, Any]) -> list[SpanMessage]:
    """Return a message, and before it one for each answer of a tool among its parts."""
    message = SpanMessage(as_text(value.get("role")), recorded=False)
    answers: list[SpanMessage] = []
    placed = Turn("agent", reasoning=[thought] if (thought := text_or_none(value.get("reasoning_content"))) else [])
    others: list[Any] = []
    texts: list[str] = []
    parts = value.get("parts", value.get("content"))
    for part in parts if isinstance(parts, list) else [parts]:
        fields = part if isinstance(part, dict) else {}
        kind = fields.get("type")
        if kind in ("tool_call", "server_tool_call"):
            placed.calls.append(_call_in({"arguments": fields.get("server_tool_call")} | fields))
        elif kind in ("tool_call_response", "server_tool_call_response"):
            said = next((fields[name] for name in _SAID_BY_TOOL if fields.get(name) is not None), None)
            failed = fields.get("is_error") is True
            call_id = text_or_none(fields.get("id")) or None
            answers.append(SpanMessage("tool", as_text(said), [], [], call_id, failed, recorded=said is not None))
        elif kind == "text" and isinstance(fields.get("content"), str):
            texts.append(fields["content"])
        elif not _is_placed(placed, part):
            texts_of_part, rest = text_and_others(part)
            texts += texts_of_part
            others += rest
    answers += [
        SpanMessage("tool", result.text, [], [], result.call_id, result.is_error is True, recorded=result.recorded)
        for result in placed.results
    ]
    message.text, message.reasoning = "\n".join(texts), placed.reasoning
    called = [call for call in listed(value.get("tool_calls")) if isinstance(at(call, "function"), dict)]
    message.calls = [_call_in(call["function"] | {"id": call.get("id")}) for call in called] or placed.calls
    message.call_id = text_or_none(value.get("tool_call_id")) or None
    message.extra = filled([("content", others), ("finish_reason", value.get("finish_reason"))])
    if answers and not (texts or others or message.calls or message.reasoning):
        answers[-1].extra = message.extra
        return answers
    message.recorded = parts is not None
    return [*answers, _from_text(message)]


def _is_placed(turn: Turn, part: Any) -> bool:
    """Put a thought, a call or an answer as a vendor's own API writes it into a turn; return whether it was one."""
    before = len(turn.reasoning) + len(turn.calls) + len(turn.results)
    if isinstance(part, dict):
        place_parts(turn, [part])
    return len(turn.reasoning) + len(turn.calls) + len(turn.results) > before


def _text_of_parts(value: Any) -> str:
    return _of_parts({"role": "system", "parts": value})[-1].text if isinstance(value, list) else as_text(value)


def _call_in(fields: dict[str, Any]) -> ToolCall:
    return tool_call(as_text(fields.get("name")), fields.get("arguments"), text_or_none(fields.get("id")) or None)


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
    for entry in listed(json_value_of_literal(text) if len(text) <= _LITERAL_LIMIT else None):
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
