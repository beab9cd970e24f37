"""Transcript databases of Inspect Scout: a trajectory a row, from a Parquet file with their columns."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misstep_harness.readers import read_file
from misstep_harness.readers.evaluations import inspect_scout
from misstep_harness.trajectory import Outcome, Source, Tokens, Trajectory, Unreadable
from tests.families.recordings import recording_of

ROW: dict[str, Any] = json.loads(recording_of("inspect_scout"))
NOT_READ = ("timelines", "events_data")


def database(path: Path, *rows: dict[str, Any]) -> Path:
    """A file of a database with the columns of these rows, JSON as text, as Scout writes it."""
    texts = [{name: json.dumps(one) if isinstance(one, list) else one for name, one in row.items()} for row in rows]
    columns = {name: [row.get(name) for row in texts] for row in texts for name in row}
    table = pa.table({name: pa.array(values, _type_of(values)) for name, values in columns.items()})
    pq.write_table(table, path, compression="zstd")
    return path


def _type_of(values: list[Any]) -> pa.DataType | None:
    return pa.large_string() if any(isinstance(value, str) for value in values) else None


def test_a_transcript_is_a_trajectory_with_what_its_events_say_of_the_steps(tmp_path: Path) -> None:
    pools = dict.fromkeys(NOT_READ, "[" * 99)
    (result,) = read_file(database(tmp_path / "transcripts.parquet", ROW | pools))
    assert isinstance(result, Trajectory)
    assert (result.source.format, result.id, result.task) == ("inspect_scout", "Yx7", "Which file?")
    assert (result.agent, result.model, result.outcome) == ("react", "openai/gpt-x", Outcome("passed"))
    step = result.steps[2]
    assert (step.reasoning, step.calls[0].arguments, step.results[0].is_error) == ("List them.", {"cmd": "ls"}, True)
    assert (step.tokens, step.seconds) == (Tokens(90, 7, 50), 1.5)
    assert result.extra["garden"] == "north"
    assert not {*NOT_READ, "events"} & set(result.extra)


@pytest.mark.parametrize(
    ("success", "score", "expected"),
    [
        (True, "0.4", Outcome("passed", 0.4)),
        (False, None, Outcome("failed")),
        (None, "C", Outcome("passed")),
        (None, "I", Outcome("failed")),
        (None, "0", Outcome("failed", 0.0)),
        (None, "0.5", Outcome("unknown", 0.5)),
        (None, '{"a": 1}', Outcome("unknown")),
    ],
)
def test_success_gives_the_outcome_and_a_score_where_there_is_none(success, score, expected) -> None:
    row = ROW | {"success": success, "score": score}
    (result,) = inspect_scout.read(json.dumps(row).encode(), Source("inspect_scout"))
    assert result.outcome == expected


def test_a_transcript_without_messages_is_unreadable_and_the_others_are_read(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"transcript_id": "Yx8", "messages": None}, ROW | {"transcript_id": "Yx9"}]
    results = list(read_file(database(tmp_path / "transcripts.parquet", *rows)))
    assert [one.id if isinstance(one, Trajectory) else one.line for one in results] == ["Yx7", 2, "Yx9"]
    assert isinstance(results[1], Unreadable)
