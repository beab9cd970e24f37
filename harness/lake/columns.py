"""The columns of a packed session: what a query reads of it, and last its ATIF document.

Names and types are those of Inspect Scout's transcript database, so that it opens a packed folder
(https://meridianlabs-ai.github.io/inspect_scout/db_schema.html; inspect-scout 0.6.1, `_transcript/database/schema.py`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from types import NoneType
from typing import TYPE_CHECKING, get_args, get_type_hints

from msgspec import Struct

from misstep.harness.lake.chat_messages import message_count
from misstep.harness.records.session import session_of
from misstep.harness.trajectory import Step, Trajectory

if TYPE_CHECKING:
    import pyarrow as pa

ID = "transcript_id"
CLUSTER = "cluster"
BODY = "atif"

_SUCCESS = {"passed": True, "failed": False}


class PackedRow(Struct, frozen=True, gc=False):
    """One packed session; its fields are the schema.

    - `transcript_id`: Unique in a packed folder: the id that verdicts name it by.
    - `source_type`, `source_uri`: The format and the file that the run was recorded in.
    - `date`: The time of the first step that has one, in ISO 8601 as printed.
    - `task_set`: The data set that it comes from.
    - `score`: The reward, as JSON.
    - `message_count`: The number of turns and of answers of tools.
    - `total_time`: The seconds from the first step with a time to the last.
    - `total_tokens`: The prompt and completion tokens of all steps.
    - `n_bytes`, `sha256`: Of the ATIF document.
    - `cluster`: What it hangs together with in statistics: its parent's cluster, or that of the session whose id it
      has; else its own id.
    - `reader_version`: The version of the package that the reader comes from.
    - `messages`: The session as chat messages, in JSON, if it was asked for.
    - `atif`: The ATIF document, from which the session is read back as it was.
    """

    transcript_id: str
    source_type: str
    source_uri: str
    date: str | None
    task_set: str | None
    agent: str | None
    model: str | None
    score: str | None
    success: bool | None
    message_count: int
    total_time: float | None
    total_tokens: int | None
    n_steps: int
    n_bytes: int
    sha256: str
    cluster: str
    reader: str
    reader_version: str
    messages: bytes | None
    atif: bytes


MESSAGES = "messages"
INDEX: tuple[str, ...] = PackedRow.__struct_fields__[:-2]
"""The columns that a query reads: all but the text."""


def row_of(
    trajectory: Trajectory, document: bytes, reader: str, reader_version: str, messages: bytes | None = None
) -> PackedRow:
    """Return the row of a session, with the id that its reader gave it; its cluster is its own id or its parent's."""
    session = session_of(trajectory, trajectory.source.file)
    reward = trajectory.outcome.reward
    return PackedRow(
        transcript_id=trajectory.id,
        source_type=trajectory.source.format,
        source_uri=trajectory.source.file,
        date=session.started,
        task_set=trajectory.source.dataset,
        agent=trajectory.agent,
        model=trajectory.model,
        score=None if reward is None else repr(reward),
        success=_SUCCESS.get(trajectory.outcome.status),
        message_count=message_count(trajectory),
        total_time=_seconds(trajectory.steps),
        total_tokens=_tokens(trajectory.steps),
        n_steps=len(trajectory.steps),
        n_bytes=len(document),
        sha256=sha256(document).hexdigest(),
        cluster=trajectory.id if trajectory.parent is None else trajectory.parent,
        reader=reader,
        reader_version=reader_version,
        messages=messages,
        atif=document,
    )


def _seconds(steps: Sequence[Step]) -> float | None:
    """Return the time from the first step that has one to the last; `None` if two cannot be compared."""
    printed = [step.timestamp for step in steps if step.timestamp]
    if len(printed) < 2:
        return None
    try:
        return (datetime.fromisoformat(printed[-1]) - datetime.fromisoformat(printed[0])).total_seconds()
    except (ValueError, TypeError):  # no time, or only one of them with a time zone
        return None


def _tokens(steps: Sequence[Step]) -> int | None:
    counts = [
        count
        for step in steps
        if step.tokens is not None
        for count in (step.tokens.prompt, step.tokens.completion)
        if count is not None
    ]
    return sum(counts) if counts else None


@cache
def schema(*, messages: bool = False) -> "pa.Schema":
    """Return the columns with their Arrow types; with `messages` the one of chat messages too."""
    import pyarrow as pa

    types: Mapping[type, pa.DataType] = {
        str: pa.large_string(),
        bytes: pa.large_string(),
        bool: pa.bool_(),
        int: pa.int64(),
        float: pa.float64(),
    }
    fields = []
    for name, hint in get_type_hints(PackedRow).items():
        if name != MESSAGES or messages:
            kind = next(kind for kind in get_args(hint) or (hint,) if kind is not NoneType)
            fields.append(pa.field(name, types[kind], nullable=NoneType in get_args(hint)))
    return pa.schema(fields)


def record_batch(rows: Sequence[PackedRow]) -> "pa.RecordBatch":
    """Return rows as columns; either each of them has messages or none."""
    import pyarrow as pa

    columns = schema(messages=rows[0].messages is not None)
    arrays = []
    for field in columns:
        values = [getattr(row, field.name) for row in rows]
        is_text = field.name in (MESSAGES, BODY)
        arrays.append(pa.array(values, pa.large_binary()).cast(field.type) if is_text else pa.array(values, field.type))
    return pa.record_batch(arrays, schema=columns)
