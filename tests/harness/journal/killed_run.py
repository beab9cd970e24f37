"""A run that records trajectories or events and kills itself after so many bytes: `python -m … FOLDER KIND AFTER PAID`.

Everything that reaches the disk counts: each byte that is written, and each file that is put in its place or taken
away. Half of what is being written stands there when the process dies.
"""

import os
import signal
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.journal import run_folder
from misstep_harness.journal.records import SCHEMA, Inputs, Manifest, Records
from misstep_harness.journal.run_folder import RunInProgress
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory

CASES = 40
PLACED = 30
"""How many bytes it counts as that a file is put in its place or taken away."""


class Event(Struct, frozen=True):
    """What an observer noticed."""

    item: str
    at: int
    said: str = ""


class Entry(Struct, frozen=True):
    """What is noted of a case: its name, and how much was recorded of it."""

    item: str
    records: int


def trajectories(case: int) -> list[Trajectory]:
    """The run of an agent on a case: one record."""
    step = Step("agent", "é" * case, calls=(ToolCall("bash", {"n": case}, "c"),), results=(ToolResult("ok\n"),))
    return [Trajectory(f"case-{case}", Source("made_up"), "Mend it.", (step,) * (case % 4))]


def events(case: int) -> list[Event]:
    """What was noticed in a case: none, one or several records."""
    return [Event(f"case-{case}", at, "x" * case) for at in range(case % 4)]


KINDS: dict[str, tuple[Records[Any], Any]] = {
    "trajectories": (Records(Trajectory, "trajectories.jsonl", "trajectory"), trajectories),
    "events": (Records(Event, "events.jsonl", "event"), events),
}


def noted_of(record: Trajectory, noted: Entry | None) -> Entry:
    """What is noted of a trajectory whose note is gone."""
    return noted or Entry(record.id, 1)


class Fate:
    """Kills the process when so much has reached the disk."""

    def __init__(self, after: int) -> None:
        self.left = after

    def spend(self, amount: int) -> None:
        """Count what reaches the disk now."""
        self.left -= amount
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def write(self, stream: FileIO, content: bytes, file: Path) -> None:  # noqa: ARG002 (as what it stands for)
        """Write as much as there is left to write."""
        if len(content) >= self.left:
            stream.write(content[: self.left])
        else:
            stream.write(content)
        self.spend(len(content))

    def place(self, done: Any, *given: Any, **named: Any) -> Any:
        """Put a file in its place or take it away, or die before."""
        self.spend(PLACED)
        return done(*given, **named)


def run(folder: Path, kind: str, *, paid: bool) -> None:
    """Record every case that is not there yet, and finish."""
    records, recorded_of = KINDS[kind]
    manifest = Manifest(SCHEMA, "made up", [], "1", "3", "then", {"kind": kind}, Inputs(1, CASES, "ff"))
    note_of = noted_of if paid else None
    with RunInProgress(folder, manifest, records, Entry, note_of) as opened:
        for case in range(len(opened.entries), 0 if opened.finished else CASES):
            recorded = recorded_of(case)
            opened.append(recorded, Entry(f"case-{case}", len(recorded)))
        if not opened.finished:
            opened.finish("at last")


def main(folder: str, kind: str, after: str, paid: str) -> None:
    """Run until it is done or killed."""
    fate = Fate(int(after))
    run_folder.write_all = fate.write
    for name in ("replace", "unlink", "write_bytes"):
        done = getattr(Path, name)
        setattr(Path, name, lambda self, *given, done=done, **named: fate.place(partial(done, self), *given, **named))
    run(Path(folder), kind, paid=paid == "paid")
