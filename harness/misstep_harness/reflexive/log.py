"""The log of a run of the reflexive loop, and what the loop knows at a moment: a fold of the log's events."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from misstep_harness.agent.clocks import Clock
from misstep_harness.errors import InputError
from misstep_harness.reflexive.records import (
    Checked,
    Deferred,
    Diagnosed,
    Ending,
    Failed,
    GapFound,
    Halted,
    Happening,
    ItemBegan,
    ItemEnded,
    LessonsRecalled,
    LoopEvent,
    Planned,
    PutOff,
    ReEngaged,
    Reflected,
    Restored,
    Resumed,
    RunBegan,
    RunEnded,
    SnapshotTaken,
    TurnEnded,
    Verified,
    WorkItem,
    events_that_hold,
)

Phase = Literal["waiting", "working", "kept", "deferred", "ended"]
"""The state of an item; one that is `kept` has its success in the snapshot `progress` and not yet its end."""


class LoggedAttempt(Struct):
    """What one attempt came to, as far as it went."""

    number: int
    recalled: tuple[str, ...] = ()
    turn: TurnEnded | None = None
    checked: Checked | None = None
    failed: Failed | None = None
    diagnosed: Diagnosed | None = None
    reflected: Reflected | None = None
    re_engaged: ReEngaged | None = None


class ItemState(Struct):
    """What the loop knows about an item.

    - `seconds`, `tokens`, `usd`: The amounts spent; an attempt that a kill made void counts for the last two only.
    - `touched`: How many attempts there were when the strategist was asked last.
    - `unlike`: The changes of the last attempts in a row that left the target healthy and the check failing.
    - `verified`: The result of its deferred check.
    """

    item: WorkItem
    phase: Phase = "waiting"
    plan: str | None = None
    attempts: list[LoggedAttempt] = field(default_factory=list)
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    touched: int = 0
    unlike: list[str] = field(default_factory=list)
    until: tuple[str, ...] = ()
    verified: Verified | None = None
    ending: Ending | None = None
    events: list[LoopEvent] = field(default_factory=list)

    @property
    def solved(self) -> bool:
        """Return whether work on it ended well."""
        return self.ending is not None and self.ending.end == "solved"

    @property
    def last(self) -> LoggedAttempt | None:
        """Return the last attempt, if there was one."""
        return self.attempts[-1] if self.attempts else None

    @property
    def since_touched(self) -> list[LoggedAttempt]:
        """Return the attempts since the strategist was asked."""
        return self.attempts[self.touched :]

    def attempt(self, number: int) -> LoggedAttempt:
        """Return an attempt, which begins where it is not known."""
        if not self.attempts or self.attempts[-1].number != number:
            self.attempts.append(LoggedAttempt(number))
        return self.attempts[-1]


class LoopState:
    """What the loop knows: the fold of its events; `progress` is the digest of that snapshot, if there is one."""

    def __init__(self, events: Iterable[LoopEvent] = ()) -> None:
        self.began: RunBegan | None = None
        self.items: dict[str, ItemState] = {}
        self.progress: str | None = None
        self.halted = False
        self.ended = False
        self._at = 0.0
        for event in events:
            self.add(event)

    @property
    def baseline(self) -> str:
        """Return the digest of the target as it was found."""
        return "" if self.began is None else self.began.baseline

    def add(self, event: LoopEvent) -> None:
        """Learn of one more event."""
        happened = event.happened
        if self.began is None and not isinstance(happened, RunBegan):
            raise InputError("the log does not begin with the beginning of a run", "Name another folder for the run.")
        if event.item:
            if event.item not in self.items:
                message = f"event {event.number} of the log is of the item {event.item!r}, which the run does not have"
                raise InputError(message, "Name another folder for the run.")
            state = self.items[event.item]
            state.seconds += event.at - self._at
            state.events.append(event)
            _learn(state, event.attempt, happened)
        match happened:
            case RunBegan():
                self.began = happened
                self.items = {item.id: ItemState(item) for item in happened.items}
            case SnapshotTaken(name="progress"):
                self.progress = happened.digest
            case Restored(name="baseline", verified=True) if self.progress is not None:
                self._lose()
            case Halted():
                self.halted = True
            case RunEnded():
                self.ended = True
        self._at = event.at

    def lost(self) -> list[str]:
        """Return the items whose success is in the snapshot `progress` alone."""
        return [name for name, state in self.items.items() if state.solved or state.phase in ("kept", "deferred")]

    def _lose(self) -> None:
        """The target is at `baseline` again and `progress` is useless: what was solved is to be done again."""
        for name in self.lost():
            state = self.items[name]
            state.phase, state.ending, state.verified = "waiting", None, None
        self.progress = None


def _learn(state: ItemState, number: int, happened: Happening) -> None:
    if (part := _PARTS_OF_ATTEMPT.get(type(happened))) and getattr(happened, "role", "worker") == "worker":
        setattr(state.attempt(number), part, happened)
    match happened:
        case ItemBegan():
            state.phase = "working" if state.phase == "waiting" else state.phase
            state.until = ()
        case TurnEnded():
            state.tokens += happened.tokens_in + happened.tokens_out
            state.usd += happened.usd
        case LessonsRecalled() if number:
            state.attempt(number).recalled = happened.lessons
        case Planned():
            state.plan = happened.plan
        case Failed():
            attempt = state.attempt(number)
            in_a_row = happened.kind == "check_failed" and attempt.checked is not None and attempt.checked.healthy
            state.unlike = [*state.unlike, happened.change] if in_a_row else []
        case GapFound():
            state.unlike = []
        case ReEngaged():
            state.touched = len(state.attempts)
        case SnapshotTaken():
            state.phase = "kept"
        case Deferred():
            state.phase = "deferred"
        case Verified():
            state.verified = happened
        case PutOff():
            state.phase, state.until = "waiting", happened.until
        case ItemEnded():
            state.phase, state.ending = "ended", happened.ending


_PARTS_OF_ATTEMPT: Mapping[type[Happening], str] = {
    TurnEnded: "turn",
    Checked: "checked",
    Failed: "failed",
    Diagnosed: "diagnosed",
    Reflected: "reflected",
    ReEngaged: "re_engaged",
}
"""What happens in an attempt → where the attempt keeps it; of turns, the worker's."""


class Log:
    """The append-only log of a run: gives each event its number and its time, and knows what all of them say.

    - `write`: Is called with each new event, before the loop goes on.
    - `earlier`: The events that the run has already; its time goes on behind them.
    - `holding`: The events without those that a kill made void.
    """

    def __init__(
        self, clock: Clock, write: Callable[[LoopEvent], None] | None = None, earlier: Sequence[LoopEvent] = ()
    ) -> None:
        self.events = list(earlier)
        for place, event in enumerate(self.events):
            if event.number != place:
                message = f"line {place + 1} of the log is event {event.number}, where event {place} belongs"
                raise InputError(message, "Restore the file, or name another folder for the run.")
        self.holding = events_that_hold(self.events)
        self.state = state_of(self.events)
        self._clock, self._write = clock, write
        self._began = clock.now() - (self.events[-1].at if self.events else 0.0)

    def add(self, happening: Happening, item: str = "", attempt: int = 0) -> LoopEvent:
        """Write down what happened, now; gives the event."""
        event = LoopEvent(len(self.events), self._clock.now() - self._began, happening, item, attempt)
        if self._write is not None:
            self._write(event)
        self.events.append(event)
        self.holding.append(event)
        if isinstance(happening, Resumed):
            self.holding = events_that_hold(self.events)
            self.state = state_of(self.events)
        else:
            self.state.add(event)
        return event


def state_of(events: Sequence[LoopEvent]) -> LoopState:
    """Return what all events of a log say; what was paid for in an attempt that is void stays paid."""
    state = LoopState(events_that_hold(events))
    turns = [(event.item, event.happened) for event in events if isinstance(event.happened, TurnEnded)]
    for name, item in state.items.items():
        own = [turn for of, turn in turns if of == name]
        item.tokens = sum(turn.tokens_in + turn.tokens_out for turn in own)
        item.usd = sum((turn.usd for turn in own), 0.0)
    return state


def last_that_holds(events: Sequence[LoopEvent]) -> LoopEvent:
    """Return the event behind which a run that was killed goes on: the last one that left no attempt in the middle."""
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        if _is_between(event, events[:place]):
            return event
        following = events[place + 1] if place + 1 < len(events) else None
        if following is not None and following.item == event.item and following.attempt > event.attempt:
            return event
    return events[0]


_BETWEEN = (RunBegan, Resumed, SnapshotTaken, Deferred, PutOff, ItemEnded, Halted, RunEnded)


def _is_between(event: LoopEvent, before: Sequence[LoopEvent]) -> bool:
    """Whether nothing is in the middle behind an event: a plan is made, an attempt or a deferred check is not begun."""
    if isinstance(event.happened, ItemBegan):
        return not any(isinstance(one.happened, Deferred) and one.item == event.item for one in before)
    return isinstance(event.happened, _BETWEEN) or (isinstance(event.happened, Planned) and not event.attempt)
