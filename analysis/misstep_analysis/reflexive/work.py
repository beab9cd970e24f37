"""The events of a run of the reflexive loop put together again: its items, and the attempts at each.

What a kill made void does not count: an attempt that was cut short counts once, as it was made again.

**Corrupted**: an attempt was made on a corrupted target where the last that the log says of the target before it is one
of these: its content is not that of the snapshot that it should be, its own access does not work, or the snapshot was
taken while the target was not healthy.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.reflexive.records import (
    Checked,
    CheckStatus,
    Deferred,
    Ending,
    Failed,
    FailureKind,
    Happening,
    ItemBegan,
    ItemEnded,
    LoopEvent,
    Restored,
    RunBegan,
    RunEnded,
    SnapshotTaken,
    TurnEnded,
    Verified,
    WorkItem,
    events_that_hold,
)

Outcome = FailureKind | Literal["solved", "believed", "deferred", "unfinished"]
"""What came of an attempt: `believed` is one that the loop took for solved while its check did not pass."""

Kind = TypeVar("Kind")


class AttemptMade(Struct, frozen=True):
    """One attempt at an item; `began` and `ended` are seconds since the run began."""

    number: int
    began: float
    ended: float
    corrupted: bool
    events: tuple[LoopEvent, ...]

    @property
    def seconds(self) -> float:
        """Return how long it took, with diagnosis, reflection and a strategist's turn."""
        return self.ended - self.began

    def happened(self, kind: type[Kind]) -> list[Kind]:
        """Return what happened of one kind."""
        return [event.happened for event in self.events if isinstance(event.happened, kind)]

    @property
    def passed(self) -> bool:
        """Whether the check truly passed: on a healthy target and not weakened, whatever the loop took it for."""
        return any(check.truly == "passed" for check in self.happened(Checked))

    @property
    def outcome(self) -> Outcome:
        """Return what came of it."""
        failed = self.happened(Failed)
        if failed:
            return failed[-1].kind
        if self.happened(Deferred):
            return "deferred"
        checks = self.happened(Checked)
        if not checks or self.passed:
            return "solved" if checks else "unfinished"
        return "believed" if "passed" in (checks[-1].counted, checks[-1].status) else "unfinished"


class WorkedItem(Struct, frozen=True):
    """An item and all work on it; `besides` are its events outside of attempts, `verified` its deferred check."""

    item: WorkItem
    attempts: tuple[AttemptMade, ...]
    besides: tuple[LoopEvent, ...]
    ending: Ending | None
    seconds: float
    verified: CheckStatus | None

    @property
    def believed(self) -> bool:
        """Return whether the loop calls it solved."""
        return self.ending is not None and self.ending.end == "solved"

    @property
    def passed(self) -> bool:
        """Return whether its last check truly passed (`Checked.truly`); a deferred one, where it was made."""
        if self.verified is not None:
            return self.verified == "passed"
        return bool(self.attempts) and self.attempts[-1].passed

    @property
    def solved(self) -> bool:
        """Return whether it is called solved and its check truly passed."""
        return self.believed and self.passed

    @property
    def wasted(self) -> float:
        """The seconds that came to nothing: all where it is not truly solved, else those of corrupted attempts."""
        if not self.solved:
            return self.seconds
        return sum(attempt.seconds for attempt in self.attempts if attempt.corrupted)


class WorkedRun(Struct, frozen=True):
    """A run: how it began, its items in the order of the skill, all events that hold, and whether it is finished."""

    began: RunBegan
    items: tuple[WorkedItem, ...]
    events: tuple[LoopEvent, ...]
    finished: bool

    @property
    def seconds(self) -> float:
        """Return how long it took by its own clock."""
        return self.events[-1].at

    def happened(self, kind: type[Kind]) -> list[Kind]:
        """Return what happened of one kind, in the attempts that count and outside of attempts."""
        inside = [happening for item in self.items for attempt in item.attempts for happening in attempt.happened(kind)]
        outside = [event.happened for item in self.items for event in item.besides]
        run = [event.happened for event in self.events if not event.item]
        return inside + [happening for happening in (*outside, *run) if isinstance(happening, kind)]


def worked_run(events: Iterable[LoopEvent]) -> WorkedRun:
    """Return the run that a log tells of."""
    log = tuple(events_that_hold(events))
    if not log or not isinstance(began := log[0].happened, RunBegan):
        raise InputError("the log does not begin with the beginning of a run", "Make the run again.")
    corrupted = _corrupted_attempts(log, began)
    of_items: dict[str, list[LoopEvent]] = {item.id: [] for item in began.items}
    for event in log:
        if event.item:
            if event.item not in of_items:
                raise InputError(f"event {event.number} is of the item {event.item!r}", "The run has no such item.")
            of_items[event.item].append(event)
    items = tuple(_worked_item(item, of_items[item.id], corrupted) for item in began.items)
    return WorkedRun(began, items, log, any(isinstance(event.happened, RunEnded) for event in log))


def _worked_item(item: WorkItem, events: Sequence[LoopEvent], corrupted: set[int]) -> WorkedItem:
    attempts: dict[int, list[LoopEvent]] = {event.attempt: [] for event in events if _is_workers(event)}
    besides = []
    over = 0  # the attempt after which the item was begun again, as after it was put off
    for event in events:
        if isinstance(event.happened, ItemBegan):
            over = event.attempt
        if event.attempt not in attempts or event.attempt == over or isinstance(event.happened, ItemEnded | Verified):
            besides.append(event)
        else:
            attempts[event.attempt].append(event)
    in_order = tuple(_attempt(number, of_it, corrupted) for number, of_it in sorted(attempts.items()))
    end = next((event.happened for event in reversed(events) if isinstance(event.happened, ItemEnded)), None)
    verified = [
        event.happened.truly or event.happened.status for event in events if isinstance(event.happened, Verified)
    ]
    return WorkedItem(
        item,
        in_order,
        tuple(besides),
        None if end is None else end.ending,
        sum(attempt.seconds for attempt in in_order) if end is None else end.seconds,
        verified[-1] if verified else None,
    )


def _attempt(number: int, events: Sequence[LoopEvent], corrupted: set[int]) -> AttemptMade:
    turn = next(event for event in events if _is_workers(event))
    seconds = turn.happened.seconds if isinstance(turn.happened, TurnEnded) else 0.0
    return AttemptMade(number, turn.at - seconds, events[-1].at, turn.number in corrupted, tuple(events))


def _is_workers(event: LoopEvent) -> bool:
    return isinstance(event.happened, TurnEnded) and event.happened.role == "worker" and event.attempt > 0


class _Target(Struct):
    """What the log has said of the target so far."""

    wanted: str
    found: str
    reachable: bool = True
    healthy: bool = True
    sound: bool = True
    """Whether the target was healthy as its last snapshot was taken."""

    @property
    def corrupted(self) -> bool:
        return self.found != self.wanted or not self.reachable or not self.sound

    def take(self, happened: Happening) -> None:
        match happened:
            case SnapshotTaken(digest=digest):
                self.wanted = self.found = digest
                self.sound = self.healthy
            case Restored(name=name, wanted=wanted, found=found, reachable=reachable):
                self.found, self.reachable = found, reachable
                # A worker's own script is only to undo the last attempt, on whatever that one began.
                self.wanted = wanted if name else self.wanted
                self.sound = self.sound or name == "baseline"
            case Checked(healthy=healthy):
                self.healthy = healthy
            case Failed(change=change) if change:
                self.found = change
            case _:
                return


def _corrupted_attempts(log: Sequence[LoopEvent], began: RunBegan) -> set[int]:
    target = _Target(began.baseline, began.baseline)
    attempts = set()
    for event in log:
        if _is_workers(event) and target.corrupted:
            attempts.add(event.number)
        target.take(event.happened)
    return attempts
