"""The messages of a Goose session in all its versions; see `crates/goose/src/conversation/message.rs`.

    {"id": "m2", "role": "assistant", "created": 1767607200, "content": [{"type": "text", "text": "I look."},
     {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value":
      {"name": "developer__shell", "arguments": {"command": "ls"}}}}]}
    {"role": "user", "created": 1767607201, "content": [{"type": "toolResponse", "id": "c1", "toolResult":
     {"status": "success", "value": [{"type": "text", "text": "a.py"}]}}]}

A request that the program could not read has `status` error: the call has a `parse_error`. Messages that the person
does not see (`metadata.userVisible` false) and notifications are system steps.
"""

from typing import Any

from msgspec import Struct

from misstep.harness.readers.input.decoding import convert, unreadable
from misstep.harness.readers.input.fields import at, filled, rest_of, time_of, without
from misstep.harness.readers.interchange.content import as_text, split_content, tool_call
from misstep.harness.readers.interchange.conversation import Conversation, Turn
from misstep.harness.trajectory import Role, Source, ToolCall, ToolResult

_REQUESTS = ("toolRequest", "frontendToolRequest")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "agent"}


class _Message(Struct):
    role: str = ""
    id: str | None = None
    created: Any = None
    content: list[Any] | None = None
    metadata: Any = None


class _Part(Struct, rename="camel"):
    type: str = ""
    id: str | None = None
    text: str | None = None
    thinking: str | None = None
    tool_call: Any = None
    tool_result: Any = None
    msg: str | None = None


def is_message(value: Any) -> bool:
    """Return whether a value is a message as Goose writes it, and no other chat's."""
    return isinstance(value, dict) and "created" in value and isinstance(value.get("content"), list) and "role" in value


def add_message(conversation: Conversation, value: Any, source: Source, line: int | None = None) -> None:
    """Add a message to a conversation."""
    if not isinstance(value, dict):
        raise unreadable(f"a message is not an object but {type(value).__name__}", source, line)
    message = convert(value, _Message, source, line)
    content = message.content or []
    parts = [(convert(raw, _Part, source, line), raw) for raw in content if isinstance(raw, dict)]
    own = [(part, raw) for part, raw in parts if part.type != "toolResponse"]
    extra = filled([("id", message.id), ("metadata", message.metadata)]) | rest_of(value, _Message)
    for part, _ in parts:
        if part.type == "toolResponse":
            conversation.result(_result(part, extra))
    if parts and not own:
        return
    hidden = message.role == "user" and at(message.metadata, "userVisible") is False
    noted = bool(own) and all(part.type == "systemNotification" for part, _ in own)
    role: Role = "system" if hidden or noted else _ROLES.get(message.role, "system")
    extra = extra | filled([("role", None if message.role in _ROLES else message.role)])
    turn = conversation.say(role, [], time_of(message.created), extra)
    for part, raw in own:
        _add_part(conversation, turn, part, raw)
    others = turn.extra.get("content", []) + [part for part in content if not isinstance(part, dict)]
    turn.extra |= filled([("content", others)])


def _add_part(conversation: Conversation, turn: Turn, part: _Part, raw: dict[str, Any]) -> None:
    if part.type in _REQUESTS:
        conversation.call(turn, _call(part, rest_of(raw, _Part)))
        return
    if part.type == "text":
        turn.texts += [part.text] if part.text else []
    elif part.type == "thinking":
        turn.reasoning += [part.thinking] if part.thinking else []
    elif part.type == "systemNotification":
        turn.texts += [part.msg] if part.msg else []
    else:
        turn.extra.setdefault("content", []).append(raw)
        return
    if rest := rest_of(raw, _Part):
        turn.extra.setdefault("content", []).append({"type": part.type} | rest)


def _call(part: _Part, rest: dict[str, Any]) -> ToolCall:
    request = at(part.tool_call, "value")
    if not isinstance(request, dict):
        why = as_text(at(part.tool_call, "error")) or "no call was read"
        return ToolCall("", as_text(part.tool_call), part.id, why, rest)
    more = rest | without(request, "name", "arguments")
    given = request.get("arguments")  # which the Model Context Protocol leaves out where there are none
    return tool_call(as_text(request.get("name")), {} if given is None else given, part.id, more)


def _result(part: _Part, extra: dict[str, Any]) -> ToolResult:
    answer = at(part.tool_result, "value")
    failed = at(part.tool_result, "error") if answer is None else None
    fields = answer if isinstance(answer, dict) else {"content": answer}
    text, others = split_content(fields.get("content"))
    flag = fields.get("isError")
    is_error = True if failed is not None else flag if isinstance(flag, bool) else None
    fields_left = filled([("content", others), ("result", without(fields, "content", "isError"))]) | extra
    said = as_text(failed) if failed is not None else text
    return ToolResult(said, is_error, None, part.id, fields_left, bool(said) or fields.get("content") is not None)
