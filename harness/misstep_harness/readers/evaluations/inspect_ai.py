"""Inspect eval logs: one document a task, a trajectory for each of its samples and epochs.

    {"version": 2, "status": "success", "eval": {"task": "triage", "model": "openai/gpt-x"}, "plan": {}, "samples": [
     {"id": "a1", "epoch": 1, "input": "Which file?", "target": "a.py", "scores": {"match": {"value": "C"}},
      "messages": [{"role": "user", "content": "Which file?"},
       {"role": "assistant", "id": "m2", "content": "", "tool_calls":
        [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}]},
       {"role": "tool", "tool_call_id": "c1", "function": "bash", "content": "attachment://9f",
        "error": {"type": "timeout", "message": "over 30 s"}}],
      "attachments": {"9f": "a long text"}, "events": []}]}

The binary `.eval` container holds the same (`archive`). A trajectory's id is the sample's, with `-e2` from the second
epoch on. Tokens, seconds and timestamps come from the model events; `extra["log"]` is of all samples.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.evaluations.inspect_messages import Stored, resolved, status_of, steps_of
from misstep_harness.readers.input.archive import UNREADABLE, brief, is_too_long
from misstep_harness.readers.input.decoding import convert, decode_json, unreadable
from misstep_harness.readers.input.fields import amount, filled, rest_of
from misstep_harness.readers.interchange.content import as_text
from misstep_harness.readers.interchange.conversation import first_words_of_user
from misstep_harness.trajectory import Outcome, Source, Trajectory

FORMAT = "inspect_ai"
UNIT: Unit = "value"


class _Eval(Struct):
    task: str | None = None
    model: str | None = None
    solver: str | None = None


class _Log(Struct):
    version: int
    eval: _Eval
    samples: list[dict[str, Any]] | None = None


class _Sample(Struct):
    id: int | str | None = None
    epoch: int = 1
    input: str | list[Any] | None = None
    messages: list[dict[str, Any]] = []
    scores: dict[str, Any] | None = None
    score: Any = None
    events: list[Any] | None = None
    transcript: dict[str, Any] | None = None
    attachments: dict[str, Any] | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file is not an Inspect eval log."""
    first = sample.first
    if sample.head.startswith("PK\x03\x04"):
        return "a zip archive without header.json, or a broken one"
    if not isinstance(first, dict):
        return "not a JSON object"
    described = first.get("eval")
    if not isinstance(described, dict) or not isinstance(first.get("version"), int):
        return "no `version` and `eval`"
    return None if "task" in described or "model" in described else "its `eval` names neither task nor model"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return a trajectory for each sample and epoch of the log."""
    value = decode_json(data, source)
    if isinstance(value, dict) and isinstance(why := value.get(UNREADABLE), str):
        raise unreadable(why, source)
    log = convert(value, _Log, source)
    about = {name: field for name, field in value.items() if name != "samples"}
    samples = log.samples or []
    if not samples:
        status = as_text(value.get("status")) or "not said"
        why = f"the log has no samples (its status: {status}): logs that list results alone hold no session"
        raise unreadable(why, source, field="samples")
    try:
        too_long = is_too_long(len(as_text(about)), len(samples), len(data)) if len(samples) > 1 else False
        for raw in samples:
            trajectory = _trajectory(raw, log, about, source)
            yield trajectory
            if too_long and raw is samples[0]:
                about = brief(about, trajectory.id)
    except RecursionError as error:
        raise unreadable("the data are nested too deep", source) from error


def _trajectory(raw: dict[str, Any], log: _Log, about: dict[str, Any], source: Source) -> Trajectory:
    sample = convert(raw, _Sample, source)
    transcript = sample.transcript or {}
    events = sample.events if sample.events is not None else transcript.get("events")
    content = transcript.get("content")
    stored = Stored((sample.attachments or {}) | (content if isinstance(content, dict) else {}), source)
    steps = steps_of(sample.messages, events if isinstance(events, list) else [], stored, source)
    name = "sample" if sample.id is None else str(sample.id)
    question = sample.input if isinstance(sample.input, str) else ""
    task = resolved(question, stored) if question else first_words_of_user(steps)
    scores = list((sample.scores or {}).values()) or ([sample.score] if sample.score is not None else [])
    values = [score.get("value") if isinstance(score, dict) else score for score in scores]
    statuses = set(map(status_of, values))
    alone = amount(values[0]) if len(values) == 1 else None
    return Trajectory(
        id=name if sample.epoch == 1 else f"{name}-e{sample.epoch}",
        source=source,
        task=task if isinstance(task, str) else question,
        steps=steps,
        outcome=Outcome(statuses.pop() if len(statuses) == 1 else "unknown", alone),
        agent=log.eval.solver,
        model=log.eval.model,
        extra=rest_of(raw, _Sample)
        | filled((name, raw.get(name)) for name in ("input", "scores", "score", "events", "transcript", "attachments"))
        | {"epoch": sample.epoch, "log": about},
    )
