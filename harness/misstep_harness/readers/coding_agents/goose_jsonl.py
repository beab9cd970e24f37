"""Goose sessions before version 1.10 (github.com/block/goose): JSON Lines, a header and messages, one file a session.

    {"working_dir": "/home/kim/app", "description": "Rename", "message_count": 3, "total_tokens": 97}
    {"role": "user", "created": 1767607200, "content": [{"type": "text", "text": "Rename the flag"}]}

The files `~/.local/share/goose/sessions/<session>.jsonl` (`crates/goose/src/session/legacy.rs`); the oldest have no
header.
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.coding_agents.goose_messages import add_message, is_message
from misstep_harness.readers.input.decoding import decode_lines, name_of
from misstep_harness.readers.input.fields import filled
from misstep_harness.readers.interchange.conversation import Conversation
from misstep_harness.trajectory import Source, Trajectory

FORMAT = "goose_jsonl"
UNIT: Unit = "file"

_KINDS = ('"text"', '"toolRequest"', '"toolResponse"', '"thinking"')


def refuse(sample: Sample) -> str | None:
    """Return why the file is not a Goose session of that time."""
    first = sample.first
    if not isinstance(first, dict):
        return "not JSON objects, one a line"
    if "working_dir" in first and ("message_count" in first or "description" in first):
        return None if "conversation" not in first else "a session in one object"
    if not is_message(first):
        return "the first line is neither a header with working_dir nor a message with role, created and content"
    return None if any(kind in sample.head for kind in _KINDS) else "its messages have no parts of Goose"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the one session of a file."""
    lines = decode_lines(data, source)
    conversation = Conversation()
    header: dict[str, Any] = {}
    for place, (number, value) in enumerate(lines.values):
        if place == 0 and isinstance(value, dict) and "content" not in value:
            header = value
        else:
            add_message(conversation, value, source, number)
    extra = filled([("session", header), ("unfinished_line", lines.unfinished)])
    yield conversation.trajectory(name_of(source), source, agent="goose", extra=extra)
