"""Goose sessions (github.com/block/goose): the JSON that `goose session export` writes, and the file `sessions.db`.

    {"id": "20260105_1", "name": "Rename", "working_dir": "/home/kim/app", "created_at": "2026-01-05T10:00:00Z",
     "provider_name": "openai", "model_config": {"model_name": "gpt-x"}, "input_tokens": 90, "output_tokens": 7,
     "conversation": [messages]}

The database, of version 1.10 and later, is read as one such line a session (`databases`; tables in
`crates/goose/src/session/session_manager.rs`). The program counts tokens for a whole session: `extra["session"]`.

The messages of a Goose session in all its versions; see `crates/goose/src/conversation/message.rs`.

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
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.databases import MARK, decode_session
from misstep_harness.readers.input.decoding import convert, decode_lines, name_of, unreadable
from misstep_harness.readers.input.fields import at, filled, rest_of, text_or_none, time_of, without
from misstep_harness.readers.interchange.content import as_text, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Role, Source, ToolCall, ToolResult, Trajectory

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


FORMAT = "goose"
UNIT: Unit = "value"


class _Session(Struct):
    conversation: list[Any] | None = None
    id: str | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no Goose sessions."""
    first = sample.first
    if not isinstance(first, dict):
        return "not a JSON object"
    if MARK in first:
        return None if first[MARK] == FORMAT else f"a database of {str(first[MARK])[:40]!r}"
    messages = first.get("conversation")
    if not isinstance(messages, list) or "working_dir" not in first:
        return "no working_dir and list `conversation`"
    return None if not messages or is_message(messages[0]) else "its messages have no role, created and content"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the session in one document or line."""
    value, session = decode_session(data, source, _Session)
    conversation = Conversation()
    for message in session.conversation or []:
        add_message(conversation, message, source)
    yield conversation.trajectory(
        session.id or name_of(source),
        source,
        agent="goose",
        model=text_or_none(at(value, "model_config", "model_name")),
        parent=text_or_none(at(value, "parent_session_id")),
        extra=filled([("session", rest_of(value, _Session, MARK))]),
    )


_KINDS = ('"text"', '"toolRequest"', '"toolResponse"', '"thinking"')


class GooseJsonlReader:
    """Sessions before version 1.10: JSON Lines, a header and messages, one file a session.

        {"working_dir": "/home/kim/app", "description": "Rename", "message_count": 3, "total_tokens": 97}
        {"role": "user", "created": 1767607200, "content": [{"type": "text", "text": "Rename the flag"}]}

    The files `~/.local/share/goose/sessions/<session>.jsonl` (`crates/goose/src/session/legacy.rs`); the oldest have no
    header.
    """

    FORMAT = "goose_jsonl"
    UNIT: Unit = "file"

    def refuse(self, sample: Sample) -> str | None:
        """Return why the file is not a Goose session of that time."""
        first = sample.first
        if not isinstance(first, dict):
            return "not JSON objects, one a line"
        if "working_dir" in first and ("message_count" in first or "description" in first):
            return None if "conversation" not in first else "a session in one object"
        if not is_message(first):
            return "the first line is neither a header with working_dir nor a message with role, created and content"
        return None if any(kind in sample.head for kind in _KINDS) else "its messages have no parts of Goose"

    def read(self, data: bytes, source: Source) -> Iterator[Trajectory]:
        """Return the one session of a file."""
        lines = decode_lines(data, source)
        conversation = Conversation()
        header: dict[str, Any] = {}
        for place, (number, value) in enumerate(lines.values):
            if place == 0 and isinstance(value, dict) and "content" not in value:
                header = value
            else:
                add_message(conversation, value, source, number)
        extra = filled([("session", header), ("unfinished_line", lines.unfinished)])
        yield conversation.trajectory(name_of(source), source, agent="goose", extra=extra)


JSONL = GooseJsonlReader()
