r"""Codex rollouts: JSON Lines `{timestamp, type, payload}`, one file a session; older ones without that wrapper.

    {"timestamp": "2026-01-05T10:00:00Z", "type": "session_meta", "payload": {"id": "s1", "cwd": "/home/kim/app"}}
    {"timestamp": "…", "type": "response_item", "payload": {"type": "message", "role": "user",
     "content": [{"type": "input_text", "text": "Rename the flag"}]}}
    {"timestamp": "…", "type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": "c1",
     "arguments": "{\"command\": [\"ls\"]}"}}
    {"timestamp": "…", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1",
     "output": "{\"output\": \"a.py\", \"metadata\": {\"exit_code\": 0}}"}}
    {"timestamp": "…", "type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": {},
     "last_token_usage": {"input_tokens": 90, "cached_input_tokens": 50, "output_tokens": 7}}}}

In the older layout the first line is the bare `{"id", "timestamp", "instructions"}` and the others are bare payloads of
`response_item`; the oldest is one document `{"session": {}, "items": []}`. An event that repeats the text of a message
is not counted again. What a forked session repeats of its `parent` is in `extra["replayed_lines"]` and counts there.

Read beside the program's recorder and its fragments of context (openai/codex, `codex-rs`, to 0136a731 and 109c40de): a
compaction and a rollback drop nothing from the file, and what was rolled back stays in the steps. Whether a tool of
another server or a patch failed is said by an event alone. Messages of other agents are the system's.

The lines of a Codex rollout parted into its sessions, and what a session replays of an earlier one.

A session begins with a `session_meta` of an id of its own. A forked one opens with the `session_meta` of the session
that it comes from and a copy of what was said there, under the time of the copying::

    {"timestamp": "…T10:00:00.001Z", "type": "session_meta", "payload": {"id": "s2", "forked_from_id": "s1"}}
    {"timestamp": "…T10:00:00.002Z", "type": "session_meta", "payload": {"id": "s1"}}
    {"timestamp": "…T10:00:00.003Z", "type": "response_item", "payload": {…}}       what s1 has said, once more
    {"timestamp": "…T10:00:41.000Z", "type": "response_item", "payload": {…}}       what s2 says

The end of the copy is told by the earlier session if it is in the same file; else by the session's own `session_meta`
if that is repeated; else by the time. If none of them tells it, nothing is taken for a copy and turns count in both
files.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_document_or_lines
from misstep_harness.readers.input.fields import at, filled, first_whole, rest_of, text_or_none, without
from misstep_harness.readers.interchange.content import as_text, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Role, Source, Tokens, ToolCall, ToolResult, Trajectory

COPIED_WITHIN = timedelta(seconds=1)
"""A copy is written at once: what is stamped later after the fork was said in the session itself."""

_SPEECH = ("response_item", "event_msg", "compacted")


class RolloutLine(Struct):
    """One line: its number, its kind, and what it holds."""

    number: int
    kind: str
    timestamp: str | None
    payload: dict[str, Any]

    @property
    def describes(self) -> str | None:
        """Return the id of the session that the line describes."""
        identity = self.payload.get("id") or self.payload.get("session_id")
        return identity if self.kind == "session_meta" and isinstance(identity, str) else None


class Session(Struct):
    """The entries of one session in order; apart from them those that repeat what was said before."""

    entries: list[RolloutLine] = field(default_factory=list)
    replayed: list[RolloutLine] = field(default_factory=list)
    begin: RolloutLine | None = None
    origins: set[str] = field(default_factory=set)

    @property
    def first_line(self) -> int:
        """Return the number of the line with which the session begins."""
        return min(entry.number for entry in [*self.entries[:1], *self.replayed[:1]])

    @property
    def last_line(self) -> int:
        """Return the number of the last line."""
        return max(entry.number for entry in [*self.entries[-1:], *self.replayed[-1:]])


def sessions_of(entries: Iterable[RolloutLine]) -> list[Session]:
    """Return the sessions in a file, in the order in which they begin; at least one."""
    current = Session()
    by_name: dict[str | None, Session] = {None: current}
    silent = True
    for entry in entries:
        named = entry.describes
        if named is not None and current.begin is None and silent:
            current.begin = entry
            by_name = {named: current}
        elif named is not None and not (silent and named in current.origins):
            current = by_name.setdefault(named, Session(begin=entry))
            silent = not current.entries
        if entry.kind == "session_meta" and (origin := origin_of(entry.payload)) is not None:
            current.origins.add(origin)
        silent = silent and entry.kind not in _SPEECH
        current.entries.append(entry)
    sessions = list(by_name.values())
    entries_of = {name: _Entry(session.entries) for name, session in by_name.items()}
    for session in sessions:
        length, start = _replayed(session, entries_of)
        session.replayed = session.entries[start : start + length]
        session.entries = session.entries[:start] + session.entries[start + length :]
    return sessions


def origin_of(described: dict[str, Any]) -> str | None:
    """Return the session that started one as a sub-agent, or from which it was forked."""
    return text_or_none(_spawned_by(described) or described.get("forked_from_id"))


def _spawned_by(described: dict[str, Any]) -> Any:
    return at(described, "source", "subagent", "thread_spawn", "parent_thread_id")


def _replayed(session: Session, entries_of: "dict[str | None, _Entry]") -> tuple[int, int]:
    """Return how many entries of a session repeat earlier ones, and the first of them."""
    begin, entries = session.begin, session.entries
    if begin is None:
        return 0, 0
    at_hand = [entries_of[name] for name in session.origins if name in entries_of and name != begin.describes]
    if at_hand:
        return max(_repeated(entries, earlier) for earlier in at_hand), 0
    again = (place for place, entry in enumerate(entries) if entry.describes == begin.describes and entry is not begin)
    own = next(again, None)
    if session.origins:
        stamped = 0 if _spawned_by(begin.payload) else _stamped_as_copied(begin, entries)
        return min(stamped or len(entries), stamped if own is None else own), 0
    if own is None:
        return 0, 0
    earlier = _Entry(entries[:own])
    return _repeated(entries[own:], earlier) if _all_repeated(entries[own:], earlier) else 0, own


class _Entry:
    def __init__(self, entries: list[RolloutLine]) -> None:
        self._entries = entries

    @cached_property
    def items(self) -> list[str]:
        return [_content(entry) for entry in self._entries if entry.kind in _SPEECH and entry.kind != "event_msg"]

    @cached_property
    def known(self) -> set[str]:
        return {_content(entry) for entry in self._entries if entry.kind in _SPEECH}


def _repeated(entries: list[RolloutLine], earlier: _Entry) -> int:
    """Return how many entries open with what was said earlier, in its order, word for word."""
    left = iter(earlier.items)
    length = 0
    for place, entry in enumerate(entries, 1):
        if entry.kind not in _SPEECH:
            continue
        content = _content(entry)
        if content not in earlier.known or (entry.kind != "event_msg" and content not in left):
            break
        length = place
    return length


def _all_repeated(entries: list[RolloutLine], earlier: _Entry) -> bool:
    opening = [_content(entry) for entry in entries if entry.kind in _SPEECH and entry.kind != "event_msg"]
    return len(earlier.items) > 1 and opening[: len(earlier.items)] == earlier.items


def _content(entry: RolloutLine) -> str:
    return f"{entry.kind} {as_text(entry.payload)}"


def _stamped_as_copied(begin: RolloutLine, entries: list[RolloutLine]) -> int:
    """Return how many entries were written when the session began, up to the words that its first answer is to."""
    stamps = [_time(entry.timestamp) for entry in entries]
    began = _time(begin.timestamp)
    if began is None or len({stamp for stamp in stamps if stamp is not None}) < 2:
        return 0
    late = (place for place, stamp in enumerate(stamps) if stamp is not None and stamp - began > COPIED_WITHIN)
    end = next((place for place in late if entries[place].kind in _SPEECH), len(entries))
    if end == len(entries) or _is_by_user(entries[end]):
        return end
    places = [place for place in range(end) if _is_by_user(entries[place])]
    return places[-1] if places else end


def _is_by_user(entry: RolloutLine) -> bool:
    return entry.payload.get("role") == "user" or entry.payload.get("type") == "user_message"


def _time(stamp: str | None) -> datetime | None:
    try:
        read = None if stamp is None else datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return None if read is None or read.tzinfo is None else read


def numbered(entries: Iterable[RolloutLine]) -> Iterator[dict[str, Any]]:
    """Return entries as they are kept with the steps."""
    return ({"line": entry.number, "type": entry.kind, "payload": entry.payload} for entry in entries)


FORMAT = "codex"
UNIT: Unit = "file"

_LINE_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_WRITTEN_BY_PROGRAM = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skills_instructions>",
    "<skill>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<external_",
    "<extension_context>",
    "<codex_internal_context",
    "<goal_context>",
    "<hook_prompt",
    "<recommended_plugins>",
    "Another language model started to solve this problem and produced a summary",
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via",
    "Warning: Your account was flagged for",
)
_IMAGE_TAG = re.compile(r"\s*</?image(?: [^>]*)?>\s*")
_OWN_REQUEST = "## My request for Codex:\n"
_EXIT_CODE = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})\s*$", re.MULTILINE)
_untyped = msgspec.json.Decoder()


class _Item(Struct):
    type: str = ""
    role: str | None = None
    content: Any = None
    summary: list[Any] | None = None
    name: str | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    call_id: str | None = None
    id: str | None = None
    output: Any = None


class _Usage(Struct):
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None


class _TokenInfo(Struct):
    total_token_usage: dict[str, Any] | None = None
    last_token_usage: _Usage | None = None


class _Event(Struct):
    type: str | None = None
    call_id: str | None = None
    message: Any = None
    text: Any = None
    info: _TokenInfo | None = None


class _Shell(Struct):
    output: str
    metadata: dict[str, Any]


_PAYLOADS: dict[str, Any] = {"response_item": _Item, "event_msg": _Event}


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a Codex rollout."""
    first = sample.first
    if not isinstance(first, dict):
        return "not JSON objects, one a line"
    if isinstance(first.get("session"), dict) and isinstance(first.get("items"), list):
        return None
    if "payload" in first:
        known = text_or_none(first.get("type")) in _LINE_TYPES
        return None if known else "lines with a payload, of a type unknown in rollouts"
    if {"id", "timestamp", "instructions"} <= first.keys() and "type" not in first:
        return None
    return "the first line is not a session_meta: neither type and payload, nor id, timestamp and instructions"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the trajectory of each session in the file, in the order in which they begin."""
    lines = decode_document_or_lines(data, source)
    sessions = sessions_of([_entry(number, value, source) for number, value in _flat(lines.values)])
    last = max(sessions, key=lambda session: session.last_line)
    for session in sessions:
        unfinished = filled([("unfinished_line", lines.unfinished if session is last else None)])
        place = source if len(sessions) == 1 else replace(source, line=session.first_line)
        yield _trajectory(session, place, unfinished)


def _trajectory(session: Session, source: Source, extra: dict[str, Any]) -> Trajectory:
    reading = _Reading(source)
    for entry in session.replayed:
        reading.skip(entry)
    for entry in session.entries:
        reading.look_ahead(entry)
    for entry in session.entries:
        reading.place(entry)
    described = reading.session if session.begin is None else session.begin.payload
    contexts = [*reading.contexts, *(entry.payload for entry in session.replayed if entry.kind == "turn_context")]
    named = text_or_none(described.get("id")) or text_or_none(described.get("session_id"))
    return reading.conversation.trajectory(
        named or PurePath(source.file).stem,
        source,
        agent="codex",
        model=next((text_or_none(context.get("model")) for context in contexts if context.get("model")), None),
        parent=origin_of(described),
        extra=reading.extra() | filled([("replayed_lines", list(numbered(session.replayed)))]) | extra,
    )


def _flat(values: tuple[tuple[int, Any], ...]) -> Iterator[tuple[int, Any]]:
    for number, value in values:
        if isinstance(value, dict) and isinstance(value.get("session"), dict) and isinstance(value.get("items"), list):
            yield number, value["session"]
            yield from ((number, item) for item in value["items"])
        else:
            yield number, value


def _entry(number: int, value: Any, source: Source) -> RolloutLine:
    if not isinstance(value, dict):
        return RolloutLine(number, "other", None, {"value": value})
    timestamp, payload = text_or_none(value.get("timestamp")), value.get("payload")
    if isinstance(payload, dict):
        kind = text_or_none(value.get("type")) or "other"
        around = without(value, "timestamp", "type", "payload")
        payload = payload | ({"line": around} if around else {})
    elif "record_type" in value or not isinstance(value.get("type"), str):
        kind, payload = ("session_meta" if "id" in value else "other"), value
    else:
        kind, payload = "response_item", value
    if kind in _PAYLOADS:
        convert(payload, _PAYLOADS[kind], source, number)
    return RolloutLine(number, kind, timestamp, payload)


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.conversation = Conversation()
        self.session: dict[str, Any] = {}
        self.contexts: list[dict[str, Any]] = []
        self.others: list[dict[str, Any]] = []
        self.totals: dict[str, Any] = {}
        self._open: Turn | None = None
        self._tokens: Tokens | None = None
        self._written: set[str] = set()
        self._events: dict[str, list[dict[str, Any]]] = {}
        self._calls: set[str] = set()

    def extra(self) -> dict[str, Any]:
        session = {name: value for name, value in self.session.items() if name != "id"}
        fields = [("session", session), ("turn_contexts", self.contexts), ("total_token_usage", self.totals)]
        return filled([*fields, ("other_lines", self.others)])

    def skip(self, entry: RolloutLine) -> None:
        if entry.kind == "session_meta" and not self.session:
            self.session = entry.payload
        elif entry.kind == "event_msg" and entry.payload.get("type") == "token_count":
            event = convert(entry.payload, _Event, self.source, entry.number)
            self.totals = (event.info and event.info.total_token_usage) or self.totals

    def look_ahead(self, entry: RolloutLine) -> None:
        """Note the texts of messages and the ids of calls, so that events that repeat them are known."""
        payload = entry.payload
        if entry.kind == "response_item":
            for name in ("content", "summary"):
                content = payload.get(name)
                texts = [split_content(part)[0] for part in (content if isinstance(content, list) else [content])]
                self._written |= {text.strip() for text in texts}
                self._written.add("".join(text for text in texts if not _IMAGE_TAG.fullmatch(text)).strip())
            if isinstance(payload.get("call_id"), str):
                self._calls.add(payload["call_id"])
        elif entry.kind == "event_msg" and isinstance(payload.get("call_id"), str):
            self._events.setdefault(payload["call_id"], []).append(payload)

    def place(self, entry: RolloutLine) -> None:
        if entry.kind == "response_item":
            self._place_item(entry, convert(entry.payload, _Item, self.source, entry.number))
        elif entry.kind == "event_msg":
            self._place_event(entry)
        elif entry.kind == "session_meta" and not self.session:
            self.session = entry.payload
        elif entry.kind == "turn_context":
            if not self.contexts or self.contexts[-1] != entry.payload:
                self.contexts.append(entry.payload)
        elif entry.kind == "compacted":
            extra = {name: value for name, value in entry.payload.items() if name != "message"}
            self._begin("system", entry, [as_text(entry.payload.get("message"))], {"compacted": True} | extra)
        elif entry.kind == "inter_agent_communication":
            text = as_text(entry.payload.get("content"))
            if text.strip() not in self._written:
                self._begin("system", entry, [text], without(entry.payload, "content"))
        else:
            self._keep(entry)

    def _keep(self, entry: RolloutLine, payload: dict[str, Any] | None = None) -> None:
        self.others += numbered([entry if payload is None else replace(entry, payload=payload)])

    def _begin(self, role: Role, entry: RolloutLine, texts: list[str], extra: dict[str, Any]) -> Turn:
        self._open = None
        return self.conversation.say(role, texts, entry.timestamp, extra)

    def _agent(self, entry: RolloutLine) -> Turn:
        if self._open is None:
            turn = self._begin("agent", entry, [], {})
            turn.tokens, self._tokens = self._tokens, None
            self._open = turn
        return self._open

    def _place_item(self, entry: RolloutLine, item: _Item) -> None:
        placed = ["timestamp"] if entry.payload.get("timestamp") == entry.timestamp else []
        rest = rest_of(entry.payload, _Item, *placed)
        if item.type == "message":
            self._place_message(entry, item, rest)
        elif item.type == "agent_message":
            self._begin("system", entry, [split_content(item.content)[0]], rest)
        elif item.type == "reasoning":
            turn = self._agent(entry)
            texts = [split_content(item.summary)[0], split_content(item.content)[0]]
            turn.reasoning += [text for text in texts if text]
            _keep_in(turn, "reasoning", filled([("id", item.id)]) | rest)
        elif item.type.endswith("_output"):
            self.conversation.result(self._result(item, rest))
            self._open = None
        elif item.type.endswith("_call"):
            self.conversation.call(self._agent(entry), _call(item, rest))
        else:
            self._keep(entry)

    def _place_message(self, entry: RolloutLine, item: _Item, rest: dict[str, Any]) -> None:
        text, others = split_content(item.content)
        extra = filled([("id", item.id), ("content", others)]) | rest
        if item.role == "assistant":
            turn = self._agent(entry)
            turn.texts += [text] if text else []
            _keep_in(turn, "messages", extra)
        elif item.role == "user":
            parts = item.content if isinstance(item.content, list) else [item.content]
            self._place_user(entry, [split_content(part)[0] for part in parts], extra)
        else:
            self._begin("system", entry, [text], extra | filled([("role", item.role)]))

    def _place_user(self, entry: RolloutLine, texts: list[str], extra: dict[str, Any]) -> None:
        injected = [
            text for text in texts if text.lstrip().startswith(_WRITTEN_BY_PROGRAM) or _IMAGE_TAG.fullmatch(text)
        ]
        own = "\n".join(text for text in texts if text and text not in injected)
        before, marker, request = own.partition(_OWN_REQUEST)
        if marker:
            injected, own = [*injected, before + marker], request
        if own or "content" in extra:
            self._begin("user", entry, [own], extra | filled([("injected", injected)]))
        else:
            self._begin("system", entry, ["\n".join(texts)], extra | {"role": "user"})

    def _result(self, item: _Item, rest: dict[str, Any]) -> ToolResult:
        output, success = item.output, None
        if isinstance(output, dict) and "content" in output:
            rest = rest | {name: value for name, value in output.items() if name not in ("content", "success")}
            success, output = output.get("success"), output["content"]
        text, others = split_content(output)
        extra = rest | filled([("content", others), ("events", self._events.get(item.call_id or ""))])
        shell = _shell(text)
        if shell is None:
            match = _EXIT_CODE.search(text[:1000].partition("\nOutput:\n")[0])
            exit_code = int(match[1]) if match else _exit_code(extra.get("events"))
        else:
            text, extra["metadata"] = shell.output, shell.metadata
            exit_code = _exit_code([shell.metadata])
        is_error = not success if isinstance(success, bool) else _failed(extra.get("events"))
        return ToolResult(text, is_error, exit_code, item.call_id, extra, output is not None)

    def _place_event(self, entry: RolloutLine) -> None:
        event = convert(entry.payload, _Event, self.source, entry.number)
        rest = rest_of(entry.payload, _Event)
        if event.type == "token_count":
            self._count(event.info or _TokenInfo())
        elif event.type in ("user_message", "agent_message", "agent_reasoning"):
            text = as_text(event.text if event.type == "agent_reasoning" else event.message)
            if text.strip() not in self._written:
                if event.type == "user_message":
                    self._place_user(entry, [text], {"event": event.type})
                else:
                    turn = self._agent(entry)
                    (turn.texts if event.type == "agent_message" else turn.reasoning).append(text)
        elif event.call_id in self._calls:
            return
        else:
            rest = entry.payload
        if rest:
            self._keep(entry, rest)

    def _count(self, info: _TokenInfo) -> None:
        """Count the tokens of one answer once: for the last turn without any, or the next."""
        if info.last_token_usage is None or info.total_token_usage == self.totals:
            return
        self.totals = info.total_token_usage or {}
        usage = info.last_token_usage
        tokens = Tokens(usage.input_tokens, usage.output_tokens, usage.cached_input_tokens)
        last = self.conversation.last_of_agent
        if last is not None and last.tokens is None:
            last.tokens = tokens
        else:
            self._tokens = tokens


def _keep_in(turn: Turn, name: str, extra: dict[str, Any]) -> None:
    if extra:
        turn.extra.setdefault(name, []).append(extra)


def _call(item: _Item, rest: dict[str, Any]) -> ToolCall:
    name = item.name or item.type.removesuffix("_call")
    extra = filled([("type", item.type), ("item_id", item.id if item.call_id else None)]) | rest
    call_id = item.call_id or item.id
    if item.type == "custom_tool_call":
        return tool_call(name, None if item.input is None else {"input": item.input}, call_id, extra)
    return tool_call(name, item.arguments if item.action is None else item.action, call_id, extra)


def _shell(text: str) -> _Shell | None:
    if not text.startswith("{"):
        return None
    try:
        return msgspec.convert(_untyped.decode(text), _Shell)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _failed(events: Any) -> bool | None:
    """Return whether an event says that a patch or a tool of another server failed; `None` if none does."""
    for event in events or []:
        outcome = event.get("result")
        of_server = isinstance(outcome, dict) and ("Err" in outcome or at(outcome, "Ok", "isError") is True)
        if event.get("success") is False or of_server:
            return True
    return None


def _exit_code(events: Any) -> int | None:
    return first_whole(entry.get("exit_code") for entry in events or [] if isinstance(entry, dict))
