"""A session file that an agent is still writing, read as far as it is whole, and what there is to say of it."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import structs

from misstep_harness.errors import InputError, UnknownFormat
from misstep_harness.intervention import Intervention, ObservedRun
from misstep_harness.observer.detectors import detector_named
from misstep_harness.observer.replay import Replay, ReplayOptions
from misstep_harness.places import path_text
from misstep_harness.protocols import NO_MODEL
from misstep_harness.readers import all_readers
from misstep_harness.readers.checking import read_value
from misstep_harness.readers.files import DOCUMENT_LIMIT, recognise, sample_file
from misstep_harness.trajectory import Source, Step, Trajectory

FileMark = tuple[int, int, int]
"""What changes when a file does: its inode, its size and the time of its last change."""

Watch = Callable[[Trajectory], list[Intervention]]
"""One run as it grows: given as it is now → what is new to say of it."""


class Failures:
    """Tells why questions have no answer, each reason once."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._errors: set[str] = set()

    def tell_of(self, record: ObservedRun) -> None:
        """Tell what is new in the record of a run."""
        for error in dict.fromkeys(one.error for one in record.invocations if one.status == "failed"):
            if error not in self._errors:
                self._errors.add(error)
                self._tell(error)


def worth_telling(new: Iterable[Intervention], options: ReplayOptions) -> list[Intervention]:
    """Return the interventions without those that are withheld for another reason than their arm's."""
    return [one for one in new if one.withheld == ("shadow" if options.arm == "shadow" else "")]


def watch_of(options: ReplayOptions, failures: Failures, run: Trajectory) -> Watch:
    """Begin to watch a run with a detector that asks no model; what is withheld in its arm is not told."""
    replay = Replay(run.id, detector_named(options.detector), NO_MODEL, options, live=True)

    def watch(now: Trajectory) -> list[Intervention]:
        new = asyncio.run(replay.further(now))
        failures.tell_of(replay.record(now))
        return worth_telling(new, options)

    return watch


def follow(
    path: Path, begin: Callable[[Trajectory], Watch], *, wait: Callable[[], object]
) -> Iterator[tuple[str, Intervention]]:
    """Return every intervention on the runs of a file as it becomes due, with the run's id; without end."""
    watched: dict[str, tuple[Trajectory, Watch]] = {}
    last = None
    while True:
        mark = mark_of(path)
        if mark is not None and mark != last:
            for run in _readable(path):
                earlier, watch = watched.get(run.id, (None, None))
                if earlier is None or watch is None or not _continues(earlier, run):
                    watch = begin(run)
                watched[run.id] = (run, watch)
        last = mark
        for name, (run, watch) in list(watched.items()):  # also where nothing came: an answer may be there
            for one in watch(run):
                yield name, one
        wait()


def _readable(path: Path) -> list[Trajectory]:
    """Return the runs in the file; none while it cannot be read, as when it is replaced or only half-written."""
    try:
        return growing_runs(path)
    except UnknownFormat:
        raise
    except InputError:
        return []


def _continues(earlier: Trajectory, run: Trajectory) -> bool:
    """Return whether a run is what an earlier one has become; the last step may have grown in between."""
    n = max(len(earlier.steps) - 1, 0)
    return len(run.steps) >= len(earlier.steps) and run.steps[:n] == earlier.steps[:n]


def mark_of(path: Path) -> FileMark | None:
    """Return the mark of a file as it is now; `None` if there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def growing_runs(path: Path, most_bytes: int = DOCUMENT_LIMIT) -> list[Trajectory]:
    """Return the runs in a file, each up to the last step whose calls are answered."""
    sample = sample_file(path)
    reader = recognise(sample, all_readers())
    with path.open("rb") as stream:
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise InputError(f"the file has more than {most_bytes >> 20} MiB", file=path)
    if sample.shape == "lines":
        data = data[: data.rfind(b"\n") + 1]
    whole = [data] if reader.UNIT == "file" or sample.shape != "lines" else data.splitlines()
    source = Source(reader.FORMAT, path_text(path))
    return [answered(run) for one in whole if one.strip() for run in read_value(one, reader, source)]


def answered(run: Trajectory) -> Trajectory:
    """Return the run without a last step of the agent whose calls still wait for their answers."""
    return structs.replace(run, steps=run.steps[:-1]) if run.steps and _waits(run.steps[-1]) else run


def _waits(step: Step) -> bool:
    return step.role == "agent" and len(step.results) < len(step.calls)
