"""How many requests are in flight, and how fast they follow each other, by what the server's answers show.

Additive increase and multiplicative decrease (Chiu and Jain 1989), as a state machine: events in, the number of
requests in flight and the time of the next start out. Two levels are probed. The number in flight falls when the
server refuses a request without naming a time to wait, or when its latency rises with its load. The pace, in requests
a second, falls when it names one (`Retry-After`), which is how limits on rates are enforced; it is unlimited before.
Between two refusals a limit on rates has let through exactly what it allows, so that the requests answered in between,
divided by the seconds, are the pace that it allows.

A level grows only by answers to requests that it held up: idle time and what other limits hold back change nothing.
"""

import math
from collections import deque

from harness.clients.rates.latency import LatencyWatch, Overload
from harness.clients.rates.probed_level import ProbedLevel
from harness.clients.rates.start_limit import LONGEST_WAIT, End, Start, is_end_of_window, is_refusal
from harness.exchange import Failure, Reply

FIRST = 4
"""The number of requests in flight at first."""

MOST = 256
"""The highest number of requests in flight."""

_DECREASE = 0.9
"""What the number in flight falls to when it was refused after it had been probed slowly."""

_DECREASE_OF_PACE = 0.95
"""What the pace falls to then, of the pace that the server let through: less, as that is measured."""

_DEEP_DECREASE = 0.5
"""What a level falls to when it was refused while it was rising fast, or again soon after a fall."""

_REACH = 100
"""After how many answers a number in flight is probed again: about one request in as many is refused."""

_REACH_OF_PACE = 30
"""The same of the pace: a server that counts in a bucket lets through three times as many before it refuses one."""

_FEW = 20
"""So few answers after a fall, the next refusal says that the level is still far too high."""

_REACH_OF_PAUSES = 2.0
"""A pace is not probed again before this many times the pause that the last probe cost."""

_KEPT = 0.8
"""What is kept at least of the pace that went well of late: a bucket may have let through more than its limit."""

_LATELY = 2.0
"""The seconds over which it is measured what the server lets through of late."""

_LATE = 0.1
"""How many seconds late a request may be sent and the next ones still be in time, where the machine is busy."""

_SLOWEST = 1 / 60
"""The lowest pace, in requests a second."""

_LONGEST_PAUSE = 30.0
"""The longest pause without a time that the server names."""


class AdaptiveConcurrency:
    """The state: in flight, the two levels, the pause that the server asked for.

    Parameters
    ----------
    first, most
        The number of requests in flight at first, and the highest.

    Attributes
    ----------
    in_flight, most_in_flight
        How many requests are with the server now, and how many were at most.
    n_ended, n_refused
        How many attempts have ended, and how many of them were refused.
    """

    def __init__(self, first: int = FIRST, most: int = MOST) -> None:
        self.in_flight = self.most_in_flight = self.n_ended = self.n_refused = 0
        self._window = ProbedLevel(min(first, most), 1, most)
        self._pace = ProbedLevel(math.inf, _SLOWEST, math.inf)
        self._latency = LatencyWatch()
        self._load_at_start: dict[int, int] = {}
        self._paused_until = self._due = self._apart = -math.inf
        self._held_by_pace = False
        self._fallen_at = -math.inf
        self._refused_before: float | None = None
        self._begun: float | None = None
        self._answers = 0
        self._pause_before = 0.0
        self._recent: deque[float] = deque(maxlen=4000)
        self._refusals_in_a_row = 0

    @property
    def allowed(self) -> int:
        """How many requests may be in flight."""
        return int(self._window.value)

    def next_start(self, now: float, tokens: float) -> float:  # noqa: ARG002 (a request counts, whatever its size)
        """The earliest time at which a request may be sent."""
        if self.in_flight >= self.allowed:
            return math.inf
        if self._due > max(now, self._paused_until, self._apart):
            self._held_by_pace = True
        return max(now, self._paused_until, self._due, self._apart)

    def started(self, start: Start) -> None:
        """A request was sent."""
        self._begun = start.at if self._begun is None else self._begun
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self._load_at_start[start.number] = self.in_flight
        self._due = max(self._due, start.at - _LATE) + 1 / self._pace.value
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
        self.in_flight -= 1
        self.n_ended += end.outcome is not None

    def _answered(self, start: Start, end: End, load: int, *, full: bool) -> None:
        answer = isinstance(end.outcome, Reply)
        self._answers += answer
        if answer:
            self._recent.append(end.at)
        if answer:
            self._refusals_in_a_row = 0
        if full and start.at >= self._fallen_at and answer:
            self._window.grow()
        if self._held_by_pace and answer:
            self._held_by_pace = False
            if self._pace.has_fallen:
                self._pace.grow()
        slow = isinstance(end.outcome, Failure) and end.outcome.kind == "timeout"
        found = self._latency.answered(start.at, end.at, load) if answer or slow else None
        if isinstance(found, Overload):
            self._fallen_at = end.at
            self._window.fall(found.capacity, min(1.4 * found.capacity, found.in_flight), _REACH)
        elif found is not None:
            self._window.fall(found, found, _REACH)

    def _refused(self, start: Start, end: End, load: int) -> None:
        self.n_refused += 1
        named = (end.outcome.retry_after if isinstance(end.outcome, Failure) else None) or None  # 0 names no time
        if named is not None and named <= LONGEST_WAIT:
            self._paused_until = max(self._paused_until, end.at + named)
        if start.at < self._fallen_at or is_end_of_window(end.outcome):
            return  # it was sent before the last refusal was known; or no level is refused, and `ToldLimits` knows more
        self._latency.refused()
        self._refusals_in_a_row += 1
        if named is None and self._refusals_in_a_row > 1:
            pause = min(_LONGEST_PAUSE, 0.25 * 2.0 ** min(self._refusals_in_a_row, 10))
            self._paused_until = max(self._paused_until, end.at + pause)
        soon = self._answers < _FEW
        if named is not None or self.allowed == 1:
            self._slow_down(end.at, named or 0.0, deep=soon or self._refused_before is None)
        else:
            deep = soon or not self._window.has_fallen
            part = _DEEP_DECREASE if deep else _DECREASE
            self._window.fall(part * load, load, _REACH)
        self._fallen_at, self._refused_before, self._answers = end.at, end.at, 0

    def _slow_down(self, now: float, pause: float, *, deep: bool) -> None:
        """Lower the pace to below that which the server let through since its last refusal."""
        since = self._refused_before if self._refused_before is not None else self._begun
        seconds = max(now - (now if since is None else since), 0.001)
        let_through = max(self._answers, 1) / seconds
        pace = self._pace.value
        reach = max(_REACH_OF_PACE, _REACH_OF_PAUSES * pause * min(let_through, pace))
        if deep:
            # What a full bucket let through at first says little of how fast it is filled.
            pace = min(let_through, pace)
            self._pace.fall(_DEEP_DECREASE * pace, pace, reach)
        else:
            # Where the limit has moved up, or pauses cost answers, the average is less than what it takes of late.
            lately = sum(at >= now - _LATELY for at in self._recent)
            pace = min(pace, lately / min(_LATELY, max(seconds - self._pause_before, 0.05)))
            let_through = max(let_through, _KEPT * pace)
            self._pace.fall(_DECREASE_OF_PACE * let_through, let_through, reach)
        self._pause_before = pause
