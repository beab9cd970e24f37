"""A sample of recorded repairs made again, on a made-up set of broken programs."""

from pathlib import Path

import pytest

from misstep.harness.errors import MisstepError
from misstep.studies.recorded.repair_again import repeated_sample
from misstep.studies.repair_runs import record_run
from tests.harness.repair.build.made_up_sets import FIX, made_up_set
from tests.harness.workspace.conftest import sandbox as sandbox
from tests.misstep.made_up_runs import repaired, repaired_run


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording that says of the one program of a made-up set that an attempt of 99 commands repaired it."""
    (tmp_path / "data").mkdir()
    made_up_set(tmp_path / "data" / "humanevalfix", FIX)
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path / "data"))
    attempts = [repaired("Python-7", iterations=99, setting="react")]
    run = repaired_run(tmp_path / "run", attempts, setting="react", iterations=5, seconds=60.0, seed=0)
    record_run(run, tmp_path / "recordings" / "kept", {"benchmark": "humanevalfix", "evidence": "real"})
    return tmp_path / "recordings"


@pytest.mark.usefixtures("sandbox")
def test_a_recorded_attempt_is_made_again_and_an_error_says_how_it_differs(recordings: Path) -> None:
    made = repeated_sample(recordings)
    ((recorded, again),) = made.runs
    assert [attempt.id for attempt in again.attempts] == [attempt.id for attempt in recorded.attempts]
    assert again.attempts[0].iterations in range(1, 6)
    with pytest.raises(MisstepError, match=r"iterations is \d, and 99 in the recording"):
        made.check()


def test_where_the_data_set_is_not_at_hand_nothing_is_made_again_and_a_sentence_says_so(
    recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSTEP_DATA", str(tmp_path / "run"))
    monkeypatch.setenv("MISSTEP_CACHE", str(tmp_path / "run"))
    made = repeated_sample(recordings)
    assert made.runs == ()
    assert made.absent.startswith("The files of humanevalfix are made by hand")
    made.check()
