"""What a server says of its limits in the header fields of an answer.

Sources: OpenAI's guide on rate limits, "Rate limits in headers"
(`x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, reset as a duration such as `6m0s` or `12ms` until the limit
is back at its full value; Groq and Azure use the names, Azure with seconds or -1, and the LiteLLM proxy gives every
provider's limits under them, `docs.litellm.ai`, "Response Headers"); Anthropic's API reference, "Rate limits"
(`anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}`, reset as an RFC 3339 time
of full replenishment); draft-ietf-httpapi-ratelimit-headers-08 to -11 (`RateLimit: "name";r=50;t=30` with
`RateLimit-Policy: "name";q=100;w=60`), -07 (`limit=100, remaining=50, reset=5`) and -00 to -06 (`RateLimit-Limit`,
`-Remaining`, `-Reset`); OpenRouter (`X-RateLimit-…`, reset as a Unix time). vLLM and other servers of one model send
none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Literal

from misstep.harness.exchange import Allowance

_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_PARTS = ("remaining", "limit", "reset")
_REFILLED = (
    *((kind, tuple(f"x-ratelimit-{part}-{kind}" for part in _PARTS)) for kind in _KINDS[:2]),
    *((kind, tuple(f"anthropic-ratelimit-{kind}-{part}" for part in _PARTS)) for kind in _KINDS),
)
"""What is left comes back all the time, and the reset is when it is whole again."""

_IN_WINDOWS = tuple(tuple(f"{family}-{part}" for part in _PARTS) for family in ("x-ratelimit", "ratelimit"))
"""What is left lasts until the reset, and is whole again then."""

_STATE, _POLICY = "ratelimit", "ratelimit-policy"

READ = frozenset((_STATE, _POLICY)).union(*(names for _, names in _REFILLED), *_IN_WINDOWS)
"""The header fields that are read, by lower-case name."""

_DURATION = re.compile(r"(?:(\d{1,9}(?:\.\d{1,9})?)(ms|d|h|m|s))")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_UNIX_TIME, _UNIX_MILLISECONDS = 1e9, 1e12
"""A reset from this number on is not a number of seconds to wait but the time, in seconds or in milliseconds."""


def allowances(headers: Mapping[str, str], now: datetime) -> tuple[Allowance, ...]:
    """Return what the server says is left of each of its limits; what cannot be read says nothing."""
    return () if not READ & headers.keys() else (*_named(headers, now), *_structured(headers))


def _named(headers: Mapping[str, str], now: datetime) -> Iterator[Allowance]:
    for kind, names in _REFILLED:
        unit: Literal["requests", "tokens"] = "requests" if kind == "requests" else "tokens"
        yield from _allowance(kind, unit, [headers.get(name) for name in names], now, refills=True)
    for names in _IN_WINDOWS:
        yield from _allowance(names[0], "requests", [headers.get(name) for name in names], now, refills=False)


def _allowance(
    name: str, unit: Literal["requests", "tokens"], texts: list[str | None], now: datetime, *, refills: bool
) -> Iterator[Allowance]:
    remaining, limit = (_number(text) for text in texts[:2])
    if remaining is not None:
        yield Allowance(name, unit, remaining, limit, _seconds(texts[2], now), refills)


def _structured(headers: Mapping[str, str]) -> Iterator[Allowance]:
    state = headers.get(_STATE, "")
    if re.match(r"\s*\w+\s*=", state):  # the form of draft 07
        fields = _parameters(state.replace(",", ";").split(";"))
        if (remaining := fields.get("remaining")) is not None:
            yield Allowance(_STATE, "requests", remaining, fields.get("limit"), fields.get("reset"))
        return
    policies = dict(_members(headers.get(_POLICY, "")))
    for name, fields in _members(state):
        policy = policies.get(name, {})
        if (remaining := fields.get("r")) is not None and policy.get("qu", 1.0) == 1.0:
            yield Allowance(f"{_STATE} {name}", "requests", remaining, policy.get("q"), fields.get("t"))


def _members(field: str) -> Iterator[tuple[str, dict[str, float]]]:
    for member in field.split(","):
        first, *parts = member.split(";")
        name = first.strip().removeprefix('"').removesuffix('"')
        if name and not set(name) & {'"', "="}:
            yield name, _parameters(parts)


def _parameters(parts: Iterable[str]) -> dict[str, float]:
    """Return the numbers by name; a quota unit (`qu`) is 1 for requests, and 0 for all else."""
    parameters: dict[str, float] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name == "qu":
            parameters[name] = float(value.strip('"') == "requests")
        elif equals and (number := _number(value)) is not None:
            parameters[name] = number
    return parameters


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and _NUMBER.fullmatch(text.strip()) else None


def _seconds(text: str | None, now: datetime) -> float | None:
    """Seconds until a reset: a number, a duration such as `6m0s`, a Unix time or an RFC 3339 time."""
    if text is None:
        return None
    text = text.strip()
    if (number := _number(text)) is not None:
        unix = number / 1000 if number >= _UNIX_MILLISECONDS else number
        return max(0.0, unix - now.timestamp()) if unix >= _UNIX_TIME else number
    pieces = _DURATION.findall(text)
    if pieces and "".join(number + unit for number, unit in pieces) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in pieces)
    try:
        until = datetime.fromisoformat(text)
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())
