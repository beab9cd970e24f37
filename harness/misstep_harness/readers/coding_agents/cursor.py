r"""Cursor conversations from the database `state.vscdb` of the folder `globalStorage`: a composer and its bubbles.

    {"misstep_database": "cursor",
     "composerData": {"composerId": "s1", "name": "Rename", "createdAt": 1767607200000,
                      "modelConfig": {"modelName": "gpt-x"}},
     "bubbles": [
      {"bubbleId": "b1", "type": 1, "text": "Rename the flag", "createdAt": "2026-01-05T10:00:00.000Z"},
      {"bubbleId": "b2", "type": 2, "text": "", "thinking": {"text": "Look first."}},
      {"bubbleId": "b3", "type": 2, "text": "", "toolFormerData":
       {"toolCallId": "c1", "name": "run_terminal_cmd", "status": "completed", "rawArgs": "{\"command\": \"ls\"}",
        "result": "{\"output\": \"a.py\", \"exitCodeV2\": 0}"}}]}

Cursor does not document its database; for version 0.50 and later (2025) github.com/pppp606/cursor-efficiency
(`docs/vscdbRelation.md`) and github.com/michaeldhood/chatrxiv (`docs/cursor/storage-reference.md`) do. Older composers
hold their bubbles themselves, in `conversation`. Bubbles of one answer of the model (those that name the same
`modelCallId`) are one step; one that the database lacks is in `extra["other_bubbles"]`. Tokens of 0 mean unknown.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.databases import MARK, decode_session
from misstep_harness.readers.input.decoding import convert, name_of
from misstep_harness.readers.input.fields import (
    at,
    filled,
    first_whole,
    rest_of,
    text_or_none,
    time_of_milliseconds,
    whole,
)
from misstep_harness.readers.interchange.content import as_text, parse_arguments, tool_call
from misstep_harness.readers.interchange.conversation import Conversation, Turn
from misstep_harness.trajectory import Source, Tokens, ToolResult, Trajectory

FORMAT = "cursor"
UNIT: Unit = "value"

_USER, _ASSISTANT = 1, 2
_FAILED = {"error": True, "completed": False}


class _Tool(Struct, rename="camel"):
    name: str = ""
    tool_call_id: str | None = None
    model_call_id: str | None = None
    raw_args: Any = None
    params: Any = None
    result: Any = None
    status: Any = None
    error: Any = None


class _Bubble(Struct, rename="camel"):
    type: Any = None
    bubble_id: str | None = None
    text: str | None = None
    thinking: Any = None
    all_thinking_blocks: list[Any] | None = None
    tool_former_data: _Tool | None = None
    created_at: Any = None
    token_count: Any = None
    model_info: Any = None


class _Conversation(Struct, rename="camel"):
    composer_data: dict[str, Any]
    bubbles: list[Any] | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no conversations of Cursor."""
    first = sample.first
    if not isinstance(first, dict):
        return "no database of Cursor"
    if MARK in first:
        return None if first[MARK] == FORMAT else f"a database of {str(first[MARK])[:40]!r}"
    return None if isinstance(first.get("composerData"), dict) and "bubbles" in first else "no composerData and bubbles"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the conversation in one line."""
    value, conversation = decode_session(data, source, _Conversation)
    composer = dict(conversation.composer_data)
    own = composer.pop("conversation", None) if not conversation.bubbles else None
    reading = _Reading(source)
    for raw in [*(conversation.bubbles or []), *(own if isinstance(own, list) else [])]:
        reading.place(raw)
    identity = text_or_none(composer.pop("composerId", None))
    yield reading.conversation.trajectory(
        identity or name_of(source),
        source,
        agent="cursor",
        model=reading.model or text_or_none(at(composer, "modelConfig", "modelName")),
        parent=text_or_none(at(composer, "subagentInfo", "parentComposerId")),
        extra=filled([("session", composer), ("other_bubbles", reading.others)]) | rest_of(value, _Conversation, MARK),
    )


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.conversation = Conversation()
        self.others: list[Any] = []
        self.model: str | None = None
        self._open: Turn | None = None
        self._model_call: str | None = None

    def place(self, raw: Any) -> None:
        bubble = convert(raw, _Bubble, self.source) if isinstance(raw, dict) else _Bubble()
        content = bubble.text or bubble.tool_former_data is not None or _thoughts(bubble)
        if bubble.type not in (_USER, _ASSISTANT) or not (content or (bubble.type == _USER and raw.get("images"))):
            self.others.append(raw)
            return
        self.model = self.model or text_or_none(at(bubble.model_info, "modelName"))
        rest = filled([("bubbleId", bubble.bubble_id), ("signature", at(bubble.thinking, "signature"))])
        rest |= rest_of(raw, _Bubble)
        if bubble.type == _USER:
            self._open = None
            self.conversation.say("user", [bubble.text or ""], _time(bubble.created_at), rest)
        else:
            self._place_answer(bubble, rest, raw)

    def _place_answer(self, bubble: _Bubble, rest: dict[str, Any], raw: dict[str, Any]) -> None:
        turn, tool = self._open, bubble.tool_former_data
        same_call = tool is not None and tool.model_call_id and tool.model_call_id == self._model_call
        if turn is None or (turn.calls and not same_call):
            turn = self._open = self.conversation.say("agent", [], _time(bubble.created_at))
        turn.extra.setdefault("bubbles", []).append(rest)
        turn.reasoning += _thoughts(bubble)
        turn.texts += [bubble.text] if bubble.text else []
        counts = [whole(at(bubble.token_count, name)) for name in ("inputTokens", "outputTokens")]
        if any(counts):
            turn.tokens = Tokens(*(count or None for count in counts))
        if tool is not None:
            self._model_call = tool.model_call_id
            self._add_call(turn, tool, rest_of(raw["toolFormerData"], _Tool), bubble.bubble_id)

    def _add_call(self, turn: Turn, tool: _Tool, rest: dict[str, Any], bubble: str | None) -> None:
        raw = tool.raw_args if tool.raw_args not in (None, "") else None
        identity = tool.tool_call_id or bubble
        read = None if raw is None else tool.params
        extra = filled([("modelCallId", tool.model_call_id), ("status", tool.status), ("params", read)]) | rest
        self.conversation.call(turn, tool_call(tool.name, tool.params if raw is None else raw, identity, extra))
        silent = tool.result in (None, "") and not tool.error
        if silent and tool.status != "error":
            return
        answer, _ = parse_arguments(tool.result)
        printed = text_or_none(at(answer, "output"))
        text = as_text(tool.result if tool.result is not None else tool.error) if printed is None else printed
        code = first_whole(at(answer, name) for name in ("exitCodeV2", "exitCode"))
        failed = True if tool.error else _FAILED.get(str(tool.status))
        fields = filled([("error", tool.error), ("result", None if printed is None else answer)])
        self.conversation.result(ToolResult(text, failed, code, identity, fields, not silent))


def _thoughts(bubble: _Bubble) -> list[str]:
    own = at(bubble.thinking, "text")
    texts = [own] if own else [at(block, "text") for block in bubble.all_thinking_blocks or []]
    return [text for text in texts if isinstance(text, str) and text]


def _time(created: Any) -> str | None:
    return created if isinstance(created, str) else time_of_milliseconds(created)
