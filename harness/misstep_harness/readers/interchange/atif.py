"""ATIF, the Agent Trajectory Interchange Format (versions 1.0 to 1.8): one JSON document a trajectory, or JSON Lines.

    {"schema_version": "ATIF-v1.8", "trajectory_id": "run-7", "agent": {"name": "fixer", "version": "2.1"},
     "steps": [{"step_id": 1, "source": "user", "message": "Repair the parser."},
               {"step_id": 2, "source": "agent", "message": "Reading it.",
                "tool_calls": [{"tool_call_id": "c1", "function_name": "read", "arguments": {"path": "a.py"}}],
                "observation": {"results": [{"source_call_id": "c1", "content": "x = 1"}]}}]}

All its fields are in `atif_document`. A step that was copied from an earlier trajectory (`is_copied_context`) counts
there and is in `extra["copied_steps"]`. `from_atif` reads back what `to_atif` writes (1.8), `source` included. What
Terminus 2 puts around a task, and its handoff after a summary, are not the user's.

Checked with models, agents and converters of Harbor 0.26.0.

A trajectory as an ATIF document of version 1.8, such that reading it gives the same trajectory.

What is in our `extra` under the name of an ATIF field of its level, and is of its type, is written as that field;
the rest stays in ATIF's `extra`. What ATIF has no place for at all goes to `extra.misstep` of its level:

    {"step_id": 1, "source": "user", "message": "Go on.", "extra": {"misstep": {"speaker": "simulated customer"}}}
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import astuple, replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, name_of
from misstep_harness.readers.input.fields import first_whole
from misstep_harness.readers.interchange import atif_document as wire
from misstep_harness.readers.interchange.content import split_content, tool_call
from misstep_harness.trajectory import Source, Step, Tokens, ToolCall, ToolResult, Trajectory

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


__all__ = ["FORMAT", "UNIT", "from_atif", "read", "refuse", "to_atif"]

FORMAT = "atif"
UNIT: Unit = "value"

_TASK, _TERMINAL = "\nTask Description:\n", "\n\nCurrent terminal state:\n"
_HANDOFF = "Here are the answers the other agent provided."
_NOT_PARSED = "Previous response had parsing errors:"


def refuse(sample: Sample) -> str | None:
    """Return why the file is not an ATIF document."""
    if not isinstance(sample.first, dict):
        return "no JSON object"
    version = sample.first.get("schema_version")
    if not isinstance(version, str) or not version.startswith("ATIF-v"):
        return "no `schema_version` that begins with ATIF-v"
    if not version.startswith("ATIF-v1."):
        return f"`schema_version` is {version[:20]}, known are 1.0 to 1.8"
    return None


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the trajectory of one document, then those of its sub-agents."""
    pending: list[tuple[wire.Document, int, str | None]] = [(wire.decode(data, source), 0, None)]
    while pending:
        document, index, parent = pending.pop()
        name = None if parent is None else f"{parent}-{index}"
        trajectory = _trajectory(document, source, name, parent)
        yield trajectory
        if document.subagent_trajectories:
            children = enumerate(document.subagent_trajectories)
            pending += reversed([(child, index, trajectory.id) for index, child in children])


def from_atif(document: dict[str, Any], source: Source | None = None) -> Trajectory:
    """Return the trajectory of a decoded ATIF document, without those of its sub-agents; the inverse of `to_atif`."""
    source = source or Source(FORMAT)
    return _trajectory(wire.typed(document, source), source, None, None)


def _trajectory(document: wire.Document, source: Source, name: str | None, parent: str | None) -> Trajectory:
    agent = document.agent or wire.AtifAgent()
    extra = document.extra or {}
    ours = extra.get(wire.OWN)
    own = convert(ours, wire.OwnTrajectory, source) if isinstance(ours, dict) and "source" in ours else None
    copied: list[Step] = []
    if own is None:
        steps = _steps(document.steps, agent.model_name)
        if agent.name is not None and agent.name.startswith("terminus"):
            steps = tuple(map(_of_terminus, steps))
        if any(raw.is_copied_context for raw in document.steps):
            is_own = [not raw.is_copied_context for raw in document.steps]
            copied = [step for step, here in zip(steps, is_own, strict=True) if not here]
            steps = tuple([step for step, here in zip(steps, is_own, strict=True) if here])
            extra = wire.beside(extra, {"copied_steps": msgspec.json.decode(msgspec.json.encode(copied))})
        extra = wire.beside(extra, {"schema_version": document.schema_version})
    else:
        steps = tuple(
            [_own_step_of_atif(step, n, agent.model_name, source) for n, step in enumerate(document.steps, 1)]
        )
        extra = _without_own(extra)
    trajectory = Trajectory(
        document.trajectory_id or name or document.session_id or name_of(source),
        source,
        next((step.text for step in (*steps, *copied) if step.role == "user"), ""),
        steps,
        agent=None if agent.name == wire.UNKNOWN else agent.name,
        model=agent.model_name,
        parent=parent,
        extra=wire.beside(extra, _placeless(document, agent)),
    )
    if own is None:
        return trajectory
    return replace(
        trajectory,
        id=trajectory.id if document.trajectory_id is None else document.trajectory_id,
        source=own.source,
        task=trajectory.task if own.task is None else own.task,
        outcome=own.outcome,
        agent=trajectory.agent if own.agent is None else own.agent,
        parent=parent if own.parent is None else own.parent,
        extra=trajectory.extra | own.extra,
    )


def _placeless(document: wire.Document, agent: wire.AtifAgent) -> dict[str, Any]:
    version = agent.version if agent.version != wire.UNKNOWN else None
    about_agent = wire.known_fields(version=version, tool_definitions=agent.tool_definitions, extra=agent.extra)
    return wire.known_fields(
        session_id=document.session_id if document.trajectory_id is not None else None,
        agent=about_agent or None,
        notes=document.notes,
        final_metrics=document.final_metrics,
        continued_trajectory_ref=document.continued_trajectory_ref,
    )


def _steps(raw_steps: list[wire.AtifStep], model: str | None) -> tuple[Step, ...]:
    steps = [_step_of_atif(raw, number, model) for number, raw in enumerate(raw_steps, 1)]
    for place, (raw, step) in enumerate(zip(raw_steps, steps, strict=True)):
        if raw.extra is not None and len(step.results) == 1:
            failed = raw.extra.get("tool_result_is_error")  # where converters of Claude Code sessions put it
            if isinstance(failed, bool) and step.results[0].is_error is None:
                steps[place] = replace(step, results=(replace(step.results[0], is_error=failed),))
    return tuple(steps)


def _of_terminus(step: Step) -> Step:
    """Return a step of Terminus 2 without what its program says in the user's turns, and with its parsing errors."""
    if step.role == "agent" and not step.calls:
        results = [
            replace(result, is_error=True) if result.text.startswith(_NOT_PARSED) else result for result in step.results
        ]
        return replace(step, results=tuple(results))
    if step.role == "user" and step.text.startswith(_HANDOFF):
        return replace(step, role="system")
    before, opening, rest = step.text.partition(_TASK)
    words, closing, after = rest.rpartition(_TERMINAL)
    if step.role != "user" or not opening or not closing:
        return step
    injected = [(before + opening).strip(), (closing + after).strip()]
    return replace(step, text=words, extra=wire.beside(step.extra, {"injected": injected}))


def _step_of_atif(raw: wire.AtifStep, number: int, model: str | None) -> Step:
    """Return one step; written for speed, as most of the time beyond decoding is spent here."""
    observation = raw.observation
    metrics = raw.metrics
    text = raw.message
    extra = raw.extra or {}
    if (
        text.__class__ is not str
        or raw.step_id != number
        or (raw.model_name is not None and raw.model_name != model)
        or raw.reasoning_effort is not None
        or raw.is_copied_context is not None
        or raw.llm_call_count is not None
    ):
        extra = wire.beside(extra, _placeless_in_step(raw, number, model))
        text = split_content(text)[0]
    if metrics is None:
        tokens = None
    else:
        tokens = Tokens(metrics.prompt_tokens, metrics.completion_tokens, metrics.cached_tokens, metrics.cost_usd)
        more = wire.more_metrics(metrics)
        if more:
            extra = wire.beside(extra, {"metrics": more})
    return Step(
        raw.source,
        text,
        raw.reasoning_content or "",
        tuple([_call_of_atif(call) for call in raw.tool_calls]) if raw.tool_calls else (),
        _results(observation.results) if observation and observation.results else (),
        None,
        raw.timestamp,
        None,
        tokens,
        extra,
    )


def _placeless_in_step(raw: wire.AtifStep, number: int, model: str | None) -> dict[str, Any]:
    return wire.known_fields(
        step_id=raw.step_id if raw.step_id != number else None,
        message=raw.message if isinstance(raw.message, list) else None,
        model_name=raw.model_name if raw.model_name != model else None,
        reasoning_effort=raw.reasoning_effort,
        is_copied_context=raw.is_copied_context,
        llm_call_count=raw.llm_call_count,
    )


def _call_of_atif(raw: wire.AtifCall) -> ToolCall:
    return tool_call(raw.function_name, raw.arguments, raw.tool_call_id, raw.extra)


def _results(raws: list[wire.Result]) -> tuple[ToolResult, ...]:
    """Return the results of a step; of one without a content that nothing is said of there is none."""
    return tuple(
        [_result_of_atif(raw) for raw in raws if raw.content is not None or raw.extra or raw.subagent_trajectory_ref]
    )


def _result_of_atif(raw: wire.Result) -> ToolResult:
    text = raw.content
    extra = raw.extra
    if extra is None and raw.subagent_trajectory_ref is None and isinstance(text, str):
        return ToolResult(text, None, None, raw.source_call_id)
    extra = extra or {}
    flags = [extra.get(name) for name in ("is_error", "tool_result_is_error", "isError")]
    failed = next((flag for flag in flags if isinstance(flag, bool)), None)
    if failed is None and (extra.get("error") or extra.get("status") == "ERROR"):
        failed = True
    parts = text if isinstance(text, list) else None
    return ToolResult(
        split_content(text)[0],
        failed,
        first_whole(extra.get(name) for name in ("exit_code", "exitCode")),
        raw.source_call_id,
        wire.beside(extra, wire.known_fields(content=parts, subagent_trajectory_ref=raw.subagent_trajectory_ref)),
        text is not None,
    )


def _own_step_of_atif(raw: wire.AtifStep, number: int, model: str | None, source: Source) -> Step:
    step = _step_of_atif(raw, number, model)
    if any(call.extra or (call.id is not None and call.id.startswith(wire.OWN)) for call in step.calls):
        step = replace(step, calls=tuple([_own_call(call, index, source) for index, call in enumerate(step.calls)]))
    if any(result.extra for result in step.results):
        step = replace(step, results=tuple([_own_result(result, source) for result in step.results]))
    if wire.OWN not in step.extra:
        return step
    own = convert(step.extra[wire.OWN], wire.OwnStep, source)
    return replace(
        step,
        reasoning=step.reasoning or own.reasoning,
        calls=step.calls or own.calls,
        tokens=own.tokens or step.tokens,
        timestamp=step.timestamp if own.timestamp is None else own.timestamp,
        speaker=own.speaker,
        seconds=own.seconds,
        extra=_without_own(step.extra) | own.extra,
    )


def _own_call(call: ToolCall, index: int, source: Source) -> ToolCall:
    if call.id == wire.made_up_id(index):
        call = replace(call, id=None)
    if wire.OWN not in call.extra:
        return call
    own = convert(call.extra[wire.OWN], wire.OwnCall, source)
    return ToolCall(
        call.name,
        call.arguments if own.arguments is None else own.arguments,
        call.id if own.id is None else own.id,
        own.parse_error,
        _without_own(call.extra) | own.extra,
        own.recorded and call.recorded,
    )


def _own_result(result: ToolResult, source: Source) -> ToolResult:
    own = convert(result.extra.get(wire.OWN, {}), wire.OwnResult, source)
    return ToolResult(
        result.text,
        own.is_error,
        own.exit_code,
        result.call_id if own.call_id is None else own.call_id,
        _without_own(result.extra) | own.extra,
        result.recorded,
    )


def _without_own(extra: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if name != wire.OWN}
