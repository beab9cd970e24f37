"""Properties of the cache of verdicts: whatever stops a run or is lost of it, the same line makes it whole."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.errors import CannotWrite
from misstep_harness.journal import run_folder
from misstep_harness.journal.classified import Summary
from misstep_harness.journal.inputs import FILE_RECORDS
from misstep_harness.journal.records import FILES, SCORES, SESSIONS, VERDICTS, encode, read_records
from misstep_harness.journal.run_folder import PROGRESS
from misstep_harness.runs.classify import ClassifyPlan
from misstep_harness.runs.spread import Spread
from misstep_harness.runs.verdict_cache import classify_into
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict
from tests.misstep.made_up import CATEGORIES, atif_lines, by_id

NAMES = ("monday", "tuesday", "wednesday")
LOST = (VERDICTS, SESSIONS, FILES, SCORES, PROGRESS, f".new/{VERDICTS}", f".new/{SESSIONS}", f".new/{PROGRESS}")
STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(1, 3), st.integers(0, 4), st.sampled_from(LOST), st.integers(0, 30)),
    max_size=4,
)


class Stopped(Exception):
    """The process is gone."""


def _until(calls: "count[int]", stop_at: int, one: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    if next(calls) == stop_at:
        raise Stopped
    return by_id(one, categories)


def _scores(summary: Summary, folder: Path) -> dict[str, bytes]:  # noqa: ARG001
    left_out = {"unreadable": summary.unreadable, "skipped": summary.skipped}
    return {SCORES: msgspec.json.format(encode(left_out), indent=2) + b"\n"}


def _classify(folder: Path, run: Path, stop_at: int = -1) -> None:
    plan = ClassifyPlan(CATEGORIES, partial(_until, count(), stop_at), ["made up"], spread=Spread(1))
    with suppress(Stopped):
        classify_into([folder], plan, run, _scores)


def _content(run: Path) -> list[list[Any]]:
    """The records without their order, as new files come behind what is copied, and the files without their times."""
    records = [sorted((run / name).read_bytes().splitlines()) for name in (VERDICTS, SESSIONS)]
    return [*records, [(one.file, one.content) for one in read_records(run, FILE_RECORDS)]]


def _cut(file: Path, lost: int) -> None:
    if file.is_file():
        file.write_bytes(file.read_bytes()[: -lost or None])


@given(steps=STEPS)
def test_after_changes_kills_and_losses_in_any_order_it_is_the_run_of_the_files_as_they_are(steps: Any) -> None:
    with TemporaryDirectory() as name:
        folder, run = Path(name, "sessions"), Path(name, "run")
        folder.mkdir()
        for file in NAMES:
            atif_lines(folder / f"{file}.jsonl", [file])
        for file, sessions, stop_at, lost_of, lost in steps:
            atif_lines(folder / f"{file}.jsonl", (f"{file}-{number}" for number in range(sessions)))
            _classify(folder, run, stop_at)
            _cut(run / lost_of, lost)
        _classify(folder, run)
        _classify(folder, Path(name, "anew"))
        assert _content(run) == _content(Path(name, "anew"))
        assert not list(run.glob(".*"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Files and a finished run of them."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "sessions").mkdir()
    for file in NAMES:
        atif_lines(folder / "sessions" / f"{file}.jsonl", (f"{file}-{number}" for number in range(3)))
    _classify(folder / "sessions", folder / "run")
    return folder / "sessions", folder / "run"


@pytest.mark.parametrize("name", [VERDICTS, SESSIONS, FILES, SCORES])
@pytest.mark.parametrize("lost", [7, None])
def test_a_finished_run_that_lost_bytes_is_made_whole_by_the_same_line(finished, tmp_path, name, lost) -> None:
    folder, whole = finished
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    if lost is None:
        (run / name).unlink()
    else:
        _cut(run / name, lost)
    _classify(folder, run)
    for each in (VERDICTS, SESSIONS, FILES, SCORES):
        assert (run / each).read_bytes() == (whole / each).read_bytes()


@given(room=st.integers(0, 4000))
def test_on_a_disk_that_fills_up_the_run_that_stands_stays_and_goes_on_later(finished: Any, room: int) -> None:
    left, write_all = room, run_folder.write_all

    def write(stream: Any, content: bytes, file: Path) -> None:
        nonlocal left
        stream.write(content[: max(left, 0)])
        left -= len(content)
        if left < 0:
            raise CannotWrite(file, "No space left on device")

    folder, whole = finished
    with TemporaryDirectory() as name:
        run = Path(name, "run")
        run_folder.write_all = write
        try:
            _classify(folder, run)
        except CannotWrite:
            pass
        finally:
            run_folder.write_all = write_all
        _classify(folder, run)
        assert (run / VERDICTS).read_bytes() == (whole / VERDICTS).read_bytes()
