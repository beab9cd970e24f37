"""Properties of the journal: whatever byte is lost, what is done after the repair is never done again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.errors import CannotWrite
from misstep_harness.journal import run_folder
from misstep_harness.journal.records import SESSIONS, VERDICT_RECORDS, VERDICTS, encode_lines
from misstep_harness.journal.run_folder import PROGRESS, RunInProgress
from misstep_harness.verdict import Verdict
from tests.harness.journal.made_up import manifest

RECORDS = [encode_lines([Verdict(f"item-{number}", "made_up", "yes" * (number % 3))]) for number in range(5)]
BESIDE = [b"x" * (number % 4) + b"\n" for number in range(5)]
FILES = (VERDICTS, SESSIONS, PROGRESS)
CUTS = st.lists(st.tuples(st.sampled_from(FILES), st.floats(0, 1), st.integers(0, 5)), max_size=4)


def _entry(verdict: Verdict, noted: str | None) -> str:
    return f"made from {verdict.item}" if noted is None else noted


def _opened(folder: Path, *, paid: bool) -> RunInProgress[Verdict, str]:
    if paid:
        return RunInProgress(folder, manifest(), VERDICT_RECORDS, str, _entry, goes_on=True)
    return RunInProgress(folder, manifest(), VERDICT_RECORDS, str, beside=SESSIONS)


def _append(run: RunInProgress[Verdict, str], number: int, *, paid: bool) -> None:
    run.append_lines(RECORDS[number], f"noted {number}", b"" if paid else BESIDE[number])


def _cut(folder: Path, name: str, part: float) -> None:
    file = folder / name
    if file.exists():
        content = file.read_bytes()
        file.write_bytes(content[: int(part * len(content))])


@pytest.mark.parametrize("paid", [False, True])
@given(cuts=CUTS)
def test_what_is_appended_after_a_cut_anywhere_is_there_at_the_next_start(paid: bool, cuts: Any) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, part, until in (*cuts, (PROGRESS, 1.0, 5)):
            with _opened(folder, paid=paid) as run:
                for number in range(len(run.entries), until):
                    _append(run, number, paid=paid)
                before = list(run.entries)
            with _opened(folder, paid=paid) as again:
                assert again.entries == before
            _cut(folder, file, part)
        assert (folder / VERDICTS).read_bytes() == b"".join(RECORDS)
        if not paid:
            assert (folder / SESSIONS).read_bytes() == b"".join(BESIDE)


@pytest.mark.parametrize("paid", [False, True])
def test_a_journal_cut_in_its_last_line_takes_the_next_line_whole(tmp_path: Path, paid: bool) -> None:
    with _opened(tmp_path, paid=paid) as run:
        for number in range(3):
            _append(run, number, paid=paid)
    journal = tmp_path / PROGRESS
    journal.write_bytes(journal.read_bytes()[:-7])
    with _opened(tmp_path, paid=paid) as run:
        _append(run, len(run.entries), paid=paid)
        before = list(run.entries)
    assert journal.read_bytes().count(b"\n") == len(before)
    with _opened(tmp_path, paid=paid) as again:
        assert again.entries == before


@contextmanager
def _disk(room: int) -> Iterator[None]:
    """Let so many bytes be written, and then none."""
    left, whole = room, run_folder.write_all

    def write(stream: Any, content: bytes, file: Path) -> None:
        nonlocal left
        stream.write(content[:left])
        left -= len(content)
        if left < 0:
            raise CannotWrite(file, "No space left on device")

    run_folder.write_all = write
    try:
        yield
    finally:
        run_folder.write_all = whole


@pytest.mark.parametrize("paid", [False, True])
@given(room=st.integers(0, 1200))
def test_on_a_disk_that_fills_up_at_any_byte_the_run_goes_on_once_there_is_room(paid: bool, room: int) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with _disk(room), _opened(folder, paid=paid) as run:
                for number in range(5):
                    _append(run, number, paid=paid)
        except CannotWrite:
            pass
        with _opened(folder, paid=paid) as run:
            for number in range(len(run.entries), 5):
                _append(run, number, paid=paid)
        assert (folder / VERDICTS).read_bytes() == b"".join(RECORDS)
