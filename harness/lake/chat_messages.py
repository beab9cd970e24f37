"""A session as the list of chat messages that scanners of Inspect Scout read.

The messages are those of Inspect (`inspect_ai/model/_chat_message.py`, inspect-ai 0.3): a turn is one message, and each
answer of a tool one behind it. A message is named after its step.
"""

from collections.abc import Iterator
from typing import Any

from misstep.harness.trajectory import Step, ToolCall, ToolResult, Trajectory

_ROLES = {"user": "user", "system": "system", "agent": "assistant"}


def chat_messages(trajectory: Trajectory) -> list[dict[str, Any]]:
    """Return the messages of a session, in order; values of JSON alone."""
    return [message for number, step in enumerate(trajectory.steps) for message in _messages(step, number)]


def message_count(trajectory: Trajectory) -> int:
    """Return the number of its messages."""
    return sum(1 + len(step.results) for step in trajectory.steps)


def _messages(step: Step, number: int) -> Iterator[dict[str, Any]]:
    message: dict[str, Any] = {"id": f"step-{number}", "role": _ROLES[step.role], "content": _content(step)}
    if step.calls and step.role == "agent":
        message["tool_calls"] = [_call(call, _call_id(number, place)) for place, call in enumerate(step.calls)]
    yield message
    names = {call.id or _call_id(number, place): call.name for place, call in enumerate(step.calls)}
    for place, result in enumerate(step.results):
        yield _result(result, number, place, names)


def _call_id(number: int, place: int) -> str:
    return f"step-{number}-call-{place}"


def _content(step: Step) -> str | list[dict[str, str]]:
    if not step.reasoning:
        return step.text
    return [{"type": "reasoning", "reasoning": step.reasoning}, {"type": "text", "text": step.text}]


def _call(call: ToolCall, otherwise: str) -> dict[str, Any]:
    parsed = isinstance(call.arguments, dict)
    message = {
        "id": call.id or otherwise,
        "function": call.name,
        "arguments": call.arguments if parsed else {"arguments": call.arguments},
        "type": "function",
    }
    return message if parsed else message | {"parse_error": call.parse_error or "the arguments are not a JSON object"}


def _result(result: ToolResult, number: int, place: int, names: dict[str, str]) -> dict[str, Any]:
    answered = result.call_id or _call_id(number, place)
    message: dict[str, Any] = {
        "id": f"step-{number}-result-{place}",
        "role": "tool",
        "content": result.text,
        "tool_call_id": answered,
        "function": names.get(answered),
    }
    failed = result.is_error or result.exit_code not in (None, 0)
    return message | {"error": {"type": "unknown", "message": _failure(result)}} if failed else message


def _failure(result: ToolResult) -> str:
    return "the tool failed" if result.exit_code in (None, 0) else f"exit code {result.exit_code}"
