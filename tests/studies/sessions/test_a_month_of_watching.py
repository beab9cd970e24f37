"""Thirty nights of looks lose no session and count none twice, whatever happens to log, clock, disk and version."""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec import structs

from misstep.harness.errors import CannotWrite
from misstep.harness.journal.records import SESSION_RECORDS, read_manifest, read_records, read_verdicts, write_manifest
from misstep.harness.runs import growth
from misstep.harness.runs.classify import ClassifyPlan
from misstep.harness.runs.spread import Spread
from misstep.studies.classified_paths import classified_findings
from misstep.studies.sessions.watching import new_findings
from tests.misstep.as_a_user import files_end_at
from tests.misstep.made_up import CATEGORIES, atif, atif_lines, by_id

PLAN = ClassifyPlan(CATEGORIES, by_id, spread=Spread(1))
HOUR, DAY = 3600, 86400


class _Agent:
    """An agent that logs its sessions: some to one file, some to a file of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "app.jsonl"
        self.sessions: list[str] = []
        self.clock = 1_790_000_000
        folder.mkdir()

    def works(self, sessions: int = 2) -> None:
        names = [f"s{len(self.sessions) + number}" for number in range(sessions)]
        self.sessions += names
        self._write(self.log, b"".join(map(atif, names)), "ab")

    def works_on_one(self, night: int) -> None:
        """Two nights are worked on a session with a file of its own, which is written whole each time."""
        name = f"long-{night // 2}"
        self.sessions += [name] * (night % 2 == 0)
        self._write(self.folder / f"{name}.json", atif(name, steps=3 + night % 2), "wb")

    def _write(self, file: Path, content: bytes, mode: str) -> None:
        with file.open(mode) as stream:
            stream.write(content)
        self.clock += 1
        os.utime(file, (self.clock, self.clock))

    def _shift(self) -> Path:
        """Make room for the next older log; the oldest of three goes."""
        first, second, third = (self.folder / f"app.jsonl.{number}" for number in (1, 2, 3))
        for older, old in ((third, second), (second, first)):
            with suppress(FileNotFoundError):
                old.replace(older)
        return first

    def renames_the_log(self) -> None:
        self.works(1)  # behind the last look
        self.log.rename(self._shift())

    def copies_and_cuts_the_log(self) -> None:
        shutil.copy2(self.log, self._shift())
        self.cuts_the_log()

    def cuts_the_log(self) -> None:
        self._write(self.log, b"", "wb")

    def writes_half_of_the_log(self) -> None:
        self.whole = self.log.read_bytes()
        self._write(self.log, self.whole[: len(self.whole) // 2], "wb")

    def writes_the_rest(self) -> None:
        self._write(self.log, self.whole, "wb")

    def sets_the_clock_back(self) -> None:
        self.clock -= DAY + HOUR

    def sets_the_clock_forward(self) -> None:
        self.clock += HOUR


NIGHTS: dict[int, Callable[[_Agent], None]] = {
    4: _Agent.renames_the_log,
    7: _Agent.copies_and_cuts_the_log,
    12: _Agent.renames_the_log,
    15: _Agent.cuts_the_log,
    16: _Agent.sets_the_clock_back,
    18: _Agent.writes_half_of_the_log,
    19: _Agent.writes_the_rest,
    21: _Agent.renames_the_log,
    22: _Agent.sets_the_clock_forward,
    26: _Agent.renames_the_log,
    28: _Agent.renames_the_log,
}
ROOM = {9: 100, 11: 2_500, 13: 40_000}
"""How long a file can get in nights in which the disk is full."""
UPGRADE = 24


class _Over(Exception):
    """The look is over."""


def _look(agent: _Agent, run: Path) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []

    def over() -> None:
        raise _Over

    with suppress(_Over):
        for one in new_findings([agent.folder], PLAN, run, wait=over):
            told.append((one.item, one.category))  # noqa: PERF401 (the look ends with an exception)
    return told


def test_thirty_nights_end_as_one_look_at_all_sessions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent, run = _Agent(tmp_path / "sessions"), tmp_path / "run"
    told: list[tuple[str, str]] = []
    for night in range(30):
        agent.clock += DAY
        NIGHTS.get(night, lambda _: None)(agent)
        if night != 18:
            agent.works()
        agent.works_on_one(night)
        if night in ROOM:
            with files_end_at(ROOM[night]), pytest.raises(CannotWrite, match="Free some space there and run the same"):
                _look(agent, run)
            continue
        if night == UPGRADE:
            manifest = read_manifest(run)
            assert manifest is not None
            write_manifest(run, structs.replace(manifest, misstep="0.1.0"))
            capsys.readouterr()
        told += _look(agent, run)
        assert (night == UPGRADE) == ("of Misstep 0.1.0" in capsys.readouterr().err)
        assert sorted(one.item for one in read_records(run, SESSION_RECORDS)) == sorted(agent.sessions), night
    at_once = classified_findings([atif_lines(tmp_path / "all.jsonl", agent.sessions)], PLAN)
    found = classified_findings([agent.folder], PLAN, run)
    assert (found.n, found.any, found.categories) == (at_once.n, at_once.any, at_once.categories)
    assert sorted(one.item for one in read_verdicts(run)) == sorted(agent.sessions * len(CATEGORIES))
    assert sorted(told) == sorted((one.item, one.category) for one in at_once.findings)


def test_a_disk_that_is_full_as_the_whole_is_put_together_is_named_with_what_to_do(tmp_path, monkeypatch) -> None:
    agent, run = _Agent(tmp_path / "sessions"), tmp_path / "run"
    agent.works()
    _look(agent, run)
    agent.works()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(growth.shutil, "copyfileobj", full)
        with pytest.raises(CannotWrite, match=f"{run}.*Free some space there"):
            _look(agent, run)
    _look(agent, run)
    assert [one.item for one in read_records(run, SESSION_RECORDS)] == agent.sessions
