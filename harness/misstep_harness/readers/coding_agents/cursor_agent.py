r"""Sessions of the Cursor agent as JSON Lines: transcripts, and what `--output-format stream-json` prints.

Lines of `~/.cursor/projects/<project>/agent-transcripts/<session>/<session>.jsonl`::

    {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nRename the flag\n</user_query>"}]}}
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "I look."},
     {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}]}}

Lines of a stream, as cursor.com/docs/cli/reference/output-format describes them::

    {"type": "system", "subtype": "init", "session_id": "s1", "model": "gpt-x", "cwd": "/home/kim/app"}
    {"type": "user", "session_id": "s1", "message": {"role": "user", "content": [{"type": "text", "text": "Rename"}]}}
    {"type": "tool_call", "subtype": "completed", "call_id": "c1", "session_id": "s1", "tool_call": {"shellToolCall":
     {"args": {"command": "ls"}, "result": {"success": {"exitCode": 0, "stdout": "a.py", "stderr": ""}}}}}
    {"type": "result", "subtype": "success", "duration_ms": 900, "session_id": "s1", "result": "Done."}

Most transcripts hold calls without results, times and tokens, so that no call is known to have failed. What Cursor puts
around a person's words is in `extra["injected"]`. A transcript in a folder `subagents` is of a sub-agent of the session
that the folder above is named for. In a stream a text, the calls that follow it and their results are one step. With
`--stream-partial-output` pieces (a time and no `model_call_id`) are joined, and the line that repeats them is left out.

Not public; checked with its documentation and forum.cursor.com/t/156289 (2026): pieces, results with other fields.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_lines, name_of
from misstep_harness.readers.input.fields import (
    at,
    filled,
    kept_line,
    rest_of,
    text_or_none,
    time_of_milliseconds,
    whole,
    without,
)
from misstep_harness.readers.interchange.content import as_text, place_parts, split_content, text_and_others, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Source, ToolResult, Trajectory

FORMAT = "cursor_agent"
UNIT: Unit = "file"

_SAID = ("user", "assistant")
_OPENING, _CLOSING = "<user_query>", "</user_query>"
_PLACED = ("args", "result", "name", "arguments")
_OUTPUTS = ("stdout", "stderr", "content", "message", "errorMessage", "error", "reason")


class _Line(Struct):
    role: str | None = None
    type: str | None = None
    subtype: str | None = None
    session_id: str | None = None
    message: Any = None
    text: str | None = None
    call_id: str | None = None
    tool_call: dict[str, Any] | None = None
    timestamp_ms: Any = None
    timestamp: Any = None

    def time(self) -> str | None:
        return text_or_none(self.timestamp) or time_of_milliseconds(self.timestamp_ms)


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a session of the Cursor agent."""
    first = sample.first
    if not isinstance(first, dict):
        return "not JSON objects, one a line"
    if is_stream(first):
        return None
    says = first.get("role") in _SAID and not {"content", "type"} & first.keys()
    if says and isinstance(at(first, "message", "content"), list | str):
        return None
    return "the first line is neither a role with a message nor the init of a stream"


def is_stream(first: dict[str, Any]) -> bool:
    """Return whether a line is the first that the Cursor agent prints; Claude Code's has the same type and tools."""
    begun = (first.get("type"), first.get("subtype")) == ("system", "init")
    return begun and "session_id" in first and not {"tools", "uuid", "slash_commands"} & first.keys()


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the one session of a file."""
    lines = decode_lines(data, source)
    reading = _Reading()
    for number, value in lines.objects(reading.others):
        reading.place(number, value, convert(value, _Line, source, number))
    path = PurePath(source.file)
    fields = [("session", reading.about), ("other_lines", reading.others), ("unfinished_line", lines.unfinished)]
    yield reading.conversation.trajectory(
        reading.session or name_of(source),
        source,
        agent="cursor-agent",
        model=reading.model or text_or_none(reading.about.get("model")),
        parent=path.parent.parent.name or None if path.parent.name == "subagents" else None,
        extra=filled(fields),
    )


class _Reading:
    def __init__(self) -> None:
        self.conversation = Conversation()
        self.others: list[dict[str, Any]] = []
        self.about: dict[str, Any] = {}
        self.session: str | None = None
        self.model: str | None = None
        self._reasoning: list[str] = []
        self._pieces: list[str] = []
        self._answer = ""

    def place(self, number: int, value: dict[str, Any], line: _Line) -> None:
        self.session = self.session or line.session_id
        speaker = line.role or line.type
        rest = rest_of(value, _Line)
        if speaker == "user" and line.message is not None:
            self._add_user(line, rest)
        elif speaker == "assistant" and line.message is not None:
            if not self._is_piece(line, rest):
                self._add_assistant(line, rest)
        elif line.type == "thinking" and line.text:
            self._reasoning.append(line.text)
            self.others += [kept_line(number, rest)] if rest else []
        elif line.type == "tool_call" and line.tool_call:
            self._add_call(line, rest)
        elif line.type == "system" and line.subtype == "init" and not self.about:
            self.about = rest
        else:
            self.others.append(kept_line(number, value))

    def _add_user(self, line: _Line, rest: dict[str, Any]) -> None:
        content = at(line.message, "content")
        text, others = split_content(content)
        answers = Turn("user")
        place_parts(answers, content)
        for result in answers.results:
            self.conversation.result(result)
        if answers.results and not text:
            return
        before, opening, after = text.partition(_OPENING)
        own, _, after = after.partition(_CLOSING) if opening else (text, "", "")
        injected = [part.strip() for part in (before, after) if opening and part.strip()]
        more = filled([("injected", injected), ("content", others), ("message", _beside(line.message))])
        self.conversation.say("user", [own.strip("\n") if opening else own], line.time(), rest | more)

    def _is_piece(self, line: _Line, rest: dict[str, Any]) -> bool:
        """Return whether a line goes on with the text of the last step, or repeats what came in pieces."""
        text = split_content(at(line.message, "content"))[0]
        if line.role is None and line.timestamp_ms is not None and "model_call_id" not in rest:
            last = self.conversation.turns[-1] if self._pieces and self.conversation.turns else None
            self._pieces.append(text)
            self._answer += text
            if last is None or last.role != "agent" or last.calls or self._reasoning:
                return False
            last.texts = ["".join([*last.texts, text])]
            return True
        repeats = bool(self._pieces) and text in ("".join(self._pieces), self._answer)
        self._pieces = []
        return repeats

    def _agent(self, line: _Line, extra: dict[str, Any]) -> Turn:
        turn = self.conversation.say("agent", [], line.time(), extra)
        turn.reasoning, self._reasoning = ["".join(self._reasoning)] if self._reasoning else [], []
        return turn

    def _add_assistant(self, line: _Line, rest: dict[str, Any]) -> None:
        turn = self._agent(line, rest | filled([("message", _beside(line.message))]))
        self.model = self.model or text_or_none(at(line.message, "model"))
        content = at(line.message, "content")
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict) and part.get("type") == "tool_use":
                more = without(part, "type", "id", "name", "input")
                name, identity = as_text(part.get("name")), text_or_none(part.get("id"))
                self.conversation.call(turn, tool_call(name, part.get("input"), identity, more))
            elif isinstance(part, dict) and part.get("type") == "thinking":
                turn.reasoning += [as_text(part.get("thinking"))]
            else:
                texts, others = text_and_others(part)
                turn.texts += texts
                if others:
                    turn.extra.setdefault("content", []).extend(others)

    def _add_call(self, line: _Line, rest: dict[str, Any]) -> None:
        """Add a call once, though it is written when it starts and when it ends; its result if it has one."""
        call = line.tool_call or {}
        kind = next((name for name in call if name == "function" or name.endswith("ToolCall")), next(iter(call)))
        fields = call[kind] if isinstance(call[kind], dict) else {"args": call[kind]}
        more = rest | without(call, kind) | without(fields, *_PLACED)
        call_id = line.call_id or text_or_none(call.get("toolCallId"))
        if self.conversation.maker(call_id) is None:
            last = self.conversation.turns[-1] if self.conversation.turns else None
            going_on = last is not None and last.role == "agent" and not last.results and not self._reasoning
            turn = last if last is not None and going_on else self._agent(line, {})
            name = as_text(fields.get("name")) if kind == "function" else kind.removesuffix("ToolCall")
            arguments = fields.get("arguments" if kind == "function" else "args")
            self.conversation.call(turn, tool_call(name, arguments, call_id, more))
        if line.subtype == "completed" and "result" in fields:
            self.conversation.result(_result(fields["result"], call_id, more))


def _result(answer: Any, call_id: str | None, extra: dict[str, Any]) -> ToolResult:
    kind, body = "", answer
    if isinstance(answer, dict) and answer:
        kind = next((name for name in answer if isinstance(answer[name], dict)), next(iter(answer)))
        body = answer[kind]
    printed = [body[name] for name in _OUTPUTS if isinstance(body.get(name), str)] if isinstance(body, dict) else []
    text = "\n".join(filter(None, printed)) if printed else as_text(body)
    extra = extra | filled([("result", answer if isinstance(answer, dict) else None)])
    failed = {"success": False, "": None}.get(kind, True)
    outputs = [name for name in _OUTPUTS if isinstance(body, dict) and name in body]
    both = ("stdout" in outputs) == ("stderr" in outputs)
    held = bool(text) or (kind == "success" and bool(outputs) and both)
    return ToolResult(text, failed, whole(at(body, "exitCode")), call_id, extra, held)


def _beside(message: Any) -> dict[str, Any]:
    return without(message, "content", "role") if isinstance(message, dict) else {"value": message}
