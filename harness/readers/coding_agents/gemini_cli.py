"""Gemini CLI sessions: JSON Lines that patch each other; in older versions one document.

    {"sessionId": "s1", "projectHash": "9f", "startTime": "2026-01-05T10:00:00Z", "kind": "main"}
    {"id": "m1", "timestamp": "…", "type": "user", "content": [{"text": "Rename the flag"}]}
    {"id": "m2", "timestamp": "…", "type": "gemini", "content": "", "model": "gemini-x", "thoughts":
     [{"subject": "Look", "description": "First list files."}], "tokens": {"input": 90, "output": 7, "cached": 0},
     "toolCalls": [{"id": "c1", "name": "list_directory", "args": {"path": "."}, "status": "success",
      "result": [{"functionResponse": {"id": "c1", "name": "list_directory", "response": {"output": "a.py"}}}]}]}
    {"$set": {"lastUpdated": "…"}}

A message with a known id replaces the earlier one in its place (fields that it lacks stay); `$set` replaces fields of
the session, its list of messages included; `$rewindTo` drops the messages from an id on. The document is `{"sessionId",
"messages": […]}`. What tools answered is in the call and again in a user line of `functionResponse` parts: one result.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from misstep.harness.protocols import Sample, Unit
from misstep.harness.readers.input.decoding import convert, decode_document_or_lines
from misstep.harness.readers.input.fields import at, filled, kept_line, rest_of, text_or_none
from misstep.harness.readers.interchange.content import as_text, split_content, text_and_others, tool_call
from misstep.harness.readers.interchange.conversation import Conversation, Turn
from misstep.harness.trajectory import Source, Tokens, ToolResult, Trajectory

FORMAT = "gemini_cli"
UNIT: Unit = "file"

_HEADER = ("projectHash", "startTime", "lastUpdated", "kind")
_WRITTEN_BY_PROGRAM = ("<session_context>", "<environment_context>", "This is the Gemini CLI. We are setting up")
_FAILED = {"error": True, "success": False}


class _Usage(Struct):
    input: int | None = None
    output: int | None = None
    cached: int | None = None


class _ToolCall(Struct, rename="camel"):
    name: str = ""
    id: str | None = None
    args: Any = None
    result: Any = None
    status: str | None = None
    timestamp: str | None = None


class _Message(Struct, rename="camel"):
    type: str = ""
    id: str | None = None
    timestamp: str | None = None
    content: Any = None
    thoughts: list[Any] | None = None
    tokens: _Usage | None = None
    model: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Session(Struct):
    line: int
    header: dict[str, Any]
    messages: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    others: list[dict[str, Any]] = field(default_factory=list)


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a Gemini CLI session."""
    first = sample.first
    if not isinstance(first, dict):
        return "not JSON objects"
    if not isinstance(first.get("sessionId"), str) or "type" in first:
        return "the first object is not a header with sessionId"
    return None if any(name in first for name in _HEADER) else "a sessionId without projectHash or startTime"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the trajectory of each session in the file, in the order in which they begin."""
    lines = decode_document_or_lines(data, source)
    sessions: dict[str, _Session] = {}
    current = _Session(lines.values[0][0], {})
    for number, value in lines.values:
        if isinstance(value, dict) and "type" not in value and isinstance(value.get("sessionId"), str):
            began = current if not sessions else _Session(number, {})
            current = sessions.setdefault(value["sessionId"], began)
        _apply(current, number, value)
    finished = list(sessions.values()) or [current]
    for session in finished:
        place = source if len(finished) == 1 else replace(source, line=session.line)
        yield _trajectory(session, place, lines.unfinished if session is current else None)


def _trajectory(session: _Session, source: Source, unfinished: str | None) -> Trajectory:
    conversation = Conversation()
    model = None
    for number, value in session.messages.values():
        message = convert(value, _Message, source, number)
        session.others += _add(conversation, message, value)
        model = model or message.model
    header = session.header
    identity = text_or_none(header.pop("sessionId", None))
    fields = [("session", header), ("other_lines", session.others), ("unfinished_line", unfinished)]
    name = PurePath(source.file).stem if identity is None else identity
    return conversation.trajectory(name, source, agent="gemini-cli", model=model, extra=filled(fields))


def _apply(session: _Session, number: int, value: Any) -> None:
    if not isinstance(value, dict):
        session.others.append(kept_line(number, value))
    elif isinstance(value.get("$set"), dict):
        _patch(session, number, value["$set"])
        _keep_rest(session, number, value, "$set")
    elif isinstance(value.get("$rewindTo"), str) and value["$rewindTo"] in session.messages:
        name = ""
        while name != value["$rewindTo"]:
            name, (_, dropped) = session.messages.popitem()
            session.others.append({"line": number, "rewound": dropped})
        _keep_rest(session, number, value, "$rewindTo")
    elif "sessionId" in value and "type" not in value:
        _patch(session, number, value)
    elif isinstance(value.get("type"), str):
        identity = _identity(value, f"line {number}")
        _, before = session.messages.get(identity, (number, {}))
        session.messages[identity] = (number, before | value)
    else:
        session.others.append(kept_line(number, value))


def _identity(message: dict[str, Any], place: str) -> str:
    identity = text_or_none(message.get("id"))
    return place if identity is None else identity


def _keep_rest(session: _Session, number: int, value: dict[str, Any], placed: str) -> None:
    if rest := {name: field for name, field in value.items() if name != placed}:
        session.others.append(kept_line(number, rest))


def _patch(session: _Session, number: int, fields: dict[str, Any]) -> None:
    session.header |= {name: field for name, field in fields.items() if name != "messages"}
    if isinstance(messages := fields.get("messages"), list):
        session.messages.clear()
        for place, message in enumerate(messages):
            if isinstance(message, dict):
                session.messages[_identity(message, f"line {number}, {place}")] = (number, message)
            else:
                session.others.append(kept_line(number, message))


def _add(conversation: Conversation, message: _Message, value: dict[str, Any]) -> list[dict[str, Any]]:
    text, others = split_content(message.content)
    extra = filled([("id", message.id)]) | rest_of(value, _Message)
    if message.type in ("gemini", "model", "assistant"):
        _add_agent(conversation, message, value, text, extra | filled([("content", others)]))
        return []
    responses = [part for part in others if isinstance(part, dict) and "functionResponse" in part]
    for response in (part["functionResponse"] for part in responses):
        call_id = text_or_none(at(response, "id"))
        turn = conversation.maker(call_id)
        if turn is None or all(result.call_id != call_id for result in turn.results):
            conversation.result(_result([{"functionResponse": response}], call_id, None))
    others = [part for part in others if part not in responses]
    if not text and not others:
        return [extra] if rest_of(value, _Message) else []
    typed = message.type == "user" and not text.lstrip().startswith(_WRITTEN_BY_PROGRAM)
    extra |= filled([("content", others), ("type", None if typed else message.type)])
    conversation.begin(Turn("user" if typed else "system", [text], timestamp=message.timestamp, extra=extra))
    return []


def _add_agent(
    conversation: Conversation, message: _Message, value: dict[str, Any], text: str, extra: dict[str, Any]
) -> None:
    turn = conversation.say("agent", [text], message.timestamp, extra)
    for thought in message.thoughts or []:
        parts = [thought.get("subject"), thought.get("description")] if isinstance(thought, dict) else [thought]
        turn.reasoning.append(": ".join(as_text(part) for part in parts if part))
    if message.tokens is not None:
        usage = message.tokens
        turn.tokens = Tokens(usage.input, usage.output, usage.cached)
        turn.extra |= filled([("tokens", rest_of(value["tokens"], _Usage))])
    for call, raw in zip(message.tool_calls or [], value.get("toolCalls") or [], strict=True):
        rest = rest_of(raw, _ToolCall) | filled([("status", call.status), ("timestamp", call.timestamp)])
        conversation.call(turn, tool_call(call.name, call.args, call.id, rest))
        if call.result is not None or _FAILED.get(call.status or ""):
            conversation.result(_result(call.result, call.id, _FAILED.get(call.status or "")))


def _result(result: Any, call_id: str | None, is_error: bool | None) -> ToolResult:
    texts: list[str] = []
    others: list[Any] = []
    for part in result if isinstance(result, list) else [result]:
        body = at(part, "functionResponse", "response")
        if isinstance(body, dict) and ("error" in body or "output" in body):
            is_error = True if "error" in body else is_error
            printed = body.get("error", body.get("output"))
            texts += [] if printed is None else [as_text(printed)]
            others += [body] if len(body) > 1 else []
        elif body is not None:
            texts.append(as_text(body))
        else:
            own, rest = text_and_others(part)
            texts += own
            others += rest
    held = bool(texts or others or result == [])
    return ToolResult("\n".join(texts), is_error, None, call_id, filled([("content", others)]), held)
