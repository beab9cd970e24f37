"""Recorded sessions are run again and compared; one that comes out otherwise is named."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep.harness.errors import MisstepError
from misstep.harness.workspace import Sandbox
from misstep.studies.experiments import recorded_live, recordings
from misstep.studies.recorded.experiment_again import SessionsAgain, sessions_again
from tests.harness.repair.conftest import sandbox as sandbox


def test_the_first_sessions_of_the_projects_own_recordings_come_out_again(sandbox: Sandbox) -> None:  # noqa: ARG001
    again = sessions_again()
    assert len(again.pairs) >= 2
    again.check()
    recorded, made = again.pairs[0]
    with pytest.raises(MisstepError, match=recorded.item):
        SessionsAgain(((replace(recorded, n_steps=recorded.n_steps + 1), made),)).check()


def test_without_recordings_nothing_is_run_and_the_reason_is_said(tmp_path: Path) -> None:
    assert sessions_again(tmp_path) == SessionsAgain(absent="No experiment is recorded.")
    assert recorded_live(tmp_path) is None


def test_the_projects_own_recordings_are_of_both_designs_and_small() -> None:
    runs = recordings()
    assert {run.requested("design") for run in runs} == {"shadow", "ab"}
    assert sum(file.stat().st_size for run in runs for file in run.folder.iterdir()) < 1_000_000
    live = recorded_live()
    assert live is not None
    assert live.judgements
    sessions = {session.item for session in live.shadow if session.arm == "guide"}
    assert {session for session, _ in live.judgements} <= sessions
