"""A sample of recorded sessions, repairs and verdicts is made again; one that comes out otherwise is named."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_analysis.observer.experiments.report import recorded_live
from misstep_analysis.observer.experiments.report import recordings as recorded_experiments
from misstep_analysis.repair.recorded_runs import open_repair_run, record_run
from misstep_analysis.reproduction.recorded.again import (
    SessionsAgain,
    VerdictsAgain,
    repairs_again,
    sessions_again,
    verdicts_again,
)
from misstep_analysis.reproduction.triage_recording import recordings as recorded_triage
from misstep_harness.errors import MisstepError
from misstep_harness.workspace import Sandbox
from tests.analysis.triage.made_up import verdict
from tests.harness.repair.build.made_up_sets import FIX, made_up_set
from tests.harness.workspace.conftest import sandbox as sandbox
from tests.misstep.made_up_runs import repaired, repaired_run


def test_the_first_sessions_of_the_projects_own_recordings_come_out_again(sandbox: Sandbox) -> None:  # noqa: ARG001
    again = sessions_again()
    assert len(again.pairs) >= 2
    again.check()
    recorded, made = again.pairs[0]
    with pytest.raises(MisstepError, match=recorded.item):
        SessionsAgain(((replace(recorded, n_steps=recorded.n_steps + 1), made),)).check()


def test_without_recordings_nothing_is_made_again_and_a_sentence_says_so(tmp_path: Path) -> None:
    assert sessions_again(tmp_path) == SessionsAgain(absent="No experiment is recorded.")
    assert verdicts_again(tmp_path) == VerdictsAgain(absent="No judge of triage is recorded.")
    assert recorded_live(tmp_path) is None


def test_the_projects_own_recordings_are_of_both_designs_and_small() -> None:
    runs = recorded_experiments()
    assert {run.requested("design") for run in runs} == {"shadow", "ab"}
    assert sum(file.stat().st_size for run in runs for file in run.folder.iterdir()) < 1_000_000
    live = recorded_live()
    assert live.judgements
    sessions = {session.item for session in live.shadow if session.arm == "guide"}
    assert {session for session, _ in live.judgements} <= sessions
    assert [folder.name for folder in recorded_triage()] == ["scoring"]


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording that says of the one program of a made-up set that an attempt of 99 commands repaired it."""
    (tmp_path / "data").mkdir()
    made_up_set(tmp_path / "data" / "humanevalfix", FIX)
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path / "data"))
    attempts = [repaired("Python-7", iterations=99, setting="react")]
    run = repaired_run(
        tmp_path / "run", attempts, setting="react", iterations=5, seconds=60.0, seed=0, benchmark="humanevalfix"
    )
    record_run(open_repair_run(run), tmp_path / "recordings" / "kept")
    return tmp_path / "recordings"


@pytest.mark.usefixtures("sandbox")
def test_a_recorded_attempt_is_made_again_and_an_error_says_how_it_differs(recordings: Path) -> None:
    made = repairs_again(recordings)
    ((recorded, again),) = made.pairs
    assert [attempt.id for attempt in again.attempts] == [attempt.id for attempt in recorded.attempts]
    assert again.attempts[0].iterations in range(1, 6)
    with pytest.raises(MisstepError, match=r"iterations is \d, and 99 in the recording"):
        made.check()


def test_where_the_data_set_is_not_at_hand_nothing_is_made_again_and_a_sentence_says_so(
    recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path / "run"))
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "run"))
    made = repairs_again(recordings)
    assert made.pairs == ()
    assert made.absent.startswith("The files of humanevalfix are made by hand")
    made.check()


@pytest.mark.usefixtures("sandbox")
def test_the_first_recorded_cases_are_generated_and_judged_as_they_are_recorded() -> None:
    again = verdicts_again()
    again.check()
    assert len(again.pairs) >= 4
    assert {recorded.judge for recorded, _ in again.pairs} == {one.judge for _, one in again.pairs}


def test_a_verdict_that_comes_out_otherwise_is_named_and_evidence_in_other_words_is_no_difference() -> None:
    VerdictsAgain(((verdict("c0", "rules", "task", "text"), verdict("c0", "rules", "task", "sandbox")),)).check()
    pair = verdict("c0", "rules", "task/brittle_tests"), verdict("c0", "rules", "agent/timeout")
    with pytest.raises(MisstepError, match=r"rules on c0 \(task brittle_tests, now agent timeout\)"):
        VerdictsAgain((pair,)).check()
