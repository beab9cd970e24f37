"""A trajectory as an ATIF document of version 1.8, such that reading it gives the same trajectory.

What is in our `extra` under the name of an ATIF field of its level, and is of its type, is written as that field;
the rest stays in ATIF's `extra`. What ATIF has no place for at all goes to `extra.misstep` of its level:

    {"step_id": 1, "source": "user", "message": "Go on.", "extra": {"misstep": {"speaker": "simulated customer"}}}
"""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import astuple

from misstep_harness.readers.interchange import atif_document as wire
from misstep_harness.readers.interchange.content import split_content
from misstep_harness.trajectory import Step, Tokens, ToolCall, ToolResult, Trajectory

VERSION = "ATIF-v1.8"

Extra = dict[str, Any]
Fits = Callable[[Any], bool]


class _About(Struct, forbid_unknown_fields=True):
    version: str | UnsetType = UNSET
    tool_definitions: list[Extra] | UnsetType = UNSET
    extra: Extra | UnsetType = UNSET


class _FinalMetrics(Struct, forbid_unknown_fields=True):
    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int | None = None
    extra: Extra | None = None


class _MoreMetrics(Struct, forbid_unknown_fields=True):
    prompt_token_ids: list[int] | UnsetType = UNSET
    completion_token_ids: list[int] | UnsetType = UNSET
    logprobs: list[int | float] | UnsetType = UNSET
    extra: Extra | UnsetType = UNSET


class _Image(Struct, forbid_unknown_fields=True):
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    path: str


class _Audio(Struct, forbid_unknown_fields=True):
    media_type: str
    path: str
    duration_sec: float | None = None


class _TextPart(Struct, forbid_unknown_fields=True, tag="text"):
    text: str


class _ImagePart(Struct, forbid_unknown_fields=True, tag="image"):
    source: _Image


class _AudioPart(Struct, forbid_unknown_fields=True, tag="audio"):
    source: _Audio


class _Reference(Struct, forbid_unknown_fields=True):
    trajectory_id: str | None = None
    trajectory_path: str | None = None
    session_id: str | None = None
    extra: Extra | None = None

    def __post_init__(self) -> None:
        if self.trajectory_id is None and self.trajectory_path is None:
            raise ValueError("a reference names an id or a path")


def _is(type_: Any) -> Fits:
    def fits(value: Any) -> bool:
        try:
            msgspec.convert(value, type_)
        except (msgspec.ValidationError, RecursionError):
            return False
        return True

    return fits


def _is_filled(type_: Any) -> Fits:
    fits = _is(type_)
    return lambda value: bool(value) and fits(value)


_is_about = _is_filled(_About)
_is_parts = _is(list[_TextPart | _ImagePart | _AudioPart])
_is_count = _is(Annotated[int, Meta(ge=0)])
_is_more_metrics = _is_filled(_MoreMetrics)
_IN_TRAJECTORY: dict[str, Fits] = {
    "session_id": _is(str),
    "agent": lambda value: _is_about(value) and value.get("version") != wire.UNKNOWN,
    "notes": _is(str),
    "final_metrics": _is(_FinalMetrics),
    "continued_trajectory_ref": _is(str),
}
_is_model_name, _is_effort, _is_flag = _is(str), _is(str | int | float), _is(bool)
_is_references = _is(list[_Reference])


def to_atif(trajectory: Trajectory) -> dict[str, Any]:
    """Return the trajectory as an ATIF document, a plain value for any JSON encoder; the inverse of `from_atif`."""
    fields, extra = _split(trajectory.extra, _IN_TRAJECTORY)
    first = next((step.text for step in trajectory.steps if step.role == "user"), "")
    agent = {
        "name": wire.UNKNOWN if trajectory.agent is None else trajectory.agent,
        "version": wire.UNKNOWN,
        **wire.known_fields(model_name=trajectory.model),
        **_ordered(fields.pop("agent", {}), _About),
    }
    own = wire.OwnTrajectory(
        source=trajectory.source,
        task=trajectory.task if trajectory.task != first else None,
        outcome=trajectory.outcome,
        agent=trajectory.agent if trajectory.agent == wire.UNKNOWN else None,
        parent=trajectory.parent,
        extra=_reserved(trajectory.extra),
    )
    return {
        "schema_version": VERSION,
        "trajectory_id": trajectory.id,
        "agent": agent,
        "steps": [_step(step, number, trajectory.model) for number, step in enumerate(trajectory.steps, 1)],
        **fields,
        **_extra(extra, own),
    }


def _step(step: Step, number: int, model: str | None) -> dict[str, Any]:
    if step.role != "agent":
        own = _own_step(step, step.reasoning, step.calls, step.tokens)
        return _turn(step, number, _split(step.extra, _in_step(step)), own)
    fields, extra = _split(step.extra, _in_step(step) | _in_agent_step(step, model))
    if step.tokens is not None:
        fields["metrics"] = _metrics(step.tokens) | _ordered(fields.get("metrics", {}), _MoreMetrics)
    if step.reasoning:
        fields["reasoning_content"] = step.reasoning
    if step.calls:
        fields["tool_calls"] = [_call(call, index) for index, call in enumerate(step.calls)]
    written = None if step.tokens is None or step.tokens.cache_written is None else step.tokens
    return _turn(step, number, (fields, extra), _own_step(step, tokens=written))


def _turn(step: Step, number: int, split: tuple[Extra, Extra], own: wire.OwnStep) -> dict[str, Any]:
    fields, extra = split
    if step.timestamp is not None and own.timestamp is None:
        fields["timestamp"] = step.timestamp
    if step.results:
        known = {call["tool_call_id"] for call in fields["tool_calls"]} if "tool_calls" in fields else None
        fields["observation"] = {"results": [_result(result, known) for result in step.results]}
    head = {"step_id": number, "source": step.role, "message": step.text}
    return head | fields | _extra(extra, own)


def _in_step(step: Step) -> dict[str, Fits]:
    return {
        "message": lambda value: _is_parts(value) and split_content(value)[0] == step.text,
        "is_copied_context": _is_flag,
        "llm_call_count": lambda value: _is_count(value) and bool(value or not (step.tokens or step.reasoning)),
    }


def _in_agent_step(step: Step, model: str | None) -> dict[str, Fits]:
    return {
        "model_name": lambda value: _is_model_name(value) and value != model,
        "reasoning_effort": _is_effort,
        "metrics": lambda value: step.tokens is not None and _is_more_metrics(value),
    }


def _own_step(
    step: Step, reasoning: str = "", calls: tuple[ToolCall, ...] = (), tokens: Tokens | None = None
) -> wire.OwnStep:
    return wire.OwnStep(
        reasoning,
        calls,
        tokens,
        None if step.timestamp is None or _is_timestamp(step.timestamp) else step.timestamp,
        step.speaker,
        step.seconds,
        _reserved(step.extra),
    )


def _is_timestamp(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _metrics(tokens: Tokens) -> Extra:
    names = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
    return wire.known_fields(**dict(zip(names, astuple(tokens), strict=False)))


def _call(call: ToolCall, index: int) -> dict[str, Any]:
    made_up = wire.made_up_id(index)
    parsed = isinstance(call.arguments, dict)
    own = wire.OwnCall(
        id=call.id if call.id == made_up else None,
        arguments=None if parsed else str(call.arguments),
        parse_error=call.parse_error,
        extra=_reserved(call.extra),
        recorded=call.recorded,
    )
    return {
        "tool_call_id": made_up if call.id is None else call.id,
        "function_name": call.name,
        "arguments": call.arguments if parsed else {},
        **_extra(_split(call.extra, {})[1], own),
    }


def _result(result: ToolResult, known: set[str] | None) -> dict[str, Any]:
    fits: dict[str, Fits] = {
        "content": lambda value: _is_parts(value) and split_content(value)[0] == result.text,
        "subagent_trajectory_ref": _is_references,
    }
    fields, extra = _split(result.extra, fits)
    joined = known is None or result.call_id in known
    own = wire.OwnResult(
        is_error=result.is_error,
        exit_code=result.exit_code,
        call_id=None if joined else result.call_id,
        extra=_reserved(result.extra),
    )
    identity = wire.known_fields(source_call_id=result.call_id if joined else None)
    content = {"content": result.text} if result.recorded else {}
    return identity | content | fields | _extra(extra, own)


def _split(extra: Extra, fits: dict[str, Fits]) -> tuple[Extra, Extra]:
    """Return what of `extra` is an ATIF field of its level, in a fixed order, and what is not but for our own name."""
    if not extra:
        return {}, {}
    fields = {name: extra[name] for name, fit in fits.items() if name in extra and fit(extra[name])}
    return fields, {name: value for name, value in extra.items() if name not in fields and name != wire.OWN}


def _ordered(fields: Extra, type_: type[Struct]) -> Extra:
    """Return the fields in the order in which they are read, so that what is written again is the same to the byte."""
    return {name: fields[name] for name in type_.__struct_fields__ if name in fields}


def _reserved(extra: Extra) -> Extra:
    return {wire.OWN: extra[wire.OWN]} if wire.OWN in extra else {}


def _extra(extra: Extra, own: Struct) -> Extra:
    ours = msgspec.to_builtins(own)
    whole = extra | {wire.OWN: ours} if ours else extra
    return {"extra": whole} if whole else {}
