"""What LangSmith and Langfuse record of a call of a model or a tool, as the attributes that spans have for it."""

from collections.abc import Iterator
from typing import Any

from misstep_harness.readers.input.fields import at, filled, text_or_none, whole
from misstep_harness.readers.interchange.content import answer_of, json_value
from misstep_harness.readers.interchange.parts import as_message
from misstep_harness.readers.interchange.span_messages import json_value_of_literal

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
