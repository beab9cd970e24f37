r"""What most recorders share: contents as a text or a list of typed parts, arguments as an object or JSON in a text.

A content is `"Fix the parser."` or `[{"type": "text", "text": "Fix the parser."}, {"type": "image", "source": {}}]`;
arguments are `{"path": "a.py"}` or `"{\"path\": \"a.py\"}"`.

Typed parts of a chat message: thoughts, calls and answers as the APIs and SDKs of four vendors write them.

Anthropic   {"type": "tool_use", "id": "c1", "name": "read", "input": {}}, answered by
            {"type": "tool_result", "tool_use_id": "c1", "content": "x = 1", "is_error": false}
Gemini      {"functionCall": {"name": "read", "args": {}}}, {"functionResponse": {"name": "read", "response": {}}},
            as its Python SDK prints them {"function_call": …}, {"function_response": …};
            of its own servers {"type": "server_tool_use", …}, {"type": "web_search_tool_result", …} and the like
AI SDK      {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": {}}, {"type": "tool-result", …};
            of its user interface {"type": "tool-read", "toolCallId": "c1", "input": {}, "output": "x = 1"}
OpenAI      {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}, {"type":
            "function_call_output", "call_id": "c1", "output": "x = 1"}
"""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.readers.input.fields import at, text_or_none
from misstep_harness.trajectory import ToolCall, ToolResult

if TYPE_CHECKING:
    from misstep_harness.readers.interchange.conversation import Turn

_CALLED, _ANSWERED = ("functionCall", "function_call"), ("functionResponse", "function_response")
_WRAPPERS = (*_CALLED, *_ANSWERED, "toolInvocation")
_CALL_ITEMS = ("function_call", "custom_tool_call")
_RESULT_ITEMS = ("function_call_output", "custom_tool_call_output")
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool-call", "dynamic-tool", *_CALL_ITEMS)
_RESULTS = ("tool_result", "tool-result", *_RESULT_ITEMS)
_THOUGHTS = ("thinking", "reasoning")
_IDS = ("tool_use_id", "toolCallId", "call_id", "id")
_NAMES = ("toolName", "name")
_ARGUMENTS = ("input", "args", "arguments")
_ANSWERS = ("errorText", "output", "result", "response", "content")


def as_message(item: Any) -> Any:
    """Return an item of OpenAI's Responses API, or a call of the AI SDK, as the message that it is a part of."""
    kind = item.get("type") if isinstance(item, dict) and "role" not in item else None
    if kind in _RESULT_ITEMS:
        return {"role": "tool", "content": [item]}
    if kind is None and isinstance(item, dict) and {"toolCallId", "toolName"} <= item.keys():
        return {"role": "assistant", "content": [{"type": "tool-call"} | item]}
    return {"role": "assistant", "content": [item]} if kind in (*_CALL_ITEMS, "reasoning") else item


def place_parts(turn: "Turn", parts: Any) -> list[str]:
    """Put the thoughts, calls and answers among the parts of a message into its turn; return the texts among them."""
    texts: list[str] = []
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict) or not _place(turn, part):
            text, _ = split_content([part])
            texts += [text] if text else []
    return texts


def _place(turn: "Turn", part: dict[str, Any]) -> bool:
    wrapper = next((name for name in _WRAPPERS if isinstance(part.get(name), dict)), "")
    fields = part | part[wrapper] if wrapper else part
    kind = as_text(part.get("type"))
    if kind in _THOUGHTS or part.get("thought") is True:
        lists = [split_content(fields.get(name))[0] for name in ("summary", "content")]
        texts = [fields.get("thinking", fields.get("text")), *lists]
        turn.reasoning += [text for text in texts if isinstance(text, str) and text]
        return True
    answers = kind in _RESULTS or kind.endswith("_tool_result") or wrapper in _ANSWERED
    of_interface = kind.startswith("tool-") and "toolCallId" in fields and not answers
    calls = of_interface or kind in _CALLS or wrapper in (*_CALLED, "toolInvocation")
    call_id = text_or_none(_first(fields, _IDS)) or None
    if calls:
        name = as_text(_first(fields, _NAMES)) or kind.removeprefix("tool-")
        given = _first(fields, _ARGUMENTS)
        if kind == "custom_tool_call" and given is not None:
            given = {"input": given}
        elif wrapper in _CALLED and given is None:
            given = {}  # Gemini leaves empty arguments out
        turn.calls.append(tool_call(name, given, call_id))
    if answers or (calls and any(name in fields for name in _ANSWERS[:3])):
        turn.add_result(_result(fields, call_id, of_gemini=wrapper in _ANSWERED))
    return calls or answers


def _first(fields: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _result(fields: dict[str, Any], call_id: str | None, *, of_gemini: bool) -> ToolResult:
    value = _first(fields, _ANSWERS)
    failed = next((fields[name] for name in ("is_error", "isError") if isinstance(fields.get(name), bool)), None)
    if fields.get("errorText") is not None or at(value, "error_code") is not None:
        failed = True
    if of_gemini and isinstance(value, dict) and ("error" in value or "output" in value):
        failed = True if "error" in value else failed
        value = value.get("error", value.get("output"))
    elif isinstance(value, dict) and isinstance(value.get("type"), str) and "value" in value:
        failed = True if value["type"].startswith("error") else failed
        value = value["value"]
    text = split_content(value)[0] if isinstance(value, list) else as_text(value)
    return ToolResult(text, failed, None, call_id, {}, value is not None)


_untyped = msgspec.json.Decoder()


class Block(Struct):
    """A part of a message in the style of Anthropic's; which fields it has depends on its type."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


def tool_call(name: str, arguments: Any, call_id: str | None = None, extra: dict[str, Any] | None = None) -> ToolCall:
    """Return a call with its arguments parsed, or the raw text with the reason why they do not parse.

    `None` are arguments that the recording does not hold.
    """
    parsed, error = parse_arguments(arguments)
    return ToolCall(name, parsed, call_id, error, {} if extra is None else extra, arguments is not None)


def text_and_others(content: Any) -> tuple[list[str], list[Any]]:
    """Return the text of a content as one of a turn's texts, if there is any, and the parts that hold no text."""
    text, others = split_content(content)
    return [text] if text else [], others


def as_text(value: Any) -> str:
    """Return a text as it is, nothing as the empty text, any other JSON value as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except RecursionError as error:
        raise UnreadableTrajectory("the data are nested too deep") from error


def split_content(content: Any) -> tuple[str, list[Any]]:
    """Return the text of a content, its texts joined by line ends, and the parts that hold no text, unchanged."""
    if content is None:
        return "", []
    if isinstance(content, str):
        return content, []
    texts: list[str] = []
    others: list[Any] = []
    for part in content if isinstance(content, list) else [content]:
        fields = part if isinstance(part, dict) else {"text": part}
        text = fields.get("text", fields.get("content") if fields.get("type") == "text" else None)
        if isinstance(text, str):
            texts.append(text)
        else:
            others.append(part)
    return "\n".join(texts), others


def json_value(value: Any) -> Any:
    """Return the JSON value that a text holds; any other value as it is."""
    try:
        return _untyped.decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, ValueError, RecursionError):
        return value


def answer_of(content: Any) -> Any:
    """Return the content of a tool's answer: typed parts as they are, one or several objects of its own as JSON."""
    parts = content if isinstance(content, list) else [content]
    own = bool(parts) and all(isinstance(part, dict) and not {"type", "text"} & part.keys() for part in parts)
    return as_text(content) if own else content


def parse_arguments(raw: Any) -> tuple[dict[str, Any] | str, str | None]:
    """Return the arguments of a call as an object, or as the raw text with the reason why they are none."""
    if raw is None or raw == "":
        return {}, None
    if isinstance(raw, dict):
        return raw, None
    if not isinstance(raw, str):
        return as_text(raw), f"arguments are not an object but {type(raw).__name__}"
    try:
        parsed = _untyped.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        return raw, f"arguments are not JSON: {error}"
    if isinstance(parsed, dict):
        return parsed, None
    return raw, f"arguments are not an object but {type(parsed).__name__}"
