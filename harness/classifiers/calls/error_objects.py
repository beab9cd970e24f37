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
        body = msgspec.json.decode(stripped)
    except msgspec.DecodeError:
        return None
    return _message(body) if isinstance(body, dict) and _is_error(body) else None


def _is_error(body: dict[str, Any]) -> bool:
    if body.get("error") or body.get("errors") or body.get("isError") is True or body.get("is_error") is True:
        return True
    if body.get("success") is False or body.get("ok") is False:
        return True
    code = body.get("code")
    if isinstance(code, int) and isinstance(body.get("message"), str):
        return code < 0 or 400 <= code < 500
    status = body.get("status", body.get("statusCode"))
    return str(status).lower() in ("error", "failed", "failure") or (isinstance(status, int) and 400 <= status < 500)


def _message(body: dict[str, Any]) -> str:
    for key in ("error", "errors", "message", "detail", "content", "reason"):
        value = body.get(key)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            code = f"{value['code']} " if isinstance(value.get("code"), int) else ""
            value = code + str(value.get("message", value.get("text", value.get("msg", value))))
        if isinstance(value, str) and value.strip():
            code = f"{body['code']} " if key == "message" and isinstance(body.get("code"), int) else ""
            return code + value
    return str(body)[:_LONGEST]
