"""A run that is killed at any moment goes on, loses nothing that was solved, and ends as if it had not been killed."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.agent.turns import Turn
from misstep_harness.journal.records import encode
from misstep_harness.journal.run_folder import RunInProgress
from misstep_harness.reflexive.log import state_of
from misstep_harness.reflexive.protocols import Context
from misstep_harness.reflexive.records import (
    Checked,
    Happening,
    ItemEnded,
    LoopEvent,
    Restored,
    Resumed,
    RunBegan,
    SnapshotName,
    SnapshotTaken,
    WorkItem,
    events_that_hold,
)
from misstep_harness.reflexive.runs.running import ReflectPlan, recorded_events, run_reflexive
from tests.harness.reflexive.notebook import Notebook, NotebookSkill, Scripted, team, writing

WORK = {
    "simple": ("done",),
    "breaks": ("broken=yes", "half", "done"),
    "hopeless": ("one", "two", "three", "four"),
    "waits": ("half", "half", "half", "done"),
    "restarts": ("done",),
    "needs": ("done",),
    "in vain": ("done",),
    "wrong": ("wrong",),
}
ITEMS = (
    WorkItem("needs", "lines", "needs the one that breaks", after=("breaks",)),
    WorkItem("waits", "lines", "waits"),
    WorkItem("simple", "lines", "simple", last=True),
    WorkItem("breaks", "lines", "breaks"),
    WorkItem("hopeless", "lines", "hopeless"),
    WorkItem("in vain", "lines", "needs what never comes", after=("hopeless",)),
    WorkItem("restarts", "lines", "restarts", deferred=True),
    WorkItem("wrong", "lines", "its deferred check fails", deferred=True),
)


class Killed(BaseException):
    """What a kill is here: nothing catches it."""


async def _work(context: Context, turn: Turn) -> str:
    return await writing(*WORK[context.item.id]).act(context, turn)


async def _reflect(context: Context, turn: Turn) -> str:
    await turn.think(10.0)
    seen = len(context.part("lessons"))
    return f"Attempt {context.attempt} at {context.item.id} came to nothing.\nLESSON: Write {context.item.id} {seen}."


async def _decide(context: Context, turn: Turn) -> str:
    await turn.think(10.0)
    if context.item.id == "waits":
        return "VERDICT: SKIP_UNTIL\nUNTIL: breaks\nPLAN: Come back."
    if context.item.id == "hopeless":
        return "VERDICT: ESCALATE\nREASON: Nobody can."
    return "VERDICT: PIVOT\nPLAN: Write something else."


def plan(skill: NotebookSkill) -> ReflectPlan:
    agents = team(Scripted("worker", _work), Scripted("reflector", _reflect), Scripted("strategist", _decide))
    return ReflectPlan(skill, "scripts", agents)


def run(folder: Path) -> Notebook | None:
    """The target that a run leaves, unless the run was finished already."""
    skill = NotebookSkill(ITEMS)
    run_reflexive(plan(skill), folder, VirtualClock())
    return skill.opened[0] if skill.opened else None


@cache
def uninterrupted() -> tuple[LoopEvent, ...]:
    with TemporaryDirectory() as folder:
        run(Path(folder) / "run")
        return tuple(recorded_events(Path(folder) / "run"))


def disk_at_every_event(folder: Path, copies: Path) -> None:
    """Make a run, and copy its folder behind each event, and in the middle of each event's line."""
    append = RunInProgress.append

    def append_and_copy(self: Any, records: Iterable[LoopEvent], entry: Any) -> None:
        (event,) = records
        line = encode(event)
        shutil.copytree(folder, copies / f"{event.number} half")
        with (copies / f"{event.number} half" / self.records.file).open("ab") as file:
            file.write(line[: len(line) // 2])
        append(self, [event], entry)
        shutil.copytree(folder, copies / f"{event.number} whole")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RunInProgress, "append", append_and_copy)
        run(folder)


@contextmanager
def killed_at(number: int, *, half: bool) -> Iterator[None]:
    append = RunInProgress.append

    def append_or_die(self: Any, records: Iterable[LoopEvent], entry: Any) -> None:
        (event,) = records
        if half and event.number == number:
            line = encode(event)
            with (self.folder / self.records.file).open("ab") as file:
                file.write(line[: len(line) // 2])
            raise Killed
        append(self, [event], entry)
        if event.number == number:
            raise Killed

    with pytest.MonkeyPatch.context() as patched, pytest.raises(Killed):  # noqa: PT012
        patched.setattr(RunInProgress, "append", append_or_die)
        yield


def told(events: Iterable[LoopEvent]) -> Iterator[tuple[str, int, Happening]]:
    """What a log says but for numbers and times, and what only a resumption adds."""
    for event in events_that_hold(events):
        if not isinstance(event.happened, Resumed) and not (isinstance(event.happened, Restored) and not event.item):
            yield event.item, event.attempt, event.happened


def test_the_run_of_these_tests_ends_items_in_many_ways() -> None:
    reasons = {event.happened.ending.reason for event in uninterrupted() if isinstance(event.happened, ItemEnded)}
    wanted = {"check_passed", "verified_later", "verification_failed", "evaluator_gap", "prerequisite_unsolved"}
    assert reasons == wanted


def test_a_run_killed_at_any_event_or_within_its_line_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    disk_at_every_event(tmp_path / "run", tmp_path / "copies")
    wanted, last = list(told(uninterrupted())), f"{len(uninterrupted()) - 1} whole"
    began = uninterrupted()[0].happened
    assert isinstance(began, RunBegan)
    folders = sorted((tmp_path / "copies").iterdir())
    assert len(folders) == 2 * len(wanted)
    for folder in folders:
        target = run(folder)
        events = list(recorded_events(folder))
        holding = events_that_hold(events)
        assert list(told(events)) == wanted, folder.name
        assert [event.number for event in events] == list(range(len(events)))
        assert [event.at for event in events] == sorted(event.at for event in events)
        ends = Counter(event.item for event in holding if isinstance(event.happened, ItemEnded))
        assert ends == dict.fromkeys([item.id for item in ITEMS], 1)
        kept = [event.happened.digest for event in holding if isinstance(event.happened, SnapshotTaken)]
        assert folder.name == last or target.digest() == kept[-1]
        assert target.kept("baseline") == began.baseline


@pytest.mark.parametrize("moment", range(8))
def test_a_restoration_that_a_kill_interrupts_is_made_again_and_verified(moment, tmp_path, monkeypatch) -> None:
    restore, times = Notebook.restore, iter(range(100))

    def restore_half(self: Notebook, name: SnapshotName) -> None:
        if next(times) == moment:
            self.lines.clear()
            raise Killed
        restore(self, name)

    monkeypatch.setattr(Notebook, "restore", restore_half)
    with pytest.raises(Killed):
        run(tmp_path / "run")
    run(tmp_path / "run")
    events = list(recorded_events(tmp_path / "run"))
    place = next(number for number, event in enumerate(events) if isinstance(event.happened, Resumed))
    result = events[place + 1].happened
    assert result.verified
    assert list(told(events)) == list(told(uninterrupted()))


def test_an_attempt_that_was_cut_short_costs_its_item_no_time_but_the_money(tmp_path: Path) -> None:
    number = next(event.number for event in uninterrupted() if isinstance(event.happened, Checked))
    with killed_at(number, half=False):
        run(tmp_path / "run")
    events = list(recorded_events(tmp_path / "run"))
    before = state_of(events).items["waits"]
    run(tmp_path / "run")
    cut = [event for event in recorded_events(tmp_path / "run") if event.number <= number + 1]
    after = state_of(cut).items["waits"]
    assert (before.seconds, after.seconds) == (40.0, 10.0)
    assert before.tokens == after.tokens > 0


@pytest.mark.parametrize("damaged", [("baseline",), ("baseline", "progress")])
def test_a_damaged_baseline_is_made_whole_from_the_target(damaged: tuple[str, ...], tmp_path: Path) -> None:
    number = next(event.number for event in uninterrupted() if isinstance(event.happened, ItemEnded))
    with killed_at(number, half=False):
        run(tmp_path / "run")
    for name in damaged:
        (tmp_path / "run" / "snapshots" / f"{name}.json").write_bytes(b'{"motd":"somebody was here"}')
    target = run(tmp_path / "run")
    events = list(recorded_events(tmp_path / "run"))
    ends = {event.item: event.happened.ending for event in events if isinstance(event.happened, ItemEnded)}
    wanted = {event.item: event.happened.ending for event in uninterrupted() if isinstance(event.happened, ItemEnded)}
    assert ends == wanted
    began = events[0].happened
    assert target.kept("baseline") == began.baseline
