"""How many requests are in flight, and how fast they follow each other, by what the server's answers show.

Additive increase and multiplicative decrease (Chiu and Jain 1989), as a state machine: events in, the number of
requests in flight and the time of the next start out. Which of two limits a refusal is of shows at the number in flight
when it came: one on requests at once refuses more than it ever took, one on requests a second refuses any number. So
the number in flight falls to one less where the refused one was the highest so far, and grows again at once if the
limit is not that high; every other refusal is of the pace (`found_pace`). For a server that says that it is
overloaded, or whose latency rises with its load, the number in flight alone falls.

A level grows only by answers to requests that it held up: idle time and what other limits hold back change nothing.
"""

import math
from collections import deque

from misstep.harness.clients.rates.found_pace import LATE, FoundPace, ProbedLevel
from misstep.harness.clients.rates.latency import LatencyWatch, Overload
from misstep.harness.clients.rates.start_limit import LONGEST_WAIT, End, Start, is_end_of_window, is_refusal
from misstep.harness.exchange import Failure, Reply

FIRST = 4

MOST = 256

_DECREASE, _DEEP_DECREASE = 0.9, 0.5
"""What the number in flight falls to when the server is overloaded: after slow probing, and at first or soon again."""

_REACH = 100
"""After how many answers a number in flight is probed again: about one request in as many is refused."""

_REACH_OF_PAUSES = 40.0
"""It is not probed again before this many times the pause that the last probe cost."""

_FEW = 20
"""So few answers after a fall, the next refusal says that the level is still far too high."""

_LATELY = 1.0
"""The seconds over which it is measured what the server lets through of late."""

_LONGEST_PAUSE = 30.0


class AdaptiveConcurrency:
    """The state: in flight, the two levels, the pause that the server asked for."""

    def __init__(self, first: int = FIRST, most: int = MOST) -> None:
        self.in_flight = self.most_in_flight = self.n_ended = self.n_refused = 0
        self._window = ProbedLevel(min(first, most), 1, most)
        self._pace = FoundPace()
        self._latency = LatencyWatch()
        self._load_at_start: dict[int, int] = {}
        self._paced: set[int] = set()
        self._paused_until = self._apart = self._fallen_at = self._resumed = -math.inf
        self._recent: deque[float] = deque(maxlen=4000)
        self._answers = self._highest_taken = self._highest_refused = 0
        self._falls = self._refusals_in_a_row = 0

    @property
    def allowed(self) -> int:
        """Return how many requests may be in flight: one where refusal followed refusal, until it is answered."""
        return 1 if self._refusals_in_a_row > 1 else int(self._window.value)

    def next_start(self, now: float, tokens: float) -> float:  # noqa: ARG002 (a request counts, whatever its size)
        """Return the earliest time at which a request may be sent."""
        if self.in_flight >= self.allowed:
            return math.inf
        if self._pace.due > max(now, self._paused_until, self._apart):
            self._pace.hold()
        return max(now, self._paused_until, self._pace.due, self._apart)

    def started(self, start: Start) -> None:
        """A request was sent."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self._load_at_start[start.number] = self.in_flight
        if self._resumed < self._fallen_at:
            self._resumed = start.at
        if start.at - LATE < self._pace.due and self._pace.due > max(self._paused_until, self._apart):
            self._paced.add(start.number)
        self._pace.started(start.number, start.at)
        # Without a distance answers that come together would let as many requests go together, and even more of them.
        self._apart = start.at + self._latency.typical / (2 * self._window.value)

    def ended(self, start: Start, end: End) -> None:
        """A request has its outcome: a refusal makes a level fall, an answer may make one grow."""
        full = self.in_flight >= self.allowed
        load = self._load_at_start.pop(start.number)
        if is_refusal(end.outcome):
            self._refused(start, end, load)
        elif end.outcome is not None:
            self._answered(start, end, load, full=full)
        self._paced.discard(start.number)
        self.in_flight -= 1
        self.n_ended += end.outcome is not None

    def _answered(self, start: Start, end: End, load: int, *, full: bool) -> None:
        answer = isinstance(end.outcome, Reply)
        if answer:
            self._answers += 1
            self._recent.append(start.at)
            self._refusals_in_a_row = 0
            self._highest_taken = max(self._highest_taken, load)
            self._pace.answered()
            if full and start.at >= self._fallen_at:
                self._window.grow()
        slow = isinstance(end.outcome, Failure) and end.outcome.kind == "timeout"
        capacity = self._latency.answered(start.at, end.at, load) if answer or slow else None
        if isinstance(capacity, Overload):
            self._fallen_at = end.at
            self._window.fall(capacity.capacity, min(1.4 * capacity.capacity, capacity.in_flight), _REACH)
        elif capacity is not None:
            self._window.fall(capacity, capacity, _REACH)

    def _refused(self, start: Start, end: End, load: int) -> None:
        self.n_refused += 1
        self._pace.turned_away()
        named = (end.outcome.retry_after if isinstance(end.outcome, Failure) else None) or 0.0  # 0 names no time
        if 0 < named <= LONGEST_WAIT:
            self._paused_until = max(self._paused_until, end.at + named)
        if start.at < self._fallen_at or is_end_of_window(end.outcome):
            return  # it was sent before the last refusal was known; or no level is refused, and `ToldLimits` knows more
        self._latency.refused()
        self._refusals_in_a_row += 1
        self._falls += 1
        cost = max(1.0, self.n_refused / self._falls)
        rates = end.outcome.rates if end.outcome is not None else None
        if not named and rates is not None and rates.overloaded:
            deep = self._answers < _FEW or not self._window.has_fallen
            self._window.fall((_DEEP_DECREASE if deep else _DECREASE) * load, load, _REACH)
        elif self._refusals_in_a_row == 1:
            begun = max(start.at - _LATELY, self._resumed)
            n = sum(at >= begun for at in self._recent) + len(self._load_at_start)
            lately = n / max(start.at - begun, 0.05)
            if self._is_of_load(start.number, load):
                self._crowded(load, max(_REACH * cost, _REACH_OF_PAUSES * named * lately))
                self._pace.paused(start.at, named)
            else:
                self._of_pace()
                self._pace.refused(start.number, start.at, named, lately, cost)
        if not named and self._refusals_in_a_row > 1:
            pause = min(_LONGEST_PAUSE, 0.25 * 2.0 ** min(self._refusals_in_a_row, 10))
            self._paused_until = max(self._paused_until, end.at + pause)
        self._fallen_at, self._answers = end.at, 0

    def _is_of_load(self, number: int, load: int) -> bool:
        """Return whether a refusal is of requests at once: of more than were ever taken, and each time of as many."""
        higher = load > max(self._highest_taken, 1) and number not in self._paced
        return higher and (not self._highest_refused or self._as_high(load))

    def _as_high(self, load: int) -> bool:
        return abs(load - self._highest_refused) <= max(1.0, 0.1 * load)

    def _crowded(self, load: int, reach: float) -> None:
        self._window.fall(load - 1, load - 1, reach)
        if not self._as_high(load):
            self._window.forget()  # one refusal does not tell which limit it is of: the next one comes soon, and does
        self._highest_refused = load

    def _of_pace(self) -> None:
        if self._highest_refused:
            self._window.forget()
        self._highest_refused = 0
        if self._answers >= _REACH:
            self._highest_taken = 0
