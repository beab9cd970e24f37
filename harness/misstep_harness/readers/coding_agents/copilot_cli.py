r"""GitHub Copilot CLI sessions (github.com/github/copilot-cli): JSON Lines of events, one file a session.

    {"type": "session.start", "id": "e1", "parentId": null, "timestamp": "2026-01-05T10:00:00.000Z",
     "data": {"sessionId": "s1", "copilotVersion": "1.0.0", "context": {"cwd": "/home/kim/app"}}}
    {"type": "user.message", "id": "e2", "timestamp": "…", "data": {"content": "Rename the flag"}}
    {"type": "assistant.message", "id": "e3", "timestamp": "…", "data": {"messageId": "m1", "content": "",
     "model": "gpt-x", "toolRequests": [{"toolCallId": "c1", "name": "bash", "arguments": {"command": "ls"}}]}}
    {"type": "tool.execution_start", "id": "e4", "data": {"toolCallId": "c1", "toolName": "bash", "arguments": {}}}
    {"type": "tool.execution_complete", "id": "e5", "data":
     {"toolCallId": "c1", "success": true, "result": {"content": "a.py\n<exited with exit code 0>"}}}

These are `~/.copilot/session-state/<session>/events.jsonl`, the lines of `--output-format json`, and transcripts of
Copilot Chat in VS Code (events: github.com/github/copilot-sdk, `nodejs/src/generated/session-events.ts`). Events with
`agentId` (`parentToolCallId` in older versions) are a sub-agent's trajectory, `<session>/<agent>`. What a request cost
is not in dollars, and is in `extra["usage"]`. A rewind takes the events out of the file.

Checked with the event types of copilot-sdk at cc0438d: sources, autopilot, custom tools, compaction, sub-agents.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_lines, name_of
from misstep_harness.readers.input.fields import at, filled, first_whole, kept_line, rest_of, text_or_none, without
from misstep_harness.readers.interchange.content import as_text, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Role, Source, Tokens, ToolCall, ToolResult, Trajectory

FORMAT = "copilot_cli"
UNIT: Unit = "file"

_FAMILIES = ("session.", "user.", "assistant.", "tool.", "hook.", "system.", "subagent.", "permission.", "skill.")
_NOTES = {
    "system.message": "content",
    "system.notification": "content",
    "session.info": "message",
    "session.warning": "message",
    "session.error": "message",
    "session.compaction_complete": "summaryContent",
}
_EXIT_CODE = re.compile(r"(?:exited|completed) with exit code (-?\d{1,10})>\s*\Z")


class _Request(Struct, rename="camel"):
    name: str = ""
    tool_call_id: str | None = None
    arguments: Any = None


class _Data(Struct, rename="camel"):
    session_id: str | None = None
    content: Any = None
    source: Any = None
    is_autopilot_continuation: bool | None = None
    message_id: str | None = None
    model: str | None = None
    reasoning_text: str | None = None
    output_tokens: int | None = None
    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    tool_requests: list[_Request] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: Any = None
    success: bool | None = None
    result: Any = None
    error: Any = None
    parent_tool_call_id: str | None = None


class _Event(Struct, rename="camel"):
    type: str = ""
    data: _Data | None = None
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | None = None
    agent_id: str | None = None
    session_id: str | None = None


class _Line(Struct):
    number: int
    value: dict[str, Any]
    event: _Event
    data: _Data

    def rest(self) -> dict[str, Any]:
        data = self.value.get("data")
        rest = rest_of(data, _Data) if isinstance(data, dict) else data
        return rest_of(self.value, _Event) | filled([("data", rest)])

    def whole_line(self) -> dict[str, Any]:
        return kept_line(self.number, self.value)


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a Copilot session."""
    first = sample.first
    if not isinstance(first, dict):
        return "not JSON objects, one a line"
    kind = first.get("type")
    if not isinstance(kind, str) or not isinstance(first.get("data"), dict):
        return "the first line is not an event with type and data"
    return None if kind.startswith(_FAMILIES) else f"an event of a type unknown in sessions, {kind[:40]!r}"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the session's trajectory and those of its sub-agents, each after the session's."""
    lines = decode_lines(data, source)
    own = _Reading()
    others: list[dict[str, Any]] = []
    agents: dict[str, _Reading] = {}
    prompts: dict[str, str] = {}
    session: str | None = None
    for number, value in lines.objects(others):
        event = convert(value, _Event, source, number)
        line = _Line(number, value, event, event.data or _Data())
        session = session or line.data.session_id or event.session_id
        agent = event.agent_id or line.data.parent_tool_call_id
        if agent and event.type == "subagent.started" and line.data.tool_call_id:
            prompts[agent] = line.data.tool_call_id
        (own if not agent else agents.setdefault(agent, _Reading())).place(line)
    session = session or name_of(source, "events")
    for silent in [agent for agent, reading in agents.items() if not reading.conversation.turns]:
        others += agents.pop(silent).others
    own.others += others
    yield own.trajectory(session, source, filled([("unfinished_line", lines.unfinished)]))
    tasks = own.prompts()
    for agent, reading in agents.items():
        task = tasks.get(prompts.get(agent, agent), "")
        yield reading.trajectory(f"{session}/{agent}", source, {}, session, task)


class _Reading:
    def __init__(self) -> None:
        self.conversation = Conversation()
        self.others: list[dict[str, Any]] = []
        self.about: dict[str, Any] = {}
        self.model: str | None = None
        self._reasoning: list[str] = []

    def trajectory(
        self, identity: str, source: Source, more: dict[str, Any], parent: str | None = None, task: str = ""
    ) -> Trajectory:
        extra = [("session", self.about), ("unplaced_reasoning", self._reasoning), ("other_lines", self.others)]
        trajectory = self.conversation.trajectory(
            identity, source, agent="copilot-cli", model=self.model, parent=parent, extra=filled(extra) | more
        )
        return trajectory if trajectory.task else replace(trajectory, task=task)

    def prompts(self) -> dict[str, str]:
        calls = [call for turn in self.conversation.turns for call in turn.calls]
        handed = [(call.id, at(call.arguments, "prompt")) for call in calls]
        return {name: prompt for name, prompt in handed if name is not None and isinstance(prompt, str)}

    def place(self, line: _Line) -> None:
        kind, data = line.event.type, line.data
        if kind == "user.message":
            typed = data.source in (None, "", "user") and not data.is_autopilot_continuation
            self._begin("user" if typed else "system", line, data.content)
        elif kind == "assistant.message":
            self._place_message(line)
        elif kind == "assistant.reasoning":
            self._place_reasoning(line)
        elif kind == "assistant.usage":
            self._place_usage(line)
        elif kind == "tool.user_requested" and data.tool_call_id:
            turn = self._begin("system", line, None)
            self.conversation.call(turn, tool_call(data.tool_name or "", data.arguments, data.tool_call_id))
        elif kind == "tool.execution_start" and data.tool_call_id:
            self._place_start(line)
        elif kind == "tool.execution_complete" and data.tool_call_id:
            self.conversation.result(_result(line))
        elif kind in _NOTES and isinstance(text := at(line.value, "data", _NOTES[kind]), str) and text:
            self._begin("system", line, text).extra["type"] = kind
        elif kind == "session.start" and not self.about:
            self.about = line.rest()
            self.model = self.model or text_or_none(at(line.value, "data", "selectedModel"))
        else:
            self.others.append(line.whole_line())

    def _begin(self, role: Role, line: _Line, content: Any) -> Turn:
        text, others = split_content(content)
        extra = filled([("id", line.event.id), ("content", others), ("source", line.data.source)]) | line.rest()
        return self.conversation.say(role, [text], line.event.timestamp, extra)

    def _place_message(self, line: _Line) -> None:
        data = line.data
        turn = self._begin("agent", line, data.content)
        thoughts = self._reasoning + ([data.reasoning_text] if data.reasoning_text else [])
        turn.reasoning, self._reasoning = list(dict.fromkeys(thoughts)), []
        turn.extra |= filled([("message_id", data.message_id)])
        self.model = self.model or data.model
        if data.output_tokens is not None:
            turn.tokens = Tokens(completion=data.output_tokens)
        for request, raw in zip(data.tool_requests or [], at(line.value, "data", "toolRequests") or [], strict=True):
            rest = rest_of(raw, _Request)
            call = tool_call(request.name, request.arguments, request.tool_call_id, rest)
            if at(raw, "type") == "custom" and isinstance(request.arguments, str):
                call = ToolCall(request.name, request.arguments, request.tool_call_id, None, rest)
            self.conversation.call(turn, call)

    def _place_reasoning(self, line: _Line) -> None:
        text, last = as_text(line.data.content), self.conversation.last_of_agent
        if text and (last is None or text not in last.reasoning):
            self._reasoning.append(text)
        if line.rest().keys() - {"ephemeral"}:
            self.others.append(line.whole_line())

    def _place_usage(self, line: _Line) -> None:
        """What a request took goes to the message that it gave: the agent's last."""
        data, last = line.data, self.conversation.last_of_agent
        self.model = self.model or data.model
        if last is None or "usage" in last.extra:
            self.others.append(line.whole_line())
            return
        last.tokens = Tokens(
            data.input_tokens, data.output_tokens, data.cache_read_tokens, None, data.cache_write_tokens
        )
        last.extra["usage"] = line.value

    def _place_start(self, line: _Line) -> None:
        data = line.data
        if self.conversation.maker(data.tool_call_id) is None:
            turn = self.conversation.last_of_agent or self._begin("agent", line, None)
            self.conversation.call(turn, tool_call(data.tool_name or "", data.arguments, data.tool_call_id))
        if line.rest():
            self.others.append(line.whole_line())


def _result(line: _Line) -> ToolResult:
    data = line.data
    failed = data.error if data.result is None else data.result
    text, others = _text_of(failed)
    parts = at(failed, "contents")
    code = first_whole(at(part, "exitCode") for part in (parts if isinstance(parts, list) else []))
    if code is None and (printed := _EXIT_CODE.search(text[-200:])):
        code = int(printed[1])
    extra = filled([("id", line.event.id), ("timestamp", line.event.timestamp), ("result", others)]) | line.rest()
    if data.result is not None:
        extra |= filled([("error", data.error)])
    is_error = None if data.success is None else not data.success
    return ToolResult(text, is_error, code, data.tool_call_id, extra, failed is not None)


def _text_of(answer: Any) -> tuple[str, Any]:
    if not isinstance(answer, dict):
        return split_content(answer)
    name = next((name for name in ("content", "message") if isinstance(answer.get(name), str)), "")
    if not name:
        return as_text(answer), None
    return answer[name], without(answer, name)
