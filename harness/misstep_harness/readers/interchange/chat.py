r"""Messages in the style of OpenAI's chat completions, the one place where they become steps.

    {"role": "system", "content": "You repair code."}
    {"role": "user", "content": [{"type": "text", "text": "Repair the parser."}]}
    {"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.py\"}"}}]}
    {"role": "tool", "tool_call_id": "c1", "content": "x = 1"}

Before tools there was `function_call` in the assistant's message, answered under the role `function`. An answer goes
with the call it answers: by id; without one, by name or order among the open calls of the last turn. An answer to no
known call goes to the agent's last turn, else to one of the system.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.readers.input.decoding import convert
from misstep_harness.readers.input.fields import rest_of
from misstep_harness.readers.interchange.content import answer_of, as_text, place_parts, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Turn, TurnList
from misstep_harness.trajectory import Role, Source, Step, ToolCall, ToolResult

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "agent",
    "ai": "agent",
    "model": "agent",
}
"""Role → speaker; another role is the system's, and its name is kept."""

ANSWERS = ("tool", "function")
_PLAIN_ROLES = ("system", "user", "assistant")
_TEXT_PARTS = ("text", "input_text", "output_text")


class _Function(Struct):
    name: str = ""
    arguments: Any = None


class _Custom(Struct):
    name: str = ""
    input: str | None = None


class Call(Struct):
    """A tool call; some recorders have no `function` around name and arguments, or the name alone in it."""

    id: str | None = None
    type: str | None = None
    function: _Function | str | None = None
    custom: _Custom | None = None
    name: str | None = None
    arguments: Any = None
    args: Any = None


class ChatMessage(Struct):
    """The fields of a message that have a place in a step."""

    role: str
    content: str | list[Any] | dict[str, Any] | None = None
    name: str | None = None
    tool_calls: list[Call] | None = None
    function_call: _Function | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None


def steps_of(
    messages: Sequence[Mapping[str, Any]], source: Source | None = None
) -> tuple[tuple[Step, ...], tuple[int, ...]]:
    """Return the steps of a conversation, and for each message, counted from 0, its step."""
    source = source or Source("openai_chat")
    typed = convert(list(messages), list[ChatMessage], source)
    transcript = Transcript()
    where = tuple([transcript.add(raw, message) for raw, message in zip(messages, typed, strict=True)])
    return transcript.steps(), where


class Transcript(TurnList):
    """The turns so far, which of them is the agent's last, and which of its calls are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[ToolCall] = []
        self.last_of_agent: int | None = None
        self._maker: dict[str, tuple[int, ToolCall]] = {}

    def add(self, raw: Mapping[str, Any], message: ChatMessage) -> int:
        """Add a message as a turn or as a result of one; return the turn's index."""
        turn = turn_of(raw, message)
        if message.role in ANSWERS and not turn.results:
            return self.answer(result_of(raw, message), message.name)
        return self.place(turn)

    def place(self, turn: Turn) -> int:
        """Add a turn and the answers in it, each where its call is; return its index, or that of a mere answer."""
        answers, turn.results = turn.results, []
        index = self.begin(turn) if turn.role == "agent" else None
        places = [self.answer(result) for result in answers]
        if index is None:
            index = self.begin(turn) if any(turn.texts) or not places else places[0]
        return index

    def begin(self, turn: Turn) -> int:
        """Add a turn; return its index."""
        index = len(self.turns)
        self.turns.append(turn)
        if turn.role == "agent" or turn.calls:  # a user with tools too, as in tau2-bench
            self.last_of_agent = index
            self.open = list(turn.calls)
            self._maker |= {call.id: (index, call) for call in turn.calls if call.id is not None}
        return index

    def answer(self, result: ToolResult, tool: str | None = None) -> int:
        """Add a result to the turn whose call it answers; `tool` is the name it gives. Return the turn's index."""
        index, call = self.last_of_agent, None
        if result.call_id is None:
            call = next((call for call in self.open if tool in (None, call.name)), None)
        elif result.call_id in self._maker:
            index, call = self._maker[result.call_id]
        if call is not None:
            self.open = [other for other in self.open if other is not call]
            result = replace(result, call_id=call.id)
        if tool is not None and (call is None or call.name != tool):
            result = replace(result, extra=result.extra | {"name": tool})
        if index is None:
            index = self.begin(Turn("system"))
        self.turns[index].add_result(result)
        return index


def turn_of(raw: Mapping[str, Any], message: ChatMessage) -> Turn:
    """Return a message of system, user or assistant as a turn."""
    text, extra = text_and_rest(raw, message)
    if message.role not in _PLAIN_ROLES:
        extra["role"] = message.role
    reasoning = message.reasoning_content
    for name in ("reasoning", "thinking"):  # OpenRouter, Ollama
        if not reasoning and isinstance(extra.get(name), str):
            reasoning = extra.pop(name)
    calls = [call_of(raw["tool_calls"][index], call) for index, call in enumerate(message.tool_calls or ())]
    if message.function_call is not None:
        calls.append(tool_call(message.function_call.name, message.function_call.arguments))
    if message.tool_call_id is not None:
        extra["tool_call_id"] = message.tool_call_id
    turn = Turn(
        role=ROLES.get(message.role.lower(), "system"),
        texts=[text],
        reasoning=[reasoning] if reasoning else [],
        calls=calls,
        speaker=message.name,
        extra=extra,
    )
    parts = message.content if isinstance(message.content, list) else raw.get("parts")
    if parts and isinstance(parts, list):
        texts = place_parts(turn, parts)
        turn.texts = [text] if isinstance(message.content, str) and text else ["\n".join(texts)]
    return turn


def result_of(raw: Mapping[str, Any], message: ChatMessage) -> ToolResult:
    """Return a message of a tool as a result."""
    text, extra = text_and_rest(raw, message)
    if not text and isinstance(own := answer_of(message.content), str):
        text, _ = own, extra.pop("content", None)
    failed = extra.pop("is_error") if isinstance(extra.get("is_error"), bool) else None
    error = extra.get("error")
    if error is True or (isinstance(error, str) and error) or extra.get("status") == "error":
        text, failed = text or as_text(error), True
    return ToolResult(
        text, failed, None, message.tool_call_id or None, extra, bool(text) or message.content is not None
    )


def text_and_rest(raw: Mapping[str, Any], message: ChatMessage) -> tuple[str, dict[str, Any]]:
    """Return the text of a message, and what in it has no place in a step: other parts than text, other fields."""
    text, _ = split_content(message.content)
    extra = rest_of(dict(raw), ChatMessage)
    if message.content is not None and not isinstance(message.content, str):
        parts = message.content if isinstance(message.content, list) else [message.content]
        if not all(_is_text(part) for part in parts):
            extra["content"] = message.content
    return text, extra


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (
        isinstance(part, dict) and part.keys() == {"type", "text"} and part["type"] in _TEXT_PARTS
    )


def call_of(raw: dict[str, Any], call: Call) -> ToolCall:
    """Return a tool call of a message as a call of a step."""
    extra = rest_of(raw, Call)
    if call.type not in (None, "function", "tool_call"):
        extra["type"] = call.type
    if call.custom is not None:
        given = call.custom.input
        return ToolCall(call.custom.name, given or "", call.id or None, None, extra, given is not None)
    function = call.function
    if not isinstance(function, _Function):
        function = _Function(function or call.name or "", call.args if call.arguments is None else call.arguments)
    elif more := rest_of(raw["function"], _Function):
        extra["function"] = more
    return tool_call(function.name, function.arguments, call.id or None, extra)


def is_chat(messages: list[Any]) -> bool:
    """Return whether a list that is not empty holds messages: objects that say in which role somebody speaks."""
    return bool(messages) and all(isinstance(raw, dict) and isinstance(raw.get("role"), str) for raw in messages)
