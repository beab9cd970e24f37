"""opencode sessions (github.com/sst/opencode, now anomalyco/opencode): what `opencode export` writes, and the database.

    {"info": {"id": "ses_1", "directory": "/home/kim/app", "title": "Rename", "version": "1.0.0",
              "time": {"created": 1767607200000, "updated": 1767607260000}},
     "messages": [
      {"info": {"id": "msg_1", "role": "user", "time": {"created": 1767607200000}},
       "parts": [{"id": "prt_1", "type": "text", "text": "Rename the flag"}]},
      {"info": {"id": "msg_2", "role": "assistant", "modelID": "gpt-x", "providerID": "openai", "cost": 0.001,
                "time": {"created": 1767607201000, "completed": 1767607209000}, "tokens":
                {"input": 40, "output": 7, "reasoning": 3, "cache": {"read": 50, "write": 0}}},
       "parts": [{"id": "prt_2", "type": "tool", "callID": "c1", "tool": "bash", "state":
                  {"status": "completed", "input": {"command": "ls"}, "output": "a.py", "metadata": {"exit": 0}}}]}]}

The types are in `packages/opencode/src/session/message-v2.ts`. The database `opencode.db`, of version 1.2 (2026) and
later, is read as one such line a session (tables in `session.sql.ts` beside it). Earlier versions keep a file for each
piece, of which `opencode export` makes one. Each answer of the model is a step (a message holds several between
`step-start` and `step-finish`).

Read beside `prompt.ts`, `processor.ts` and `compaction.ts` there (31e22f65, fe072387): a compaction drops nothing. The
message that asks for it, the question that it asks once more and what a plug-in shows are the program's; a command that
the person ran (`!ls`) is no call of the agent's; a call that was interrupted has not failed.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.databases import MARK, decode_session
from misstep_harness.readers.input.decoding import convert, decode_lines, name_of
from misstep_harness.readers.input.fields import (
    amount,
    at,
    filled,
    kept_line,
    rest_of,
    text_or_none,
    time_of_milliseconds,
    whole,
    without,
)
from misstep_harness.readers.interchange.content import as_text, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn, cached_tokens
from misstep_harness.trajectory import Role, Source, Tokens, ToolResult, Trajectory

FORMAT = "opencode"
UNIT: Unit = "value"

_RUN_BY_USER = "The following tool was executed by the user"
_REFUSED = "invalid"
"""The tool that opencode names for a call of an unknown tool, or with arguments that are not an object."""


class _Cache(Struct):
    read: int | None = None
    write: int | None = None


class _Usage(Struct):
    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    total: int | None = None
    cache: _Cache | None = None


class _Time(Struct):
    created: Any = None
    completed: Any = None


_NEVER = _Time()


class _Info(Struct):
    id: str | None = None
    role: str = ""
    time: _Time | None = None
    cost: Any = None
    tokens: _Usage | None = None
    summary: Any = None
    model: str | None = field(default=None, name="modelID")


class _Message(Struct):
    info: _Info
    parts: list[Any] | None = None


class _Session(Struct):
    info: dict[str, Any]
    messages: list[Any]


class _State(Struct):
    status: str = ""
    input: Any = None
    output: Any = None
    error: Any = None


class _Part(Struct):
    type: str = ""
    id: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    command: str | None = None
    overflow: bool | None = None
    call: str | None = field(default=None, name="callID")
    tool: str = ""
    state: _State | None = None
    cost: Any = None
    tokens: _Usage | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no opencode sessions."""
    first = sample.first
    if not isinstance(first, dict):
        return "not a JSON object"
    if MARK in first:
        return None if first[MARK] == FORMAT else f"a database of {str(first[MARK])[:40]!r}"
    info, messages = first.get("info"), first.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list):
        if str(first.get("id", "")).startswith(("ses_", "msg_", "prt_")):
            return "one piece of a session of opencode's folder `storage`: give what `opencode export` writes"
        return "no `info` and list `messages`"
    if messages and not (isinstance(at(messages[0], "info"), dict) and isinstance(messages[0].get("parts"), list)):
        return "its messages have no info and parts"
    return None if messages or "id" in info else "no message, and a session without an id"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the session in one document or line."""
    value, session = decode_session(data, source, _Session)
    reading = Reading(source)
    for raw in session.messages:
        reading.place(raw)
    info = dict(session.info)
    identity, parent = text_or_none(info.pop("id", None)), text_or_none(info.get("parentID"))
    yield reading.conversation.trajectory(
        identity or name_of(source),
        source,
        agent="opencode",
        model=reading.model,
        parent=parent or None,
        extra=filled([("session", info)]) | rest_of(value, _Session, MARK),
    )


class Reading:
    """Read one session, message by message."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.conversation = Conversation()
        self.model: str | None = None
        self._asked: set[str] = set()
        self._asks_again = False
        self._run_by_user: set[str | None] = set()

    def place(self, raw: Any) -> None:
        """Put one message where it belongs."""
        message = convert(raw, _Message, self.source)
        info = message.info
        more = rest_of(raw["info"], _Info) | rest_of(raw, _Message)
        extra = filled([("id", info.id), ("time", rest_of(raw["info"].get("time") or {}, _Time))]) | more
        parts = [(convert(part, _Part, self.source), part) for part in message.parts or []]
        if info.role == "assistant":
            self.model = self.model or info.model
            self._place_answers(info, parts, extra)
        else:
            self._place_asked(info, parts, extra)

    def _begin(self, role: Role, info: _Info, extra: dict[str, Any]) -> Turn:
        return self.conversation.say(role, [], time_of_milliseconds((info.time or _NEVER).created), extra)

    def _place_asked(self, info: _Info, parts: list[tuple[_Part, dict[str, Any]]], extra: dict[str, Any]) -> None:
        texts = [part for part, _ in parts if part.type == "text" and part.text]
        own, injected = (
            [part.text or "" for part in texts if bool(part.synthetic or part.ignored) is put_in]
            for put_in in (False, True)
        )
        own += [f"/{part.command}" for part, _ in parts if part.type == "subtask" and part.command]
        if self._asks_again and own and own[0] in self._asked:
            own, injected = [], own + injected
        compacts = [part for part, _ in parts if part.type == "compaction"]
        self._asks_again = any(part.overflow for part in compacts)
        self._asked |= set(own[:1])
        if injected == [_RUN_BY_USER]:
            self._run_by_user.add(info.id)
        others = [raw for part, raw in parts if part.type != "text" or rest_of(raw, _Part, "messageID", "sessionID")]
        typed = info.role == "user" and (bool(own) or not (injected or compacts))
        extra |= filled([("role", None if typed else info.role), ("summary", info.summary), ("content", others)])
        turn = self._begin("user" if typed else "system", info, extra)
        turn.texts = own if typed else own + injected
        turn.extra |= filled([("injected", injected if typed else None)])

    def _place_answers(self, info: _Info, parts: list[tuple[_Part, dict[str, Any]]], extra: dict[str, Any]) -> None:
        not_by_agent = info.summary is True or extra.get("parentID") in self._run_by_user
        role: Role = "system" if not_by_agent else "agent"
        first = turn = self._begin(role, info, extra | filled([("summary", info.summary)]))
        counted = False
        for part, raw in parts:
            if part.type == "step-start" and (turn.texts or turn.reasoning or turn.calls):
                turn = self._begin(role, info, filled([("id", info.id)]))
            if part.type == "step-finish":
                counted = True
                turn.tokens = _tokens(part.tokens, part.cost)
            self._add_part(turn, part, raw)
        if not counted and (info.tokens is not None or info.cost is not None):
            turn.tokens = _tokens(info.tokens, info.cost)
        created, completed = map(amount, astuple(info.time or _NEVER))
        if turn is first and created is not None and completed is not None:
            turn.seconds = max(0.0, (completed - created) / 1000)

    def _add_part(self, turn: Turn, part: _Part, raw: dict[str, Any]) -> None:
        rest = rest_of(raw, _Part, "messageID", "sessionID")
        if part.type == "tool":
            self._add_call(turn, part, rest, raw)
            return
        if part.type == "text" and not part.synthetic:
            turn.texts += [part.text] if part.text else []
        elif part.type == "reasoning":
            turn.reasoning += [part.text] if part.text else []
        elif part.type in ("step-start", "step-finish"):
            rest |= filled([("tokens", raw.get("tokens"))])
        else:
            turn.extra.setdefault("content", []).append(raw)
            return
        if rest:
            turn.extra.setdefault("content", []).append({"type": part.type} | rest)

    def _add_call(self, turn: Turn, part: _Part, rest: dict[str, Any], raw: dict[str, Any]) -> None:
        state = part.state or _State()
        given = None if state.status == "pending" and not state.input else state.input
        call = tool_call(part.tool, given, part.call, filled([("id", part.id)]) | rest)
        refused = part.tool == _REFUSED
        if refused:
            why = text_or_none(at(state.input, "error")) or "the call could not be read"
            call = replace(call, name=text_or_none(at(state.input, "tool")) or part.tool, parse_error=why)
        self.conversation.call(turn, call)
        if state.status not in ("completed", "error") and state.output is None and state.error is None:
            return
        failed = state.status == "error" or refused
        printed = state.error if failed and state.error is not None else state.output
        more = rest_of(raw["state"], _State)
        is_error = None if at(more, "metadata", "interrupted") is True else failed
        code = whole(at(more, "metadata", "exit"))
        self.conversation.result(ToolResult(as_text(printed), is_error, code, part.call, more, printed is not None))


def _tokens(usage: _Usage | None, cost: Any) -> Tokens:
    if usage is None:
        return Tokens(cost_usd=amount(cost))
    cache = usage.cache or _Cache()
    apart = usage.total is not None and usage.output is not None  # since there is a total, thoughts are counted apart
    answered = (usage.output or 0) + (usage.reasoning or 0) if apart else usage.output
    return cached_tokens(usage.input, cache.read, cache.write, answered, amount(cost))


_STREAM_FIELDS = ("type", "timestamp", "sessionID", "part")


class OpencodeStreamReader:
    """What `opencode run --format json` prints: JSON Lines of the parts of its answers.

        {"type": "step_start", "timestamp": 1767607201000, "sessionID": "ses_1",
         "part": {"id": "prt_1", "messageID": "msg_2", "type": "step-start"}}
        {"type": "tool_use", "timestamp": 1767607202000, "sessionID": "ses_1", "part": {"id": "prt_2",
         "messageID": "msg_2", "type": "tool", "callID": "c1", "tool": "bash", "state": {"status": "completed",
         "input": {"command": "ls"}, "output": "a.py", "metadata": {"exit": 0}}}}

    The parts are those of a session, without the person's words and the model (`packages/opencode/src/cli/cmd/run.ts`).
    """

    FORMAT = "opencode_stream"
    UNIT: Unit = "file"

    def refuse(self, sample: Sample) -> str | None:
        """Return why the file is not a stream of opencode."""
        first = sample.first
        if not isinstance(first, dict):
            return "not JSON objects, one a line"
        named = isinstance(first.get("sessionID"), str) and isinstance(first.get("type"), str)
        has_part = isinstance(first.get("part"), dict) or first.get("type") == "error"
        return None if named and has_part else "the first line has no type, sessionID and part"

    def read(self, data: bytes, source: Source) -> Iterator[Trajectory]:
        """Return the one run of a file."""
        lines = decode_lines(data, source)
        messages: dict[Any, dict[str, Any]] = {}
        others: list[dict[str, Any]] = []
        identity = None
        for number, value in lines.values:
            part = at(value, "part")
            if not isinstance(part, dict):
                others.append(kept_line(number, value))
                continue
            identity = identity or value.get("sessionID")
            name = str(part.get("messageID"))
            info = {"id": name, "role": "assistant", "time": {"created": value.get("timestamp")}}
            messages.setdefault(name, {"info": info, "parts": []})["parts"].append(part)
            if rest := without(value, *_STREAM_FIELDS):
                others.append(kept_line(number, rest))
        reading = Reading(source)
        for message in messages.values():
            reading.place(message)
        extra = filled([("other_lines", others), ("unfinished_line", lines.unfinished)])
        named = text_or_none(identity) or name_of(source)
        yield reading.conversation.trajectory(named, source, agent="opencode", extra=extra)


STREAM = OpencodeStreamReader()
