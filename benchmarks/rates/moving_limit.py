"""A server's limit that moves in time: who is let in, who is refused, and what the server says of it."""

import math
import random
from typing import Literal

from msgspec import Struct

Mode = Literal["rate", "rate, told", "window, told", "load"]
"""What is limited: requests a second (refused with `Retry-After`), the same with OpenAI's header fields, requests in a
window of some seconds with the IETF's header fields, or requests worked on at once (further ones make all slower, and
are refused with 503 when there are twice as many)."""

MODES: tuple[Mode, ...] = ("rate", "rate, told", "window, told", "load")

WINDOW_SECONDS = 5.0
LATENCY_SECONDS = 0.2

_SPREAD = 0.3
"""The standard deviation of the logarithm of that."""

_LOWEST, _HIGHEST = 10.0, 80.0

_LEAST_STEP = 1.4


class Schedule(Struct, frozen=True):
    """Limits in requests a second, each for so many seconds."""

    limits: tuple[float, ...]
    seconds: float

    @property
    def until(self) -> float:
        """When the last one ends."""
        return self.seconds * len(self.limits)

    def at(self, now: float) -> float:
        """Return the limit at a time from the start on."""
        return self.limits[min(int(now / self.seconds), len(self.limits) - 1)]

    def allowed(self, until: float) -> float:
        """Return how many requests are allowed until a time."""
        whole = int(until / self.seconds)
        return self.seconds * sum(self.limits[:whole]) + (until - whole * self.seconds) * self.at(until)


def schedule(seed: int, phases: int, seconds: float) -> Schedule:
    """Limits that step up and down, each by a factor of at least 1.4."""
    rng = random.Random(seed)  # noqa: S311 (a schedule is not a secret)
    limits = [rng.uniform(2 * _LOWEST, _HIGHEST / 2)]
    while len(limits) < phases:
        limit = math.exp(rng.uniform(math.log(_LOWEST), math.log(_HIGHEST)))
        if max(limit / limits[-1], limits[-1] / limit) >= _LEAST_STEP:
            limits.append(limit)
    return Schedule(tuple(limits), seconds)


class Counted(Struct, frozen=True):
    """How many requests a server answered and refused, and how many it allowed."""

    answered: int
    refused: int
    allowed: float

    @property
    def share(self) -> float:
        """Return how much of what was allowed was answered."""
        return self.answered / self.allowed

    @property
    def share_refused(self) -> float:
        """Return how much of what was sent was refused."""
        return self.refused / max(self.answered + self.refused, 1)


class Admission(Struct, frozen=True):
    """What becomes of a request: its status, the header fields, and how long the answer takes."""

    status: int
    fields: dict[str, str]
    seconds: float


class MovingLimit:
    """A server's limit."""

    def __init__(self, mode: Mode, limits: Schedule, seed: int) -> None:
        self._mode = mode
        self._limits = limits
        self._rng = random.Random(seed)  # noqa: S311
        self._level, self._filled = limits.at(0.0), 0.0
        self._window, self._left = -1, 0.0
        self.in_flight = 0

    def come(self, now: float) -> Admission:
        """Let a request in or refuse it; whoever lets it in says when it is answered, by `gone`."""
        limited = {"load": self._by_load, "window, told": self._by_window}.get(self._mode, self._by_rate)
        status, fields, factor = limited(now)
        self.in_flight += 1
        latency = LATENCY_SECONDS * math.exp(self._rng.gauss(-(_SPREAD**2) / 2, _SPREAD)) * factor
        return Admission(status, fields, latency if status == 200 else 0.0)

    def gone(self) -> None:
        """One request is answered or refused."""
        self.in_flight -= 1

    def _by_rate(self, now: float) -> tuple[int, dict[str, str], float]:
        """Return a token bucket that holds one second's worth."""
        limit = self._limits.at(now)
        self._level = min(self._level + limit * (now - self._filled), limit)
        self._filled = now
        let_in = self._level >= 1
        self._level -= let_in
        fields = {} if let_in else {"Retry-After": str(math.ceil((1 - self._level) / limit))}
        if self._mode == "rate, told":
            fields["x-ratelimit-limit-requests"] = str(int(limit))
            fields["x-ratelimit-remaining-requests"] = str(int(self._level))
            fields["x-ratelimit-reset-requests"] = f"{math.ceil(1000 * (1 - self._level / limit))}ms"
        return (200 if let_in else 429), fields, 1.0

    def _by_window(self, now: float) -> tuple[int, dict[str, str], float]:
        """So many requests in each window; the limit of a window is that at its beginning."""
        window = int(now / WINDOW_SECONDS)
        quota = int(self._limits.at(window * WINDOW_SECONDS) * WINDOW_SECONDS)
        if window != self._window:
            self._window, self._left = window, quota
        let_in = self._left > 0
        self._left -= let_in
        reset = math.ceil((window + 1) * WINDOW_SECONDS - now)
        fields = {
            "RateLimit-Policy": f'"default";q={quota};w={WINDOW_SECONDS:.0f}',
            "RateLimit": f'"default";r={self._left};t={reset}',
        }
        return (200 if let_in else 429), fields | ({} if let_in else {"Retry-After": str(reset)}), 1.0

    def _by_load(self, now: float) -> tuple[int, dict[str, str], float]:
        """So many are worked on at once; more share the server, and with twice as many the next is refused."""
        places = self._limits.at(now) * LATENCY_SECONDS
        if self.in_flight >= max(2 * places, 2):
            return 503, {}, 1.0
        return 200, {}, max(1.0, (self.in_flight + 1) / places)
