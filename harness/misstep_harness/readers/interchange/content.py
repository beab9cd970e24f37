r"""What most recorders share: contents as a text or a list of typed parts, arguments as an object or JSON in a text.

A content is `"Fix the parser."` or `[{"type": "text", "text": "Fix the parser."}, {"type": "image", "source": {}}]`;
arguments are `{"path": "a.py"}` or `"{\"path\": \"a.py\"}"`.
"""

from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.trajectory import ToolCall

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
