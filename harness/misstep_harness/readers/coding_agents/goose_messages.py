"""The messages of a Goose session in all its versions; see `crates/goose/src/conversation/message.rs`.

    {"id": "m2", "role": "assistant", "created": 1767607200, "content": [{"type": "text", "text": "I look."},
     {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value":
      {"name": "developer__shell", "arguments": {"command": "ls"}}}}]}
    {"role": "user", "created": 1767607201, "content": [{"type": "toolResponse", "id": "c1", "toolResult":
     {"status": "success", "value": [{"type": "text", "text": "a.py"}]}}]}

A request that the program could not read has `status` error: the call has a `parse_error`. Messages that the person
does not see (`metadata.userVisible` false), notifications and questions of the program are system steps.

Read beside the same folder, `context_mgmt` and `agent.rs` (6416fe74, 0036b819): a compaction only hides messages; what
it then says once more in the user's name is the program's. Of an answer for two audiences the agent reads its own. A
call that was interrupted has not failed.
"""

import re
from typing import Any

from msgspec import Struct

from misstep_harness.readers.input.decoding import convert, unreadable
from misstep_harness.readers.input.fields import at, filled, rest_of, time_of, without
from misstep_harness.readers.interchange.content import as_text, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Role, Source, ToolCall, ToolResult

_REQUESTS = ("toolRequest", "frontendToolRequest")
_NOTES = ("systemNotification", "toolConfirmationRequest", "actionRequired")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "agent"}
_BY_PROGRAM = re.compile(
    r"You MUST call the `final_output` tool (?:NOW )?with (?:the|your) final output for the user\."
    r"|Ran into this error: .*Please retry if you think this is a transient or recoverable error\."
    r"|I've reached the maximum number of actions I can do without user input\. Would you like me to continue\?"
    r"|The (?:existing call to \S+|tool calling loop) was interrupted\. How would you like to proceed\?",
    re.DOTALL,
)
_INTERRUPTED = "Interrupted by the user to make a correction"


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
    noted = message.role == "assistant" and bool(own) and all(part.type in _NOTES for part, _ in own)
    texts = [part.text for part, _ in own if part.type == "text" and part.text]
    by_program = noted or _is_hidden(message.metadata) or bool(_BY_PROGRAM.fullmatch("\n".join(texts).strip()))
    if message.role == "user" and conversation.turns and _is_hidden(conversation.turns[-1].extra.get("metadata")):
        said_last = next((turn.role for turn in reversed(conversation.turns) if turn.texts == texts), None)
        by_program |= (
            bool(texts) and said_last == "user"
        )  # what is hidden where it was typed is shown in the copy alone
    role: Role = "system" if by_program else _ROLES.get(message.role, "system")
    extra = extra | filled([("role", None if message.role in _ROLES else message.role)])
    turn = conversation.say(role, [], time_of(message.created), extra)
    for part, raw in own:
        _add_part(conversation, turn, part, raw)
    others = turn.extra.get("content", []) + [part for part in content if not isinstance(part, dict)]
    turn.extra |= filled([("content", others)])


def _is_hidden(metadata: Any) -> bool:
    return at(metadata, "userVisible") is False


def _add_part(conversation: Conversation, turn: Turn, part: _Part, raw: dict[str, Any]) -> None:
    if part.type in _REQUESTS:
        conversation.call(turn, _call(part, rest_of(raw, _Part)))
        return
    if part.type == "text":
        turn.texts += [part.text] if part.text else []
    elif part.type in ("thinking", "reasoning"):
        turn.reasoning += [text for text in (part.thinking, part.text) if text]
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
    contents = fields.get("content")
    parts = contents if isinstance(contents, list) else [contents]
    for_person = [part for part in parts if _is_for_person(part)]
    text, others = split_content([part for part in parts if part not in for_person and part is not None])
    others += for_person
    flag = fields.get("isError")
    is_error = True if failed is not None else flag if isinstance(flag, bool) else None
    if failed is not None and _INTERRUPTED in as_text(failed):
        is_error = None
    fields_left = filled([("content", others), ("result", without(fields, "content", "isError"))]) | extra
    said = as_text(failed) if failed is not None else text
    return ToolResult(said, is_error, None, part.id, fields_left, bool(said) or contents is not None)


def _is_for_person(part: Any) -> bool:
    audience = at(part, "annotations", "audience")
    return isinstance(audience, list) and bool(audience) and "assistant" not in audience
