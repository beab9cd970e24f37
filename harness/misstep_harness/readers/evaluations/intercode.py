"""InterCode results: a document that maps a key to each run, whose turns are in parallel lists.

    {"4": {"environment": "ic_bash", "dataset": "./some/tasks.json", "task_id": 4, "query": "Count the lines of a.txt",
           "turn_history": {"thoughts": ["I count."], "actions": ["wc -l a.txt"], "observations": ["3 a.txt"],
                            "rewards": [1.0], "valid_action": [true]},
           "summary": {"max_reward": 1.0, "turns_taken": 1, "turns_max": 10}}}

A turn is a step: an action is a call of the environment's tool, `valid_action` says whether it executed; one that the
model's provider blocked has no observation. A run passed when its `max_reward` is 1. Rewards and other lists stay in
`extra["turn_history"]`.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_json, name_of, unreadable
from misstep_harness.readers.input.fields import filled, rest_of
from misstep_harness.readers.interchange.content import as_text
from misstep_harness.readers.interchange.conversation import rewarded
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory

FORMAT = "intercode"
UNIT: Unit = "value"


class _Turns(Struct):
    actions: list[Any]
    observations: list[Any] = []
    thoughts: list[Any] | None = None
    valid_action: list[bool | None] | None = None


class _Summary(Struct):
    max_reward: float | None = None


class _Record(Struct):
    turn_history: _Turns
    query: str = ""
    environment: str = ""
    summary: _Summary | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file has no such runs."""
    if not isinstance(sample.first, dict):
        return "no object"
    if next(_records(sample.first), None) is None:
        return "no runs with the actions of their `turn_history`"
    return None


def _records(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if _is_run(value):
        yield "", value
    else:
        yield from ((key, one) for key, one in value.items() if _is_run(one))


def _is_run(value: Any) -> bool:
    turns = value.get("turn_history") if isinstance(value, dict) else None
    return isinstance(turns, dict) and isinstance(turns.get("actions"), list)


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the runs of one document or line, in order."""
    value = decode_json(data, source)
    runs = list(_records(value)) if isinstance(value, dict) else []
    if not runs:
        raise unreadable("no runs with the actions of their `turn_history`", source)
    beside = {key: one for key, one in value.items() if runs[0][0] and not _is_run(one)}
    for key, raw in runs:
        record = convert(raw, _Record, source)
        turns = record.turn_history
        tool = record.environment.removeprefix("ic_") or "environment"
        steps = tuple([_step(turns, turn, tool) for turn in range(len(turns.actions))])
        fields = [
            ("turn_history", rest_of(raw["turn_history"], _Turns)),
            ("summary", raw.get("summary")),
            ("environment", record.environment),
            ("document", beside),
        ]
        yield Trajectory(
            id=f"{name_of(source)}/{key}" if key else name_of(source),
            source=source,
            task=record.query,
            steps=(Step("user", text=record.query), *steps) if record.query else steps,
            outcome=rewarded(record.summary.max_reward if record.summary else None),
            agent="intercode",
            extra=rest_of(raw, _Record) | filled(fields),
        )


def _step(turns: _Turns, turn: int, tool: str) -> Step:
    call = ToolCall(tool, {"command": as_text(turns.actions[turn])}, str(turn))
    executed, observation = _at(turns.valid_action, turn), _at(turns.observations, turn)
    failed = None if executed is None else not executed
    answered = observation is not None or failed is not None
    result = ToolResult(as_text(observation), failed, None, call.id, recorded=observation is not None)
    return Step(
        "agent",
        reasoning=as_text(_at(turns.thoughts, turn)),
        calls=(call,),
        results=(result,) if answered and not result.says_nothing else (),
    )


def _at(values: list[Any] | None, turn: int) -> Any:
    return values[turn] if values is not None and turn < len(values) else None
