"""The columns of a packed session."""

import pyarrow as pa
import pytest

from misstep.harness.lake.columns import BODY, row_of, schema
from misstep.harness.trajectory import Outcome, Source, Step, Tokens, ToolResult, Trajectory

SCOUT = {
    "transcript_id": pa.large_string(),
    "source_type": pa.large_string(),
    "source_uri": pa.large_string(),
    "date": pa.large_string(),
    "task_set": pa.large_string(),
    "agent": pa.large_string(),
    "model": pa.large_string(),
    "score": pa.large_string(),
    "success": pa.bool_(),
    "message_count": pa.int64(),
    "total_time": pa.float64(),
    "total_tokens": pa.int64(),
}
"""Names and types of inspect-scout 0.6.1, `_transcript/database/schema.py`."""


def test_what_inspect_scout_has_a_name_for_has_its_name_and_type_and_the_body_stands_last() -> None:
    assert {name: schema().field(name).type for name in SCOUT} == SCOUT
    own = [name for name in schema().names if name not in SCOUT]
    assert own == ["n_steps", "n_bytes", "sha256", "cluster", "reader", "reader_version", BODY]


def test_a_row_says_what_the_session_says_and_no_more() -> None:
    steps = (
        Step("user", "Mend it."),
        Step("agent", "Done.", results=(ToolResult("ok"),), timestamp="2026-01-01T10:00:00Z", tokens=Tokens(5, 2)),
        Step("agent", "Well.", timestamp="2026-01-01T10:01:30Z", tokens=Tokens(7, None)),
    )
    run = Trajectory("a", Source("codex", "a.jsonl"), steps=steps, outcome=Outcome("failed", 0.5))
    row = row_of(run, b"{}", "atif", "1.2")
    assert (row.message_count, row.total_time, row.total_tokens, row.n_steps) == (4, 90.0, 14, 3)
    assert (row.success, row.score, row.date, row.cluster) == (False, "0.5", "2026-01-01T10:00:00Z", "a")
    bare = row_of(Trajectory("b", Source("codex"), steps=steps[:1], parent="a"), b"{}", "atif", "1.2")
    assert (bare.success, bare.score, bare.date, bare.total_time, bare.total_tokens) == (None,) * 5
    assert bare.cluster == "a"


@pytest.mark.parametrize("printed", ["yesterday", "2026-01-01T10:01:30"])
def test_times_that_cannot_be_compared_give_no_duration(printed: str) -> None:
    steps = (Step("agent", timestamp="2026-01-01T10:00:00Z"), Step("agent", timestamp=printed))
    assert row_of(Trajectory("a", Source("codex"), steps=steps), b"{}", "atif", "1").total_time is None
