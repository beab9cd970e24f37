"""A growing session file watched: what the observer has to say of it as it becomes due."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from misstep.harness.errors import InputError, UnknownFormat
from misstep.harness.no_model import NO_MODEL
from misstep.harness.observer.detectors import detector_named
from misstep.harness.observer.growing import growing_runs, mark_of
from misstep.harness.observer.replay import Replay, ReplayOptions
from misstep.harness.records.intervention import Intervention, ObservedRun
from misstep.harness.trajectory import Trajectory

Watch = Callable[[Trajectory], list[Intervention]]
"""One run as it grows: given as it is now → what is new to say of it."""


class Failures:
    """Tells why questions have no answer, each reason once."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._told: set[str] = set()

    def told(self, record: ObservedRun) -> None:
        """Tell what is new in the record of a run."""
        for error in dict.fromkeys(one.error for one in record.invocations if one.status == "failed"):
            if error not in self._told:
                self._told.add(error)
                self._tell(error)


def worth_telling(new: Iterable[Intervention], options: ReplayOptions) -> list[Intervention]:
    """Return the interventions without those that are withheld for another reason than their arm's."""
    return [one for one in new if one.withheld == ("shadow" if options.arm == "shadow" else "")]


def watch_of(options: ReplayOptions, failures: Failures, run: Trajectory) -> Watch:
    """Begin to watch a run with a detector that asks no model; what is withheld in its arm is not told."""
    replay = Replay(run.id, detector_named(options.detector), NO_MODEL, options, live=True)

    def watch(now: Trajectory) -> list[Intervention]:
        new = asyncio.run(replay.further(now))
        failures.told(replay.record(now))
        return worth_telling(new, options)

    return watch


def follow(
    path: Path, begin: Callable[[Trajectory], Watch], *, wait: Callable[[], object]
) -> Iterator[tuple[str, Intervention]]:
    """Return every intervention on the runs of a file as it becomes due, with the run's id; without end.

    The file may be missing at first, half-written, cut off or replaced by another: a run that no longer begins as it
    did is watched anew.
    """
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
