"""Typed parts of a chat message: thoughts, calls and answers as the APIs and SDKs of four vendors write them.

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

from typing import Any

from misstep_harness.readers.input.fields import at, text_or_none
from misstep_harness.readers.interchange.content import as_text, split_content, tool_call
from misstep_harness.readers.interchange.conversation import Turn
from misstep_harness.trajectory import ToolResult

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


def place_parts(turn: Turn, parts: Any) -> list[str]:
    """Put the thoughts, calls and answers among the parts of a message into its turn; return the texts among them."""
    texts: list[str] = []
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict) or not _place(turn, part):
            text, _ = split_content([part])
            texts += [text] if text else []
    return texts


def _place(turn: Turn, part: dict[str, Any]) -> bool:
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
