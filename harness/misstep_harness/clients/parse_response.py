"""From a server's response to an outcome: the meaning of each status, and what counts as an answer.

    {"model": "small-1", "choices": [{"message": {"content": "yes", "refusal": null}, "finish_reason": "stop"}],
     "usage": {"prompt_tokens": 9, "completion_tokens": 1}}

The text itself is not parsed: a text that is not JSON, or is cut off, is still the model's answer. Secrets are
removed from every text before it is shortened, and again from the result.

The parameter that a server rejects, found in its error message, and advice for the user.

Servers report it in several forms:

    {"error": {"message": "Unsupported parameter: 'max_tokens' …", "param": "max_tokens"}}
    {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}
    {"error": "this server knows no response_format"}
"""

import email.utils
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.escaping import json_without_surrogates
from misstep_harness.exchange import Failure, FailureKind, FunctionCall, Outcome, Reply

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


Redact = Callable[[str], str]

_SHOWN = 200

_KEPT = 20_000

_MOST_TOKENS = 1 << 53
"""A higher count of tokens is treated as missing: JSON cannot hold it exactly and no price follows from it."""


class ParsedAnswer(Struct, frozen=True):
    """What a server sent: the status, the header fields by lower-case name, the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Part(Struct):
    type: str = ""
    text: str | None = None


class _Message(Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: Any = None


class _Choice(Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    error: Any = None


class _Completion(Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: Any = None
    error: Any = None


_completion = msgspec.json.Decoder(_Completion)


class _NoAnswerError(Exception):
    """A 200 that is not a chat completion: the kind of the failure and its sentence."""


def parse_response(answer: ParsedAnswer, model: str, seconds: float, redact: Redact = str) -> Outcome:
    """Return the outcome of one request; its cost is not filled in."""
    if not 200 <= answer.status < 300:
        return refused(answer, seconds, redact)
    raw = redact(text_of(answer.body))
    try:
        completion = _decoded(answer)
        choice = _first_choice(completion, redact)
    except _NoAnswerError as error:
        kind, sentence = error.args
        return Failure(kind, redact(sentence), raw=raw[:_KEPT], seconds=seconds)
    message = choice.message or _Message()
    usage = completion.usage if isinstance(completion.usage, dict) else {}
    text = _joined(message.content)
    reply = Reply(
        text=text and redact(text),
        refusal=message.refusal and redact(message.refusal),
        finish=choice.finish_reason and redact(choice.finish_reason),
        model=redact(completion.model or model),
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        seconds=seconds,
        cost_usd=None,
        raw=raw,
        calls=tuple(_calls(message.tool_calls, redact)),
        first_tokens=tuple(_first_tokens(choice.logprobs)),
    )
    # A secret that is split over the parts of the content cannot be found in the body.
    in_parts = isinstance(message.content, list) and reply.text != text
    return replace(reply, raw="") if in_parts else reply


def _decoded(answer: ParsedAnswer) -> _Completion:
    try:
        return _completion.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        first = error
    try:  # `json` knows lone surrogates and NaN, which some servers send
        value = json_without_surrogates(json.loads(answer.body))
    except (ValueError, RecursionError) as error:
        kind = answer.headers.get("content-type", "none")
        raise _NoAnswerError("malformed", f"the server's answer is not JSON ({first}; content type {kind})") from error
    try:
        return msgspec.convert(value, _Completion)
    except (msgspec.ValidationError, RecursionError) as error:
        raise _NoAnswerError("malformed", f"the server's answer is not a chat completion: {error}") from error


def _first_choice(completion: _Completion, redact: Redact) -> _Choice:
    error = completion.error
    if completion.choices:
        first = completion.choices[0]
        if first.error is None and first.message is None:
            raise _NoAnswerError("malformed", "the server's answer has no message")
        if first.error is None:
            return first
        error = first.error  # OpenRouter, if the model's own server failed in the middle
    if error is not None:
        message = _message(error, redact)
        raise _NoAnswerError("server", f"the server reports an error under status 200: {message}")
    raise _NoAnswerError("malformed", "the server's answer has no choices")


def _joined(content: str | list[_Part] | None) -> str | None:
    if isinstance(content, list):
        return "".join(part.text or "" for part in content if part.type in ("text", "output_text"))
    return content


def _calls(value: Any, redact: Redact) -> Iterator[FunctionCall]:
    """Return the functions that a message calls; what is not in the form of a call is none."""
    for call in value if isinstance(value, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(name := function.get("name"), str):
            arguments = function.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield FunctionCall(redact(name), redact(text))


def _first_tokens(logprobs: Any) -> Iterator[tuple[str, float]]:
    """Return the likeliest tokens in the first place of an answer that holds more than white space.

    A chat template may begin an answer with such a token, which the server leaves out of the text and not of this list.
    """
    places = logprobs.get("content") if isinstance(logprobs, dict) else None
    for place in places if isinstance(places, list) else []:
        if not isinstance(place, dict) or not str(place.get("token", "")).strip():
            continue
        top = place.get("top_logprobs")
        likeliest = [one for one in top if isinstance(one, dict)] if isinstance(top, list) else []
        seen: set[str] = set()
        for one in (*likeliest, place):
            token, logprob = one.get("token"), one.get("logprob")
            if isinstance(token, str) and isinstance(logprob, int | float) and token not in seen:
                seen.add(token)
                yield token, float(logprob)
        return


def count(value: Any) -> int | None:
    """Return a count of tokens; `None` for what is not one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None


def text_of(body: bytes) -> str:
    """Return a body as text, whatever its bytes are."""
    return body.decode("utf-8", "replace")


def refused(answer: ParsedAnswer, seconds: float, redact: Redact) -> Failure:
    """Return the failure that a status other than 2xx means."""
    error = error_in(answer.body, redact)
    kind = _kind(answer.status, error)
    sentence = f"{_MEANING[kind]} (status {answer.status}): {_message(error, redact)}"
    if kind == "bad_request" and (advice := advice_on(error) or _on_status(answer.status, error)):
        sentence = f"{sentence.rstrip('.')}; {advice}"
    return Failure(
        kind,
        sentence,
        raw=redact(text_of(answer.body))[:_KEPT],
        seconds=seconds,
        retry_after=retry_after(answer.headers) if kind in ("rate_limited", "server") else None,
    )


def _on_status(status: int, error: Any) -> str:
    """What to look at where the address is likely at fault: a server that knows the address speaks of the model."""
    if 300 <= status < 400:
        return "it answers at another address: does --base-url begin with `https://` and end in `/v1`?"
    unknown_address = status == 404 and "model" not in as_text(error).casefold()
    return "does the address (--base-url) end in `/v1`?" if unknown_address else ""


_MEANING: dict[FailureKind, str] = {
    "unauthorised": "the server does not accept the key in OPENAI_API_KEY",
    "quota": "the account behind OPENAI_API_KEY has no credit left",
    "rate_limited": "the server asks for fewer requests",
    "server": "the server failed",
    "bad_request": "the server does not take the request",
}


def _kind(status: int, error: Any) -> FailureKind:
    if status == 429:
        return "quota" if isinstance(error, dict) and error.get("code") == "insufficient_quota" else "rate_limited"
    if status in (401, 403):
        return "unauthorised"
    if status in (408, 409, 425) or status >= 500:
        return "server"
    return "bad_request"


def error_in(body: bytes, redact: Redact = str) -> Any:
    """Return what a body says went wrong: its `error` where it is JSON and has one, else all of it."""
    try:
        value = json_without_surrogates(json.loads(body))
    except (ValueError, RecursionError):
        return re.sub(r"<[^<>]*>", " ", redact(text_of(body))[:_KEPT])
    return value.get("error", value) if isinstance(value, dict) else value


def _message(error: Any, redact: Redact) -> str:
    message = error.get("message", error) if isinstance(error, dict) else error
    line = redact(" ".join(redact(as_text(message)).split()))
    return (line if len(line) <= _SHOWN else line[:_SHOWN] + "…") or "it does not say why"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    delay = headers.get("retry-after")
    seconds, until = _number(delay), _http_date(delay)
    if seconds is not None or until is None:
        return seconds
    return max(0.0, (until - (_http_date(headers.get("date")) or datetime.now(UTC))).total_seconds())


def _http_date(date: str | None) -> datetime | None:
    try:
        parsed = email.utils.parsedate_to_datetime(date) if date else None
    except ValueError:
        return None
    return parsed and parsed.replace(tzinfo=parsed.tzinfo or UTC)


def _number(text: str | None) -> float | None:
    return None if text is None or not re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", text) else float(text)
