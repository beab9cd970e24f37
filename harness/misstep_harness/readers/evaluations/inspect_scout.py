"""Transcript databases of Inspect Scout: a Parquet file of transcripts, a row each; see `parquet`.

Fields are those of `_transcript/database/schema.py` of inspect_scout (0.6, checked at 63b481d)::

    {"transcript_id": "Yx7", "source_type": "eval_log", "task_set": "fences", "task_id": "7", "task_repeat": 1,
     "agent": "coder", "model": "openai/gpt-x", "score": "C", "success": true, "date": "2026-01-05T10:00:00+00:00",
     "messages": [{"role": "user", "content": "Mend the fence."}], "events": []}

Messages are those of Inspect; tokens, seconds and timestamps come from the model events. `success` gives the outcome,
or else a score of C, I, 1 or 0. Other fields and columns go to `extra`.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.evaluations.inspect_ai import Stored, status_of, steps_of
from misstep_harness.readers.input.decoding import convert, decode_json
from misstep_harness.readers.input.fields import amount, rest_of
from misstep_harness.readers.interchange.conversation import first_words_of_user
from misstep_harness.trajectory import Outcome, Source, Trajectory

FORMAT = "inspect_scout"
UNIT: Unit = "value"


class _Transcript(Struct):
    transcript_id: str
    messages: list[dict[str, Any]]
    events: list[Any] | None = None
    agent: str | None = None
    model: str | None = None
    success: bool | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no transcripts."""
    first = sample.first
    if not isinstance(first, dict) or not isinstance(first.get("transcript_id"), str):
        return "no text `transcript_id`"
    return None if isinstance(first.get("messages"), list) else "no list `messages`"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the one transcript of a row."""
    fields = decode_json(data, source)
    transcript = convert(fields, _Transcript, source)
    steps = steps_of(transcript.messages, transcript.events or [], Stored({}, source), source)
    yield Trajectory(
        id=transcript.transcript_id,
        source=source,
        task=first_words_of_user(steps),
        steps=steps,
        outcome=_outcome(transcript.success, fields.get("score")),
        agent=transcript.agent,
        model=transcript.model,
        extra=rest_of(fields, _Transcript),
    )


def _outcome(success: bool | None, score: Any) -> Outcome:
    reward = amount(score)
    if isinstance(score, str):
        try:
            reward = amount(float(score))
        except ValueError:
            reward = None
    if success is not None:
        return Outcome("passed" if success else "failed", reward)
    return Outcome(status_of(score if reward is None else reward), reward)
