"""A file that is still being written is read as far as it is whole."""

import json
from pathlib import Path

import pytest

from misstep.harness.errors import InputError, UnknownFormat
from misstep.harness.observer.growing import growing_runs, mark_of
from tests.families.recordings import recording_of
from tests.harness.observer.growing_sessions import looping, written
from tests.misstep.made_up import atif


def test_a_half_written_last_line_is_left_out(tmp_path: Path) -> None:
    lines = looping(3)
    whole = growing_runs(written(tmp_path / "a.jsonl", lines))
    half = growing_runs(written(tmp_path / "b.jsonl", [*lines, b'{"type": "assist'], end=b""))
    assert [run.steps for run in half] == [run.steps for run in whole]


def test_of_a_run_a_line_the_whole_ones_are_read(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(atif("first") + atif("second") + atif("third")[:90])
    assert [run.id for run in growing_runs(file)] == ["first", "second"]


def test_a_call_without_its_answer_is_not_yet_a_step(tmp_path: Path) -> None:
    (run,) = growing_runs(written(tmp_path / "a.jsonl", looping(3)[:-1]))
    assert len(run.steps) == 3


@pytest.mark.parametrize("name", ["claude_code", "codex", "gemini_cli"])
def test_sessions_of_other_agents_are_read_too(tmp_path: Path, name: str) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(recording_of(name))
    assert growing_runs(file)[0].steps


def test_a_list_of_events_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    events = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it"}},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "Look."}},
        {"id": 2, "source": "agent", "observation": "run", "cause": 1, "content": "a.py"},
    ]
    whole = json.dumps(events).encode()
    file.write_bytes(whole)
    assert len(growing_runs(file)[0].steps) == 2
    file.write_bytes(whole[:-20])
    with pytest.raises(InputError):
        growing_runs(file)


def test_a_file_that_is_too_long_or_no_session_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", looping(3))
    with pytest.raises(InputError, match="more than 0 MiB"):
        growing_runs(file, most_bytes=100)
    (tmp_path / "notes.txt").write_text("Mend the fence.\n")
    with pytest.raises(UnknownFormat):
        growing_runs(tmp_path / "notes.txt")


def test_the_mark_of_a_file_changes_with_it(tmp_path: Path) -> None:
    assert mark_of(tmp_path / "a") is None
    first = mark_of(written(tmp_path / "a", [b"one"]))
    assert mark_of(written(tmp_path / "a", [b"another"])) != first
