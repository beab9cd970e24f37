"""Gemini CLI sessions: JSON Lines that patch each other; in older versions one document.

    {"sessionId": "s1", "projectHash": "9f", "startTime": "2026-01-05T10:00:00Z", "kind": "main"}
    {"id": "m1", "timestamp": "…", "type": "user", "content": [{"text": "Rename the flag"}]}
    {"id": "m2", "timestamp": "…", "type": "gemini", "content": "", "model": "gemini-x", "thoughts":
     [{"subject": "Look", "description": "First list files."}], "tokens": {"input": 90, "output": 7, "cached": 0},
     "toolCalls": [{"id": "c1", "name": "list_directory", "args": {"path": "."}, "status": "success",
      "result": [{"functionResponse": {"id": "c1", "name": "list_directory", "response": {"output": "a.py"}}}]}]}
    {"$set": {"lastUpdated": "…"}}

A message with a known id replaces the earlier one in its place (fields that it lacks stay); `$set` replaces fields of
the session; `$rewindTo` drops the messages from an id on. The document is `{"sessionId", "messages": […]}`. What tools
answered is in the call and again in a user line of `functionResponse` parts: one result.

Read beside the program's recorder at 0.56.0 (5411f113): `$set.messages` is the history that it sends from then on,
after a compression, a masked output, an aborted turn or a rewind. What that leaves out or shortens happened and stays a
step; a summary is the program's. So are contents of `@file`, context of hooks and editors, and notes on loops. The file
of a sub-agent is in a folder named by the session that began it.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_document_or_lines
from misstep_harness.readers.input.fields import at, filled, kept_line, rest_of, text_or_none, without
from misstep_harness.readers.interchange.content import as_text, split_content, text_and_others, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Role, Source, Tokens, ToolResult, Trajectory

FORMAT = "gemini_cli"
UNIT: Unit = "file"

_HEADER = ("projectHash", "startTime", "lastUpdated", "kind")
_WRITTEN_BY_PROGRAM = (
    "<session_context>",
    "<environment_context>",
    "This is the Gemini CLI. We are setting up",
    "<hook_context>",
    "<system_note>",
    "<state_snapshot>",
    "<intent_summary>",
    "### [System Note: Conversation History Truncated]",
    "- **Workspace Directories:**",
    "Here is the user's editor context as a JSON object.",
    "Here is a summary of changes in the user's editor context,",
    "System: Potential loop detected.",
    "Background execution update:\n<background_output>",
    "I ran the following shell command:\n```sh",
    "User has manually exited Plan Mode. Switching to",
)
_CONTINUATION = "Please continue."
_ANSWERED_BY_PROGRAM = (
    "Got it. Thanks for the additional context!",
    "[The previous response was interrupted before it completed.]",
    "Binary content received. Proceeding with analysis.",
)
_REFERENCED = re.compile(r"^--- Content from referenced (?:files|context) ---$", re.MULTILINE)
_HINT = re.compile(r"\s*User (?:steering update|hints):\n<user_input>\n(.*)\n</user_input>", re.DOTALL)
_FAILED = {"error": True, "success": False}
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)
_OF_SHELL, _AFTER_OUTPUT = ("Output: ", "Command: "), 500


class _Usage(Struct):
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    thoughts: int | None = None


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
    display_content: Any = None
    thoughts: list[Any] | None = None
    tokens: _Usage | None = None
    model: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Session(Struct):
    line: int
    header: dict[str, Any]
    messages: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    others: list[dict[str, Any]] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)


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
    path = PurePath(source.file)
    begun_by = path.parent.name if header.get("kind") == "subagent" and path.parent.name != "chats" else None
    return conversation.trajectory(
        path.stem if identity is None else identity,
        source,
        agent="gemini-cli",
        model=model,
        parent=begun_by or None,
        extra=filled(fields),
    )


def _apply(session: _Session, number: int, value: Any) -> None:
    if not isinstance(value, dict):
        session.others.append(kept_line(number, value))
    elif isinstance(value.get("$set"), dict):
        _describe(session, value["$set"])
        _take_history(session, number, value["$set"].get("messages"))
        _keep_rest(session, number, value, "$set")
    elif (target := session.copies.get(rewound := as_text(value.get("$rewindTo")), rewound)) in session.messages:
        name = None
        while name != target:
            name, (_, dropped) = session.messages.popitem()
            session.others.append({"line": number, "rewound": dropped})
        _keep_rest(session, number, value, "$rewindTo")
    elif "sessionId" in value and "type" not in value:
        _describe(session, value)
        for identity, message in _listed(session, number, value.get("messages")):
            session.messages[identity] = (number, message)
    elif isinstance(value.get("type"), str):
        identity = _identity(value, f"line {number}")
        identity = session.copies.get(identity, identity)
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


def _describe(session: _Session, fields: dict[str, Any]) -> None:
    session.header |= {name: field for name, field in fields.items() if name != "messages"}


def _listed(session: _Session, number: int, messages: Any) -> list[tuple[str, dict[str, Any]]]:
    listed = []
    for place, message in enumerate(messages if isinstance(messages, list) else []):
        if isinstance(message, dict):
            listed.append((_identity(message, f"line {number}, {place}"), message))
        else:
            session.others.append(kept_line(number, message))
    return listed


def _take_history(session: _Session, number: int, messages: Any) -> None:
    """Add what a history that was written over an earlier one says for the first time.

    A history without ids is first written anew, message by message: copies of what is there.
    """
    listed = _listed(session, number, messages)
    names = [identity for identity, _ in listed]
    written_anew = list(session.messages)[-len(names) :] == names
    originals: dict[str, list[str]] = {}
    for name, (_, message) in session.messages.items():
        if name not in names:
            originals.setdefault(_content(message), []).append(name)
    for identity, message in listed:
        known = identity in session.messages
        if (written_anew or not known) and (same := originals.get(_content(message))):
            session.messages.pop(identity, None)
            session.copies[identity] = same.pop(0)
        elif not known:
            by_program = {"type": "history"} if message.get("type") == "user" else {}
            session.messages[identity] = (number, message | by_program)


def _content(message: dict[str, Any]) -> str:
    """Return by what a message and its copy in a history are the same: the calls, the answers or the text."""
    parts = _parts(message.get("content"))
    calls = _parts(message.get("toolCalls")) or [at(part, "functionCall") for part in parts]
    for made in (calls, [at(part, "functionResponse") for part in parts]):
        if names := [as_text(at(one, "id")) for one in made if at(one, "id")]:
            return " ".join(sorted(names))
    spoken = split_content([part for part in parts if at(part, "thought") is not True])[0]
    return f"{message.get('type')} {spoken.strip()}"


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [] if content is None else [content]


def _add(conversation: Conversation, message: _Message, value: dict[str, Any]) -> list[dict[str, Any]]:
    extra = filled([("id", message.id)]) | rest_of(value, _Message)
    if message.type in ("gemini", "model", "assistant"):
        _add_agent(conversation, message, value, extra)
        return []
    parts = _parts(message.content)
    responses = [part for part in parts if isinstance(part, dict) and "functionResponse" in part]
    for response in (part["functionResponse"] for part in responses):
        call_id = text_or_none(at(response, "id"))
        turn = conversation.maker(call_id)
        if turn is None or all(result.call_id != call_id for result in turn.results):
            conversation.result(_result([{"functionResponse": response}], call_id, None))
    text, others = split_content([part for part in parts if part not in responses])
    if not text and not others:
        return [extra] if rest_of(value, _Message) else []
    own, injected = _own_words(message, parts)
    typed = message.type == "user" and (bool(own) or not (injected or responses))
    extra |= filled([("content", others), ("type", None if typed else message.type)])
    extra |= filled([("injected", injected if typed else None)])
    words = "\n".join(own) if typed else text
    conversation.begin(Turn("user" if typed else "system", [words], timestamp=message.timestamp, extra=extra))
    return []


def _own_words(message: _Message, parts: list[Any]) -> tuple[list[str], list[str]]:
    """Return what a person typed, and what the program put into the message or made of it."""
    own, injected = _split_words(parts)
    if message.display_content is None or not own:
        return own, injected
    typed, _ = _split_words(_parts(message.display_content))
    if own == [_CONTINUATION] and typed != own:
        return [], own
    return typed, [*(text for text in own if text not in typed), *injected]


def _split_words(parts: list[Any]) -> tuple[list[str], list[str]]:
    own: list[str] = []
    injected: list[str] = []
    texts = [split_content(part)[0] for part in parts]
    for place, text in enumerate(texts):
        if referenced := _REFERENCED.search(text):
            own.append(text[: referenced.start()].rstrip("\n"))
            injected += [text[referenced.start() :], *texts[place + 1 :]]
            break
        hint = _HINT.match(text)
        own += [hint[1]] if hint else []
        (injected if hint or text.lstrip().startswith(_WRITTEN_BY_PROGRAM) else own).append(text)
    return [text for text in own if text], [text for text in injected if text]


def _add_agent(conversation: Conversation, message: _Message, value: dict[str, Any], extra: dict[str, Any]) -> None:
    parts = _parts(message.content)
    called = [part for part in parts if isinstance(at(part, "functionCall"), dict)]
    thoughts = [part for part in parts if at(part, "thought") is True]
    text, others = split_content([part for part in parts if part not in called and part not in thoughts])
    thought_of = [as_text(at(part, "text")) for part in thoughts]
    role: Role = "system" if (text or "".join(thought_of)) in _ANSWERED_BY_PROGRAM else "agent"
    turn = conversation.say(role, [text], message.timestamp, extra | filled([("content", others)]))
    for thought in message.thoughts or []:
        heading = [thought.get("subject"), thought.get("description")] if isinstance(thought, dict) else [thought]
        turn.reasoning.append(": ".join(as_text(part) for part in heading if part))
    turn.reasoning = turn.reasoning or thought_of
    if message.tokens is not None:
        usage = message.tokens
        answered = usage.output if usage.output is None else usage.output + (usage.thoughts or 0)
        turn.tokens = Tokens(usage.input, answered, usage.cached)
        turn.extra |= filled([("tokens", without(value["tokens"], "input", "output", "cached"))])
    for call, raw in zip(message.tool_calls or [], value.get("toolCalls") or [], strict=True):
        rest = rest_of(raw, _ToolCall) | filled([("status", call.status), ("timestamp", call.timestamp)])
        conversation.call(turn, tool_call(call.name, call.args, call.id, rest))
        if call.result is not None or _FAILED.get(call.status or ""):
            conversation.result(_result(call.result, call.id, _FAILED.get(call.status or "")))
    for made in (part["functionCall"] for part in called):
        arguments = {} if made.get("args") is None else made["args"]
        conversation.call(turn, tool_call(as_text(made.get("name")), arguments, text_or_none(made.get("id"))))


def _result(result: Any, call_id: str | None, is_error: bool | None) -> ToolResult:
    texts: list[str] = []
    others: list[Any] = []
    for part in result if isinstance(result, list) else [result]:
        body = at(part, "functionResponse", "response")
        if isinstance(body, dict) and ("error" in body or "output" in body):
            printed = body.get("error", body.get("output"))
            cancelled = isinstance(printed, str) and printed.startswith("[Operation Cancelled]")
            is_error = True if "error" in body and not cancelled else is_error
            texts += [] if printed is None else [as_text(printed)]
            others += [body] if len(body) > 1 else []
        elif body is not None:
            texts.append(as_text(body))
        else:
            own, rest = text_and_others(part)
            texts += own
            others += rest
    held = bool(texts or others or result == [])
    text = "\n".join(texts)
    printed = _EXIT_CODE.findall(text[-_AFTER_OUTPUT:]) if text.startswith(_OF_SHELL) else []
    code = int(printed[-1]) if printed else None
    return ToolResult(text, is_error, code, call_id, filled([("content", others)]), held)
