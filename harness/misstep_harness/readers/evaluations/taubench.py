"""tau-bench results: a list of records of simulated customer service, or one record a line of JSON Lines.

    {"task_id": 3, "trial": 1, "reward": 1.0,
     "info": {"task": {"user_id": "u1", "instruction": "You want to move your flight.", "actions": [], "outputs": []},
              "user_cost": 0.02, "reward_info": {"reward": 1.0}},
     "traj": [{"role": "system", "content": "Be polite."}, {"role": "user", "content": "Hello."}]}

A trajectory's id is `task_id-trial`; it passed when its reward is 1. The messages under `traj` are those of `chat`;
`extra["step_of_message"]` has the step of each, both counted from 0. The agents `act` and `react` write their calls as
text, and the environment answers in the user's role. A record of a run that broke off has no messages and no outcome.

Checked with tau-bench at 59a200c (run.py, agents).
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.input.decoding import convert, decode_json
from misstep_harness.readers.input.fields import at, rest_of, text_or_none
from misstep_harness.readers.interchange.chat import steps_of
from misstep_harness.readers.interchange.content import parse_arguments
from misstep_harness.readers.interchange.conversation import first_words_of_user, rewarded
from misstep_harness.trajectory import Outcome, Source, Trajectory

FORMAT = "taubench"
UNIT: Unit = "value"

_OUTPUT = "API output: "


class _Record(Struct):
    task_id: int | str
    traj: list[dict[str, Any]]
    trial: int | str | None = None
    reward: float | None = None
    info: dict[str, Any] | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file has no tau-bench results."""
    record = sample.first
    if isinstance(record, list):
        if not record:
            return "an empty list"
        record = record[0]
    if not isinstance(record, dict):
        return "no record and no list of records"
    missing = [name for name in ("task_id", "traj") if name not in record]
    return f"no `{missing[0]}` in its record" if missing else None


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the trajectories of all records, in order."""
    value = decode_json(data, source)
    raws: list[dict[str, Any]] = value if isinstance(value, list) else [value]
    for raw, record in zip(raws, convert(raws, list[_Record], source), strict=True):
        yield _trajectory(raw, record, source)


def _trajectory(raw: dict[str, Any], record: _Record, source: Source) -> Trajectory:
    steps, step_of_message = steps_of(_with_calls(record.traj), source)
    broken = not record.traj and at(record.info, "error") is not None
    instruction = text_or_none(at(record.info, "task", "instruction"))
    extra = rest_of(raw, _Record) | {"task_id": record.task_id, "step_of_message": list(step_of_message)}
    if record.trial is not None:
        extra["trial"] = record.trial
    if record.info:
        extra["info"] = record.info
    return Trajectory(
        id=f"{record.task_id}" if record.trial is None else f"{record.task_id}-{record.trial}",
        source=source,
        task=first_words_of_user(steps) if instruction is None else instruction,
        steps=steps,
        outcome=Outcome() if broken else rewarded(record.reward),
        extra=extra,
    )


def _with_calls(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with the calls that an agent wrote as text, and their answers as a tool's."""
    told = [dict(message) for message in messages]
    for asked, answer in pairwise(told):
        text, output = asked.get("content"), answer.get("content")
        if answer.get("role") != "user" or not isinstance(output, str) or not output.startswith(_OUTPUT):
            continue
        action = parse_arguments(text.split("Action:")[-1].strip())[0] if isinstance(text, str) else {}
        if asked.get("role") == "assistant" and isinstance(action, dict) and isinstance(action.get("name"), str):
            asked["tool_calls"] = [{"function": {"name": action["name"], "arguments": action.get("arguments")}}]
            answer |= {"role": "tool", "content": output.removeprefix(_OUTPUT)}
    return told
