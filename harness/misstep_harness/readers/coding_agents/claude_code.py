"""Claude Code sessions: JSON Lines, one file a session or a sub-agent; also one document `{"loglines": [...]}`.

    {"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s1", "isSidechain": false,
     "cwd": "/home/kim/app", "message": {"role": "user", "content": "Rename the flag"}}
    {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s1", "message":
     {"id": "m1", "role": "assistant", "model": "claude-x",
      "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}],
      "usage": {"input_tokens": 9, "cache_read_input_tokens": 100, "output_tokens": 5}}}
    {"type": "user", "uuid": "u3", "parentUuid": "u2", "sessionId": "s1", "toolUseResult": {"stdout": "a.py"},
     "message": {"role": "user", "content":
      [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py", "is_error": false}]}}

What a hook added to the context is an attachment; Misstep's own guidance in it is a system step::

    {"type": "attachment", "uuid": "u4", "attachment": {"type": "hook_additional_context", "hookEvent": "PostToolUse",
     "hookName": "PostToolUse:Bash", "toolUseID": "t1", "content": ["<system-reminder from=…>…"]}}

Lines streamed to a caller are the same, with `session_id` and `parent_tool_use_id` for `sessionId`, `isSidechain` and
`agentId`. Assistant lines with one message id are one turn, whose usage counts once. Only what a person typed is a user
step, and what the program adds a system step, or in `extra["injected"]` if it was put into the person's text. What a
session that was forked or taken up again repeats of its `parent` is in `extra["replayed_lines"]`.

The program's source is closed: read beside the message types of its public SDK and public descriptions of files up to
2.1.230. Nothing is dropped by a compaction; a branch that was rewound is in the file and stays in its steps.

The lines of a Claude Code session file: their fields, the sessions and sub-agents that they are of.

A session that was taken up in a new file opens with the lines of the earlier one; a forked one says where they are
from::

    {"type": "user", "uuid": "u9", "sessionId": "s2", "forkedFrom": {"sessionId": "s1", "messageUuid": "u1"},
     "message": {"role": "user", "content": "Rename the flag"}}

Lines copied under the new session's id, without `forkedFrom`, look like its own and count in both files.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.coding_agents.cursor_agent import is_stream
from misstep_harness.readers.input.decoding import convert, decode_document_or_lines, unreadable
from misstep_harness.readers.input.fields import at, filled, kept_line, rest_of, text_or_none
from misstep_harness.readers.interchange.content import Block, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn, cached_tokens
from misstep_harness.reminder import own_reminders
from misstep_harness.trajectory import Role, Source, ToolResult, Trajectory


class Written(Struct):
    """Tokens of one answer that were written to the cache, by how long they are kept."""

    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class Usage(Struct):
    """Tokens of one answer."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: Written | None = None

    @property
    def written(self) -> tuple[int | None, int | None]:
        """Return the tokens that were written to the cache, and those of them that are kept for an hour."""
        apart = self.cache_creation or Written()
        short, hour = apart.ephemeral_5m_input_tokens, apart.ephemeral_1h_input_tokens
        if short is None and hour is None:
            return self.cache_creation_input_tokens, None
        whole = (short or 0) + (hour or 0)
        return max(whole, self.cache_creation_input_tokens or 0), hour or 0


class Message(Struct):
    """The message of a turn."""

    role: str | None = None
    id: str | None = None
    model: str | None = None
    content: str | list[Any] | None = None
    usage: Usage | None = None


class SessionFileLine(Struct, rename="camel"):
    """The fields of a line that say what it is and whose."""

    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    streamed_session: str | None = field(default=None, name="session_id")
    parent_tool_use: str | None = field(default=None, name="parent_tool_use_id")
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    is_synthetic: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    origin: Any = None
    message: Message | None = None
    content: Any = None
    attachment: Any = None
    timestamp: str | None = None
    tool_use_result: Any = None

    @property
    def written_by(self) -> str | None:
        """Return who wrote the words of a user's line, by newer versions: `human`, or a part of the program."""
        return text_or_none(at(self.origin, "kind"))

    @property
    def is_by_program(self) -> bool:
        """Whether a user's line says that no person typed it."""
        marks = (self.is_meta, self.is_compact_summary, self.is_synthetic, self.is_visible_in_transcript_only)
        return any(marks) or self.written_by not in (None, "human")


class SessionLine(Struct):
    """A line with its number, unchanged."""

    number: int
    line: SessionFileLine
    value: dict[str, Any]


def session_of(entry: SessionLine) -> str | None:
    """Return the session that a line is from: of a copied one, that in which it was first written."""
    forked = entry.value.get("forkedFrom")
    named = forked.get("sessionId") if isinstance(forked, dict) else None
    return named if isinstance(named, str) else entry.line.session_id or entry.line.streamed_session


def by_session(entries: list[SessionLine], name: str) -> tuple[dict[str, list[SessionLine]], list[SessionLine]]:
    """Return the lines of each session in a file (without a name: of the one before), and those that it repeats."""
    named = [entry.line.session_id or entry.line.streamed_session for entry in entries]
    current = next(filter(None, named), name)
    start = named.index(name) if name in named else 0
    later = set(named[start:])
    sessions: dict[str, list[SessionLine]] = {}
    replayed: list[SessionLine] = []
    for entry, session in zip(entries, named, strict=True):
        current = session or current
        if isinstance(entry.value.get("forkedFrom"), dict) or (session is not None and session not in later):
            replayed.append(entry)
        else:
            sessions.setdefault(name if current not in later else current, []).append(entry)
    return sessions, replayed


def by_agent(entries: list[SessionLine], seen: set[str]) -> dict[str | None, list[SessionLine]]:
    """Return the lines of the session (None) and of each sub-agent, in order; a line written twice counts once."""
    groups: dict[str | None, list[SessionLine]] = {}
    roots: dict[str, str] = {}
    for entry in entries:
        line = entry.line
        if line.uuid is not None:
            if line.uuid in seen:
                continue
            seen.add(line.uuid)
        agent = line.parent_tool_use
        if line.is_sidechain:
            root = roots.get(line.parent_uuid or "", line.uuid or f"line-{entry.number}")
            if line.uuid is not None:
                roots[line.uuid] = root
            agent = line.agent_id or root
        groups.setdefault(agent, []).append(entry)
    return groups


FORMAT = "claude_code"
UNIT: Unit = "file"

_LINE_TYPES = frozenset(
    {"user", "assistant", "system", "result", "summary", "attachment", "progress", "queue-operation", "last-prompt"}
    | {"file-history-snapshot", "custom-title", "ai-title", "agent-name", "permission-mode", "pr-link", "mode", "tag"}
)
_SESSION_FIELDS = ("cwd", "version", "gitBranch", "userType", "entrypoint", "slug", "sessionKind")
_CALL_BLOCKS = ("tool_use", "server_tool_use", "mcp_tool_use")
_INJECTED_BLOCKS = ("system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics")
_WRAPPERS = (
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-",
    "<bash-",
    "<user-memory-input>",
    "<user-prompt-submit-hook>",
    "<task-notification>",
    "<teammate-message",
    "<agent-message",
    "<cross-session-message",
    "<channel ",
    "<tick>",
    "[SYSTEM NOTIFICATION",
    "Caveat: The messages below were generated by the user while running local commands",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
)
_OF_QWEN_CODE = ('"message":{"role":"user","parts":', '"message":{"role":"model","parts":')
_COMMAND = re.compile(r"<command-name>([^<]*)</command-name>")
_EXIT_CODE = re.compile(r"\s*(?:Error: )?Exit code:? (\d{1,3})\b")


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a Claude Code session."""
    first = sample.first
    if not isinstance(first, dict):
        return "not JSON objects, one a line"
    if sample.shape == "document" and isinstance(first.get("loglines"), list):
        return None
    kind = first.get("type")
    if not isinstance(kind, str):
        return "the first line has no `type` such as user, assistant or summary"
    if is_stream(first):
        return "a stream of the Cursor agent"
    if isinstance(first.get("timestamp"), int):
        return "its timestamps are numbers"
    if any(opening in sample.head.replace(" ", "") for opening in _OF_QWEN_CODE):
        return "its messages have `parts`, as those of Qwen Code"
    if "sessionId" in first and '"parentUuid"' in sample.head:
        return None
    if kind not in _LINE_TYPES:
        return f"the first line is of a type unknown in sessions, {kind[:40]!r}"
    marks = {"sessionId", "session_id", "parentUuid", "leafUuid", "isSidechain", "uuid", "messageId"}
    return None if marks & first.keys() else "the first line has no sessionId, uuid or leafUuid"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the session's trajectory and those of its sub-agents, each after the session's."""
    lines = decode_document_or_lines(data, source)
    wrapper: dict[str, Any] = {}
    whole = lines.values[0][1]
    if len(lines.values) == 1 and isinstance(whole, dict) and isinstance(whole.get("loglines"), list):
        wrapper = {name: value for name, value in whole.items() if name != "loglines"}
        lines = replace(lines, values=tuple(enumerate(whole["loglines"], 1)))
    others: list[dict[str, Any]] = []
    entries = [
        SessionLine(number, convert(value, SessionFileLine, source, number), value)
        for number, value in lines.objects(others)
    ]
    sessions, replayed = by_session(entries, PurePath(source.file).stem)
    of_file = [("wrapper", wrapper), ("unfinished_line", lines.unfinished)]
    repeated = [("replayed_lines", [kept_line(one.number, one.value) for one in replayed])]
    origin = session_of(replayed[0]) if replayed else None
    seen: set[str] = set()
    for number, (session, own) in enumerate(sessions.items()):
        place = source if len(sessions) == 1 else replace(source, line=own[0].number)
        for agent, group in sorted(by_agent(own, seen).items(), key=lambda item: item[0] is not None):
            first = number == 0 and agent is None
            reading = _Reading(place, others if first else [])
            for entry in group:
                reading.place(entry)
            if not reading.conversation.turns:
                continue
            extra = [
                ("session", reading.common),
                ("other_lines", reading.others),
                *of_file,
                *(repeated if first else []),
            ]
            yield reading.conversation.trajectory(
                session if agent is None else f"{session}/{agent}",
                place,
                agent="claude-code",
                model=reading.model,
                parent=origin if agent is None else session,
                extra=filled(extra),
            )


class _Reading:
    def __init__(self, source: Source, others: list[dict[str, Any]]) -> None:
        self.source = source
        self.others = others
        self.conversation = Conversation()
        self.common: dict[str, Any] = {}
        self.model: str | None = None
        self._by_message: dict[str, Turn] = {}

    def place(self, entry: SessionLine) -> None:
        line = entry.line
        fresh = {
            name: value
            for name, value in rest_of(entry.value, SessionFileLine).items()
            if name not in _SESSION_FIELDS or self.common.setdefault(name, value) != value
        }
        if line.message is not None and line.type == "assistant":
            self._place_answer(entry, line.message, fresh)
            if line.message.model and not line.message.model.startswith("<"):
                self.model = self.model or line.message.model
        elif line.message is not None and line.type == "user":
            self._place_asked(entry, line.message, fresh)
        elif line.type == "system" and isinstance(line.content, str):
            self._begin("system", entry, line.content, fresh)
        elif (typed := _typed_meanwhile(line.attachment)) is not None:
            self._begin("user", entry, typed, fresh | {"attachment": line.attachment})
        elif context := _context_of_ours(line.attachment):
            self._begin("system", entry, context, fresh | {"attachment": line.attachment})
        else:
            self.others.append(kept_line(entry.number, entry.value))

    def _begin(self, role: Role, entry: SessionLine, text: str, fresh: dict[str, Any]) -> Turn:
        line = entry.line
        flags = [
            ("uuid", line.uuid),
            ("parentUuid", line.parent_uuid),
            ("isMeta", line.is_meta or None),
            ("isCompactSummary", line.is_compact_summary or None),
            ("isApiErrorMessage", line.is_api_error_message or None),
        ]
        return self.conversation.say(role, [text], line.timestamp, filled(flags) | fresh)

    def _place_answer(self, entry: SessionLine, message: Message, fresh: dict[str, Any]) -> None:
        line = entry.line
        synthetic = bool(line.is_api_error_message) or (message.model or "").startswith("<")
        turn = self._by_message.get(message.id or "")
        if turn is None:
            turn = self._begin("system" if synthetic else "agent", entry, "", fresh)
            if message.id:
                self._by_message[message.id] = turn
                turn.extra["message_id"] = message.id
        else:
            again = filled([("uuid", line.uuid), ("parentUuid", line.parent_uuid), ("timestamp", line.timestamp)])
            turn.extra.setdefault("more_lines", []).append(again | fresh)
        value = entry.value["message"]
        turn.extra |= filled(rest_of(value, Message, "type").items())
        if message.usage is not None:
            used = message.usage
            stored, hour = used.written
            read = used.cache_read_input_tokens
            turn.tokens = cached_tokens(used.input_tokens, read, stored, used.output_tokens, stored_1h=hour)
            turn.extra["usage"] = value["usage"]
        blocks: list[Any] = message.content if isinstance(message.content, list) else [message.content or ""]
        for raw in blocks:
            if isinstance(raw, str):
                turn.texts += [raw] if raw else []
            else:
                self._add_block(turn, raw, self._block(raw, entry))

    def _block(self, raw: Any, entry: SessionLine) -> Block:
        if not isinstance(raw, dict):
            why = f"a content block is not an object but {type(raw).__name__}"
            raise unreadable(why, self.source, entry.number)
        return convert(raw, Block, self.source, entry.number)

    def _add_block(self, turn: Turn, raw: dict[str, Any], block: Block) -> None:
        if block.type == "text" and block.text is not None:
            turn.texts += [block.text] if block.text else []
        elif block.type == "thinking" and block.thinking is not None:
            turn.reasoning += [block.thinking] if block.thinking else []
            turn.extra |= filled([("signature", raw.get("signature"))])
        elif block.tool_use_id is not None and block.type.endswith("_tool_result"):
            self.conversation.result(_server_result(raw, block))
        elif block.type in _CALL_BLOCKS and block.name is not None:
            extra = rest_of(raw, Block) | ({} if block.type == "tool_use" else {"type": block.type})
            self.conversation.call(turn, tool_call(block.name, block.input, block.id, extra))
        else:
            turn.extra.setdefault("content", []).append(raw)

    def _place_asked(self, entry: SessionLine, message: Message, fresh: dict[str, Any]) -> None:
        content = message.content
        texts: list[str] = [content] if isinstance(content, str) else []
        others: list[Any] = []
        for raw in content if isinstance(content, list) else []:
            block = Block("text", raw) if isinstance(raw, str) else self._block(raw, entry)
            if block.type == "tool_result":
                self.conversation.result(_result(raw, block, entry, fresh))
            elif block.type == "text" and block.text is not None:
                texts.append(block.text)
            else:
                others.append(raw)
        if not texts and not others:
            return
        text = "\n".join(texts)
        own, injected = _split_injected(text)
        line = entry.line
        if line.is_by_program or (not own and not others):
            turn = self._begin("system", entry, text, fresh)
        elif own.startswith(_WRAPPERS):
            command = _COMMAND.search(own)
            words, closed, _ = own.partition("<command-args>")[2].partition("</command-args>")
            with_words = words.strip() if closed else ""
            asked = command is not None and (bool(with_words) or line.written_by == "human")
            typed = f"{command[1].strip()} {with_words}".strip() if command and asked else ""
            turn = self._begin("user" if typed else "system", entry, typed or own, fresh)
            turn.extra |= filled([("wrapper", own if typed else None)])
        else:
            turn = self._begin("user", entry, own, fresh)
        turn.extra |= filled([("injected", injected if turn.role == "user" else None), ("content", others)])


def _result(raw: dict[str, Any], block: Block, entry: SessionLine, fresh: dict[str, Any]) -> ToolResult:
    text, others = split_content(block.content)
    line = entry.line
    exit_code = _EXIT_CODE.match(text) if block.is_error else None
    more = [("toolUseResult", line.tool_use_result), ("uuid", line.uuid), ("timestamp", line.timestamp)]
    extra = rest_of(raw, Block) | filled([("content", others), *more]) | fresh
    code = int(exit_code[1]) if exit_code else None
    return ToolResult(text, block.is_error, code, block.tool_use_id, extra, block.content is not None)


def _server_result(raw: dict[str, Any], block: Block) -> ToolResult:
    """Return the result of a tool that the server of the model runs: in the answer, with an error by its type."""
    failed = block.is_error or str(at(block.content, "type")).endswith("_error") or None
    text, others = split_content(block.content)
    return ToolResult(text, failed, None, block.tool_use_id, rest_of(raw, Block) | filled([("content", others)]))


def _split_injected(text: str) -> tuple[str, list[str]]:
    """Return a user line's own words, and the blocks that the program put between them."""
    injected: list[str] = []
    for tag in _INJECTED_BLOCKS:
        opening, closing = re.compile(f"<{tag}(?: [^<>]*)?>"), f"</{tag}>"
        pieces, rest = [], text
        while (start := opened.start() if (opened := opening.search(rest)) else -1) >= 0 and (
            end := rest.find(closing, start)
        ) >= 0:
            pieces.append(rest[:start])
            injected.append(rest[start : end + len(closing)])
            rest = rest[end + len(closing) :]
        text = "".join(pieces) + rest if pieces else text
    return (text.strip() if injected else text), injected


def _typed_meanwhile(attachment: Any) -> str | None:
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return None
    prompt, _ = split_content(attachment.get("prompt"))
    typed = prompt and attachment.get("commandMode", "prompt") == "prompt" and not prompt.startswith(_WRAPPERS)
    return prompt if typed else None


def _context_of_ours(attachment: Any) -> str:
    """Return what Misstep's hook told the agent, if the line is the context that a hook added."""
    if not isinstance(attachment, dict) or attachment.get("type") != "hook_additional_context":
        return ""
    content = attachment.get("content")
    texts = content if isinstance(content, list) else [content]
    return own_reminders("\n".join(text for text in texts if isinstance(text, str)))[0]
