"""Error objects as services and tool servers answer with them: JSON that says of itself that it is an error."""

import re
from typing import Any

import msgspec

_SAYS_OF_ITSELF = re.compile(r"\"(?:error|errors|isError|is_error|success|ok|status|code|detail|message)\"")
_LONGEST = 400
"""Characters of an object without a message that are shown."""


def error_object(text: str) -> str | None:
    """Return the message of an error object; `None` where a text is none."""
    stripped = text.strip()
    if not stripped.startswith("{") or not stripped.endswith("}") or not _SAYS_OF_ITSELF.search(stripped):
        return None
    try:
        document = msgspec.json.decode(stripped)
    except msgspec.DecodeError:
        return None
    return _message(document) if isinstance(document, dict) and _is_error(document) else None


def _is_error(document: dict[str, Any]) -> bool:
    if (
        document.get("error")
        or document.get("errors")
        or document.get("isError") is True
        or document.get("is_error") is True
    ):
        return True
    if document.get("success") is False or document.get("ok") is False:
        return True
    code = document.get("code")
    if isinstance(code, int) and isinstance(document.get("message"), str):
        return code < 0 or 400 <= code < 500
    status = document.get("status", document.get("statusCode"))
    return str(status).lower() in ("error", "failed", "failure") or (isinstance(status, int) and 400 <= status < 500)


def _message(document: dict[str, Any]) -> str:
    for key in ("error", "errors", "message", "detail", "content", "reason"):
        value = document.get(key)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            code = f"{value['code']} " if isinstance(value.get("code"), int) else ""
            value = code + str(value.get("message", value.get("text", value.get("msg", value))))
        if isinstance(value, str) and value.strip():
            code = f"{document['code']} " if key == "message" and isinstance(document.get("code"), int) else ""
            return code + value
    return str(document)[:_LONGEST]
