"""The parameter that a server rejects, found in its error message, and advice for the user.

Servers report it in several forms:

    {"error": {"message": "Unsupported parameter: 'max_tokens' …", "param": "max_tokens"}}
    {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}
    {"error": "this server knows no response_format"}
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

Parameter = Literal["response_format", "max_tokens", "temperature", "seed"]

_NAMES: dict[Parameter, re.Pattern[str]] = {
    "response_format": re.compile(
        r"response[_ ]format|json[_ ]schema|structured[_ ]output|guided[_ ]json", re.IGNORECASE
    ),
    "max_tokens": re.compile(r"\bmax_tokens\b"),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
}
_TOO_LONG = re.compile(r"context[_ ](length|window|size)|too (long|large|many tokens)", re.IGNORECASE)

_ADVICE: dict[Parameter, str] = {
    "response_format": "put `structured = false` under [model] in the judge's file",
    "max_tokens": "put `max_completion_tokens = …` under [model.extra] in the judge's file: it goes in the place of "
    "max_tokens",
    "temperature": 'put `omit = ["temperature"]` under [model] in the judge\'s file, or the value that it takes',
    "seed": 'put `omit = ["seed"]` under [model] in the judge\'s file',
}
_SHORTER = "ask a model with a longer context, or make `budget` or max_tokens in the judge's file smaller"


def rejected_parameter(error: Any) -> Parameter | None:
    """Return the parameter that a server's error message rejects; `None` where the message names none."""
    if _TOO_LONG.search(_words(error)):
        return None
    for named in _pointed_at(error):
        if named in _NAMES:
            return named
    message = _words(error)
    places = [(hit.start(), name) for name, pattern in _NAMES.items() if (hit := pattern.search(message))]
    return min(places)[1] if places else None


def advice_on(error: Any) -> str:
    """The change to the judge's file after which the server accepts its requests; empty where that is not known."""
    if _TOO_LONG.search(_words(error)):
        return _SHORTER
    refused = rejected_parameter(error)
    return "" if refused is None else _ADVICE[refused]


def as_text(value: Any) -> str:
    """Return what a server says as a text, however deep it is nested and however long its numbers are."""
    with suppress(RecursionError, ValueError):
        return str(value)
    return "what cannot be written down"


def _words(error: Any) -> str:
    if isinstance(error, dict):
        return as_text(error.get("message") or error.get("detail") or error)
    return as_text(error)


def _pointed_at(error: Any) -> Iterator[str]:
    if not isinstance(error, dict):
        return
    if isinstance(error.get("param"), str):
        yield error["param"]
    details = error.get("detail")
    for detail in details if isinstance(details, list) else []:
        places = detail.get("loc") if isinstance(detail, dict) else None
        yield from (place for place in places if isinstance(place, str)) if isinstance(places, list) else ()
