"""What `opencode run --format json` prints (github.com/anomalyco/opencode): JSON Lines of the parts of its answers.

    {"type": "step_start", "timestamp": 1767607201000, "sessionID": "ses_1",
     "part": {"id": "prt_1", "messageID": "msg_2", "type": "step-start"}}
    {"type": "tool_use", "timestamp": 1767607202000, "sessionID": "ses_1", "part": {"id": "prt_2", "messageID": "msg_2",
     "type": "tool", "callID": "c1", "tool": "bash", "state": {"status": "completed", "input": {"command": "ls"},
     "output": "a.py", "metadata": {"exit": 0}}}}

The parts are those of `opencode`, without the person's words and the model (`packages/opencode/src/cli/cmd/run.ts`).
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.coding_agents.opencode import Reading
from misstep_harness.readers.input.decoding import decode_lines, name_of
from misstep_harness.readers.input.fields import at, filled, kept_line, text_or_none, without
from misstep_harness.trajectory import Source, Trajectory

FORMAT = "opencode_stream"
UNIT: Unit = "file"

_PLACED = ("type", "timestamp", "sessionID", "part")


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a stream of opencode."""
    first = sample.first
    if not isinstance(first, dict):
        return "not JSON objects, one a line"
    named = isinstance(first.get("sessionID"), str) and isinstance(first.get("type"), str)
    has_part = isinstance(first.get("part"), dict) or first.get("type") == "error"
    return None if named and has_part else "the first line has no type, sessionID and part"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the one run of a file."""
    lines = decode_lines(data, source)
    messages: dict[Any, dict[str, Any]] = {}
    others: list[dict[str, Any]] = []
    identity = None
    for number, value in lines.values:
        part = at(value, "part")
        if not isinstance(part, dict):
            others.append(kept_line(number, value))
            continue
        identity = identity or value.get("sessionID")
        name = str(part.get("messageID"))
        info = {"id": name, "role": "assistant", "time": {"created": value.get("timestamp")}}
        messages.setdefault(name, {"info": info, "parts": []})["parts"].append(part)
        if rest := without(value, *_PLACED):
            others.append(kept_line(number, rest))
    reading = Reading(source)
    for message in messages.values():
        reading.place(message)
    extra = filled([("other_lines", others), ("unfinished_line", lines.unfinished)])
    named = text_or_none(identity) or name_of(source)
    yield reading.conversation.trajectory(named, source, agent="opencode", extra=extra)
