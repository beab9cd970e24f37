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
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, name_of
from misstep_harness.readers.input.fields import first_whole
from misstep_harness.readers.interchange import atif_document as wire
from misstep_harness.readers.interchange.atif_writing import to_atif
from misstep_harness.readers.interchange.content import split_content, tool_call
from misstep_harness.trajectory import Source, Step, Tokens, ToolCall, ToolResult, Trajectory

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
        steps = tuple([_own_step(step, n, agent.model_name, source) for n, step in enumerate(document.steps, 1)])
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
    steps = [_step(raw, number, model) for number, raw in enumerate(raw_steps, 1)]
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


def _step(raw: wire.AtifStep, number: int, model: str | None) -> Step:
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
        tuple([_call(call) for call in raw.tool_calls]) if raw.tool_calls else (),
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


def _call(raw: wire.AtifCall) -> ToolCall:
    return tool_call(raw.function_name, raw.arguments, raw.tool_call_id, raw.extra)


def _results(raws: list[wire.Result]) -> tuple[ToolResult, ...]:
    """Return the results of a step; of one without a content that nothing is said of there is none."""
    return tuple([_result(raw) for raw in raws if raw.content is not None or raw.extra or raw.subagent_trajectory_ref])


def _result(raw: wire.Result) -> ToolResult:
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


def _own_step(raw: wire.AtifStep, number: int, model: str | None, source: Source) -> Step:
    step = _step(raw, number, model)
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
