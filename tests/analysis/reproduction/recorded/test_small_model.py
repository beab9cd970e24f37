"""Verdicts of a small model are recorded with their replies, and the replies give them again."""

from pathlib import Path

import pytest

from misstep_analysis.reproduction.recorded import small_model
from misstep_analysis.reproduction.recorded.small_model import small_model_table
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import MisstepError
from misstep_harness.exchange import Request
from misstep_harness.journal.records import VERDICTS
from misstep_harness.runs.generate import GenerateOptions, write_folder
from misstep_harness.runs.judging.judge import run_judge

SCRIPT = "tests.analysis.reproduction.recorded.test_small_model:answer"


def answer(request: Request) -> str:
    """Say what no model says: a loop wherever the request has an even number of characters."""
    label = "no" if len(request.messages[-1].content) % 2 else "yes"
    return f'{{"label": "{label}", "reasoning": "as it is", "score": 1.0, "steps": []}}'


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """Record the judge of loops on eight generated sessions."""
    write_folder(tmp_path / "sessions", GenerateOptions(8, 2026))
    settings = ClientSettings(client="scripted", script=SCRIPT, record=tmp_path / "replies.jsonl")
    run_judge(small_model.judge("infinite_loop", "a-model"), tmp_path / "sessions", tmp_path / "run", settings)
    about = {"title": "loops", "source": "generated, seed 2026, n 8", "of": 60}
    place = tmp_path / "recordings"
    small_model.record(
        tmp_path / "run", place / "infinite_loop", tmp_path / "replies.jsonl", tmp_path / "sessions", **about
    )
    return place


def test_replies_are_kept_without_their_requests_and_give_the_verdicts_again(recordings: Path) -> None:
    assert b"request" not in (recordings / "infinite_loop" / small_model.REPLIES).read_bytes()
    assert small_model.replay_again(recordings) == 8


def test_a_verdict_that_comes_out_otherwise_is_an_error(recordings: Path) -> None:
    file = recordings / "infinite_loop" / VERDICTS
    file.write_bytes(file.read_bytes().replace(b'"label":"yes"', b'"label":"no"'))
    with pytest.raises(MisstepError, match=r"scoring-2026-\d+/infinite_loop differs from the recording"):
        small_model.replay_again(recordings)


def test_a_recorded_verdict_on_a_session_that_is_gone_is_an_error(recordings: Path) -> None:
    file = recordings / "infinite_loop" / VERDICTS
    file.write_bytes(file.read_bytes().replace(b"scoring-2026-000003/", b"scoring-1999-000003/"))
    with pytest.raises(MisstepError, match=r"scoring-1999-000003/infinite_loop differs from the recording"):
        small_model.replay_again(recordings)


def test_the_table_says_first_where_the_model_is_no_better_than_a_constant(recordings: Path) -> None:
    table = small_model_table(small_model.scored(recordings))
    assert table.finding.endswith("in 1 of 1 question: loops, 8 of 60.")
    assert {row.evidence for row in table.rows} == {"generated"}
    assert small_model.scored(recordings / "none") == []
