"""How far agents of one attempt see different things: a measure of context drift, from the log alone.

In an attempt, two agents or more may have been given a part of the same name. They see the same where the digests of
what they were shown are equal; a part that was cut for one and whole for another, or fell out for one, differs. The
drift is the share of the parts so compared that differ: 0 where all see the same.
"""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from misstep.analysis.measures.shares import clustered_share, summed
from misstep.analysis.stats.estimate import Estimate
from misstep.harness.records.loop_events import LoopEvent, Role, TurnEnded, events_that_hold

SHARED = ("task", "plan", "facts", "lessons")
"""The parts that all who are given them should see alike."""


class AttemptDrift(Struct, frozen=True):
    """One attempt: the parts that two agents or more were given, and those of them that they saw differently."""

    item: str
    attempt: int
    compared: tuple[str, ...]
    differing: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """Return the share that differs; `None` where nothing could be compared."""
        return len(self.differing) / len(self.compared) if self.compared else None


class Drift(Struct, frozen=True):
    """The drift of one run or of several."""

    share: Estimate
    parts: dict[str, Estimate]
    attempts: tuple[AttemptDrift, ...]


class StudiedDrift(Struct, frozen=True):
    """The drift with a context of some room, made anew for each turn or grown; and the items that were solved so."""

    room: int
    fresh: bool
    drift: Drift
    solved: int
    items: int


def drift(*logs: Iterable[LoopEvent]) -> Drift:
    """Return the drift between the views of agents."""
    runs = [_attempts(log) for log in logs]
    parts = {name: _share(runs, (name,)) for name in SHARED}
    return Drift(_share(runs, SHARED), parts, tuple(attempt for run in runs for attempt in run))


def _attempts(log: Iterable[LoopEvent]) -> list[AttemptDrift]:
    views: dict[tuple[str, int], dict[Role, dict[str, str]]] = defaultdict(dict)
    for event in events_that_hold(log):
        if isinstance(turn := event.happened, TurnEnded):
            views[event.item, event.attempt][turn.role] = {
                part.name: part.digest for part in turn.seen if part.name in SHARED
            }
    return [attempt for place, view in views.items() if (attempt := _compared(*place, view)).compared]


def _compared(item: str, attempt: int, views: dict[Role, dict[str, str]]) -> AttemptDrift:
    digests = {name: [view[name] for view in views.values() if name in view] for name in SHARED}
    compared = tuple(name for name in SHARED if len(digests[name]) > 1)
    return AttemptDrift(item, attempt, compared, tuple(name for name in compared if len(set(digests[name])) > 1))


def _share(runs: Iterable[Iterable[AttemptDrift]], names: tuple[str, ...]) -> Estimate:
    counts = (
        (f"{number} {attempt.item}", len({*names} & {*attempt.differing}), len({*names} & {*attempt.compared}))
        for number, run in enumerate(runs)
        for attempt in run
    )
    return clustered_share(list(summed(counts).values()), "no two agents were given the same part")
