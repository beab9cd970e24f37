"""Pi sessions (github.com/badlogic/pi-mono): JSON Lines, a header and the entries of a tree, one file a session.

    {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/home/kim/app"}
    {"type": "message", "id": "e1", "parentId": null, "timestamp": "…", "message":
     {"role": "user", "content": [{"type": "text", "text": "Rename the flag"}]}}
    {"type": "message", "id": "e2", "parentId": "e1", "timestamp": "…", "message": {"role": "assistant",
     "content": [{"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}], "model": "gpt-x",
     "usage": {"input": 90, "output": 7, "cacheRead": 50, "cacheWrite": 0, "cost": {"total": 0.001}}}}
    {"type": "message", "id": "e3", "parentId": "e2", "timestamp": "…", "message": {"role": "toolResult",
     "toolCallId": "c1", "toolName": "bash", "content": [{"type": "text", "text": "a.py"}], "isError": false}}

Versions 1 to 3 (`packages/coding-agent/docs/session.md`); entries of version 1 have no `id` and `parentId`. What a
forked session repeats of its `parent`, entries older than its header, is in `extra["replayed_lines"]`. In what `pi
--mode json` prints (`docs/json.md`) a message is taken when it ends; the lines that repeat it are left out. Files and
skills that the program puts before a person's words are in `extra["injected"]`.

Checked with version 0.58.3 (83378aa): entries, forks, skills, `@file`, summaries, the texts of its tool `bash`.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_lines, name_of
from misstep_harness.readers.input.fields import (
    amount,
    filled,
    kept_line,
    rest_of,
    text_or_none,
    time_of_milliseconds,
    without,
)
from misstep_harness.readers.interchange.content import as_text, split_content, text_and_others, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn, cached_tokens
from misstep_harness.trajectory import Role, Source, ToolResult, Trajectory

FORMAT = "pi"
UNIT: Unit = "file"

_ROLES: dict[str, Role] = {"user": "user", "assistant": "agent"}
_MESSAGES = ("message", "message_end")
_REPEATING = ("message_start", "message_update", "turn_end", "agent_end")
_PUT_IN = (("<skill name=", "\n</skill>"), ("<file name=", "</file>\n"))
_EXIT_CODE = re.compile(r"(?:\A|\n)Command exited with code (\d{1,5})\Z")
_SUMMARIES = ("compaction", "branch_summary", "custom_message")


class _Cost(Struct):
    total: Any = None


class _Usage(Struct, rename="camel"):
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cost: _Cost | None = None


class _Message(Struct, rename="camel"):
    role: str = ""
    content: Any = None
    model: str | None = None
    usage: _Usage | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None
    timestamp: Any = None
    summary: str | None = None
    command: str | None = None
    output: str | None = None


class _Entry(Struct, rename="camel"):
    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | None = None
    message: _Message | None = None
    summary: str | None = None
    content: Any = None


class _Line(Struct):
    number: int
    value: dict[str, Any]
    entry: _Entry


class _Session(Struct):
    line: int
    header: dict[str, Any]
    lines: list[_Line] = field(default_factory=list)
    others: list[dict[str, Any]] = field(default_factory=list)


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a Pi session."""
    first = sample.first
    if not isinstance(first, dict):
        return "not JSON objects, one a line"
    if first.get("type") != "session" or not isinstance(first.get("id"), str):
        return "the first line is not a session header with an id"
    if "timestamp" not in first:
        return "a session header without timestamp"
    return None if "cwd" in first or "version" in first else "a session header without cwd and version"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the trajectory of each session in the file."""
    lines = decode_lines(data, source)
    sessions: list[_Session] = []
    for number, value in lines.values:
        kind = value.get("type") if isinstance(value, dict) else None
        if kind == "session" or not sessions:
            sessions.append(_Session(number, value if kind == "session" else {}))
        if not isinstance(value, dict):
            sessions[-1].others.append(kept_line(number, value))
        elif kind != "session" and kind not in _REPEATING:
            sessions[-1].lines.append(_Line(number, value, convert(value, _Entry, source, number)))
    for session in sessions:
        place = source if len(sessions) == 1 else replace(source, line=session.line)
        yield _trajectory(session, place, lines.unfinished if session is sessions[-1] else None)


def _trajectory(session: _Session, source: Source, unfinished: str | None) -> Trajectory:
    header = dict(session.header)
    file = text_or_none(header.get("parentSession")) or text_or_none(header.get("branchedFrom"))
    # the file of the earlier session is called `<time>_<id>.jsonl`
    origin = None if not file else PurePath(file.replace("\\", "/")).stem.rpartition("_")[2] or None
    began = text_or_none(header.get("timestamp"))
    conversation = Conversation()
    replayed: list[dict[str, Any]] = []
    model = text_or_none(header.get("modelId"))
    for line in session.lines:
        if origin is not None and began and line.entry.timestamp and line.entry.timestamp < began:
            replayed.append(kept_line(line.number, line.value))
        elif not _place(conversation, line):
            session.others.append(kept_line(line.number, line.value))
        if line.entry.message is not None:
            model = model or line.entry.message.model
    identity = text_or_none(header.pop("id", None)) or name_of(source)
    fields = [("session", header), ("replayed_lines", replayed), ("other_lines", session.others)]
    extra = filled([*fields, ("unfinished_line", unfinished)])
    return conversation.trajectory(identity, source, agent="pi", model=model, parent=origin, extra=extra)


def _place(conversation: Conversation, line: _Line) -> bool:
    """Put an entry where it belongs; return whether it is a turn or part of one."""
    entry, message = line.entry, line.entry.message
    extra = filled([("id", entry.id), ("parentId", entry.parent_id)]) | rest_of(line.value, _Entry)
    if message is None or entry.type not in _MESSAGES:
        if entry.type in _SUMMARIES:
            text, others = split_content(entry.content)
            extra |= filled([("type", entry.type), ("content", others)])
            conversation.begin(Turn("system", [entry.summary or text], timestamp=entry.timestamp, extra=extra))
        return entry.type in _SUMMARIES
    value = line.value["message"]
    when = entry.timestamp or time_of_milliseconds(message.timestamp)
    extra |= filled([("message", rest_of(value, _Message))])
    if message.role == "toolResult":
        text, others = split_content(message.content)
        rest = filled([("content", others), ("timestamp", when)]) | extra
        held = message.content is not None
        code = _EXIT_CODE.search(text)
        exit_code = int(code[1]) if code else None
        conversation.result(ToolResult(text, message.is_error, exit_code, message.tool_call_id, rest, held))
        return True
    turn = conversation.say(_ROLES.get(message.role, "system"), [], when, extra)
    if message.role not in _ROLES:
        turn.extra["role"] = message.role
        turn.texts += [text for text in (message.command, message.output, message.summary) if text]
    _fill(conversation, turn, message, value)
    if turn.role == "user" and turn.texts:
        injected, turn.texts[0] = _split_injected(turn.texts[0])
        turn.extra |= filled([("injected", [injected] if injected else None)])
        if not any(turn.texts) and injected:
            turn.role, turn.texts = "system", [turn.extra.pop("injected")[0]]
    return True


def _split_injected(text: str) -> tuple[str, str]:
    """Return what the program put before a person's words, and these."""
    for opening, closing in _PUT_IN:
        if text.startswith(opening) and closing in text:
            before, _, own = text.rpartition(closing)
            return (before + closing).strip(), own.lstrip("\n")
    return "", text


def _fill(conversation: Conversation, turn: Turn, message: _Message, value: dict[str, Any]) -> None:
    others: list[Any] = []
    parts: list[Any] = message.content if isinstance(message.content, list) else [split_content(message.content)[0]]
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "thinking":
            turn.reasoning += [as_text(part.get("thinking"))]
            others += [rest] if (rest := without(part, "type", "thinking")) else []
        elif kind == "toolCall":
            name, identity = as_text(part.get("name")), text_or_none(part.get("id"))
            rest = without(part, "type", "id", "name", "arguments")
            conversation.call(turn, tool_call(name, part.get("arguments"), identity, rest))
        else:
            texts, more = text_and_others(part)
            turn.texts += texts
            others += more
    turn.extra |= filled([("content", others)])
    if message.usage is not None:
        used = message.usage
        cost = amount(used.cost.total) if used.cost else None
        turn.tokens = cached_tokens(used.input, used.cache_read, used.cache_write, used.output, cost)
        turn.extra |= filled([("usage", value["usage"])])
