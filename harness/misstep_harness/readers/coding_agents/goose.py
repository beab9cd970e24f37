"""Goose sessions (github.com/block/goose): the JSON that `goose session export` writes, and the file `sessions.db`.

    {"id": "20260105_1", "name": "Rename", "working_dir": "/home/kim/app", "created_at": "2026-01-05T10:00:00Z",
     "provider_name": "openai", "model_config": {"model_name": "gpt-x"}, "input_tokens": 90, "output_tokens": 7,
     "conversation": [messages]}

The database, of version 1.10 and later, is read as one such line a session (`databases`; tables in
`crates/goose/src/session/session_manager.rs`). The program counts tokens for a whole session: `extra["session"]`.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_harness.protocols import Sample, Unit
from misstep_harness.readers.coding_agents.goose_messages import add_message, is_message
from misstep_harness.readers.input.databases import MARK, decode_session
from misstep_harness.readers.input.decoding import name_of
from misstep_harness.readers.input.fields import at, filled, rest_of, text_or_none
from misstep_harness.readers.interchange.conversation import Conversation
from misstep_harness.trajectory import Source, Trajectory

FORMAT = "goose"
UNIT: Unit = "value"


class _Session(Struct):
    conversation: list[Any] | None = None
    id: str | None = None


def refuse(sample: Sample) -> str | None:
    """Return why the file holds no Goose sessions."""
    first = sample.first
    if not isinstance(first, dict):
        return "not a JSON object"
    if MARK in first:
        return None if first[MARK] == FORMAT else f"a database of {str(first[MARK])[:40]!r}"
    messages = first.get("conversation")
    if not isinstance(messages, list) or "working_dir" not in first:
        return "no working_dir and list `conversation`"
    return None if not messages or is_message(messages[0]) else "its messages have no role, created and content"


def read(data: bytes, source: Source) -> Iterator[Trajectory]:
    """Return the session in one document or line."""
    value, session = decode_session(data, source, _Session)
    conversation = Conversation()
    for message in session.conversation or []:
        add_message(conversation, message, source)
    yield conversation.trajectory(
        session.id or name_of(source),
        source,
        agent="goose",
        model=text_or_none(at(value, "model_config", "model_name")),
        parent=text_or_none(at(value, "parent_session_id")),
        extra=filled([("session", rest_of(value, _Session, MARK))]),
    )
