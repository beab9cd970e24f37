"""`misstep sessions` on the command line."""

import json
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from misstep.harness.runs.pack import pack
from tests.misstep.as_a_user import CommandLine
from tests.misstep.made_up import atif


def test_the_sessions_that_meet_a_condition_are_listed(tmp_path: Path, in_process: CommandLine) -> None:
    (tmp_path / "runs.jsonl").write_bytes(b"".join(atif(f"run-{steps}", steps) for steps in range(2, 6)))
    pack([tmp_path / "runs.jsonl"], str(tmp_path / "lake"))
    sessions = partial(in_process, "sessions")
    where = "n_steps > 2 and agent = 'made-up'"
    line = (tmp_path / "lake", "--where", where, "--columns", "transcript_id,model,n_steps")
    code, said, _ = sessions(*line, "--limit", 2)
    assert code == 0
    assert [line.split() for line in said.splitlines()] == [
        ["transcript_id", "model", "n_steps"],
        ["run-3", "—", "3"],
        ["run-4", "—", "4"],
        ["2", "of", "3", "sessions;", "--limit", "N", "shows", "more"],
    ]
    _, said, _ = sessions(*line, "--json")
    document = json.loads(said)
    assert document["n"] == 3
    assert document["sessions"][0] == {"transcript_id": "run-3", "model": None, "n_steps": 3}
    code, _, errors = sessions(tmp_path / "lake", "--where", "n_steps ~ 2")
    assert code == 2
    assert "is not a condition" in errors
    assert sessions(tmp_path / "lake", "--where", "n_steps > 99")[1] == "no session meets the condition\n"


def test_tables_that_pack_has_not_written_show_the_usual_columns_that_they_have(tmp_path, in_process) -> None:
    """As a transcript database of Inspect Scout, and a table of chats with none of them."""
    sessions = partial(in_process, "sessions")
    for columns, shown in (
        ({"transcript_id": ["t"], "success": [True], "messages": ["[]"]}, ["transcript_id success", "t True"]),
        ({"instance_id": ["i"], "messages": ["[]"]}, ["instance_id", "i"]),
    ):
        pq.write_table(pa.table(columns), tmp_path / "t.parquet")
        _, said, _ = sessions(tmp_path / "t.parquet")
        assert [" ".join(line.split()) for line in said.splitlines()] == shown
    code, _, errors = sessions(tmp_path / "t.parquet", "--columns", "n_steps")
    assert (code, "unknown column 'n_steps'" in errors) == (2, True)
