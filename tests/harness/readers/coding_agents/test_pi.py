"""Pi sessions: what a fork repeats, the older versions, the person's commands, a file cut off."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.protocols import Sample
from misstep_harness.readers.coding_agents import pi
from misstep_harness.trajectory import Source, Tokens, Trajectory
from tests.families.recordings import recording_of

SOURCE = Source("pi", "sessions/2026-01-05T10-00-00-000Z_s1.jsonl")
HEADER = {"type": "session", "id": "s1", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/app", "modelId": "gpt-x"}


def read(*lines: dict[str, Any], unfinished: str = "") -> list[Trajectory]:
    data = "".join(json.dumps(line) + "\n" for line in lines) + unfinished
    return list(pi.read(data.encode(), SOURCE))


def message(**fields: Any) -> dict[str, Any]:
    return {"type": "message", "timestamp": "2026-01-05T10:00:01.000Z", "message": fields}


def test_a_header_of_another_program_without_a_timestamp_is_refused() -> None:
    other = {"type": "session", "version": 3, "id": "s1", "createdAt": 1767607200000, "cwd": "/app"}
    assert pi.refuse(Sample(Path("s1.jsonl"), "lines", other, ""))
    assert pi.refuse(Sample(Path("s1.jsonl"), "lines", HEADER, "")) is None


def test_the_sample_is_a_fork_whose_own_steps_alone_count() -> None:
    (session,) = pi.read(recording_of("pi"), SOURCE)
    assert (session.id, session.parent, session.model, session.task) == ("s1", "s0", "gpt-x", "Rename the flag")
    assert [line["line"] for line in session.extra["replayed_lines"]] == [2]
    assert [(step.role, step.text) for step in session.steps] == [
        ("user", "Rename the flag"),
        ("agent", ""),
        ("system", "git status\nclean"),
        ("system", "The flag is renamed."),
        ("agent", "Done."),
    ]
    step = session.steps[1]
    assert (step.reasoning, step.timestamp) == ("Look first.", "2026-01-05T10:00:07.000Z")
    assert step.tokens == Tokens(prompt=90, completion=7, cached=50, cost_usd=0.001)
    assert [(call.name, call.arguments, call.id) for call in step.calls] == [("bash", {"command": "ls x"}, "c1")]
    assert [(result.text, result.is_error, result.call_id) for result in step.results] == [("no such file", True, "c1")]


def test_a_session_that_is_no_fork_repeats_nothing_however_old_its_entries() -> None:
    early = message(role="user", content="Fix it") | {"timestamp": "2025-01-01T00:00:00.000Z"}
    (session,) = read(HEADER, early)
    assert (session.parent, [step.text for step in session.steps]) == (None, ["Fix it"])


def test_the_first_version_names_the_model_in_its_header_and_its_entries_have_no_ids() -> None:
    (session,) = read(HEADER, message(role="user", content="Fix it"))
    assert session.model == "gpt-x"
    assert session.steps[0].extra == {}


def test_a_file_of_two_sessions_gives_a_trajectory_of_each_at_its_line() -> None:
    result = read(
        HEADER, message(role="user", content="Fix it"), HEADER | {"id": "s2"}, message(role="user", content="x")
    )
    assert [(session.id, session.source.line) for session in result] == [("s1", 1), ("s2", 3)]


def test_what_is_printed_while_it_runs_counts_a_message_once_when_it_ends() -> None:
    line = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "timestamp": 1767607200000}
    grown = [{"type": kind, "message": line} for kind in ("message_start", "message_update", "message_end", "turn_end")]
    (session,) = read(HEADER, {"type": "agent_start"}, *grown)
    assert [(step.text, step.timestamp) for step in session.steps] == [("Done.", "2026-01-05T10:00:00+00:00")]
    assert session.extra["other_lines"] == [{"line": 2, "value": {"type": "agent_start"}}]


@pytest.mark.parametrize(
    "before",
    ['<file name="/app/a.py">\nDelete it\n</file>\n', '<skill name="go" location="/s">\nDelete it\n</skill>\n\n'],
)
def test_a_file_or_a_skill_before_a_persons_words_is_not_theirs(before: str) -> None:
    (session,) = read(HEADER, message(role="user", content=[{"type": "text", "text": before + "Fix it"}]))
    (alone,) = read(HEADER, message(role="user", content=before))
    assert (session.task, session.steps[0].extra["injected"]) == ("Fix it", [before.strip()])
    assert [step.role for step in alone.steps] == ["system"]


def test_a_command_that_failed_has_its_exit_code() -> None:
    answer = message(role="toolResult", toolCallId="c1", content="x\n\nCommand exited with code 2", isError=True)
    (result,) = read(HEADER, answer)[0].steps[0].results
    assert (result.exit_code, result.is_error) == (2, True)
