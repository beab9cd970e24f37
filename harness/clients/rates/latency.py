"""Whether a server takes longer since it has more to do.

A latency alone says nothing: answers differ in length, and a server that works on many requests together takes a
little longer for each and still gets more of them done. So the median latency is compared with medians at smaller
loads, and a decrease of the load that costs as many answers as it takes away load is taken back.
"""

from collections import deque
from statistics import median

from msgspec import Struct

_ENOUGH = 16

_KEPT = 64

_TOO_LONG = 2.0


class Overload(Struct, frozen=True):
    """A load that the server takes too long for: how many were in flight, and the part of them that it works on."""

    in_flight: float
    capacity: float


class LatencyWatch:
    """Watches the latencies of answers by the load under which they were sent; `typical` is the latest median."""

    def __init__(self) -> None:
        self._by_load: dict[int, deque[float]] = {}
        self._window: list[tuple[float, float, int]] = []
        self._since = 0.0
        self._trial: tuple[float, float] | None = None
        self.typical = 0.0

    def refused(self) -> None:
        """The server refused a request: what the load was before says no more what it takes."""
        self._trial = None

    def answered(self, sent: float, now: float, in_flight: int) -> Overload | float | None:
        """Take note of one answer."""
        if sent < self._since:
            return None  # its request was sent under the load before the last change
        self._by_load.setdefault(in_flight.bit_length(), deque(maxlen=_KEPT)).append(now - sent)
        self._window.append((now, now - sent, in_flight))
        if len(self._window) < max(_ENOUGH, in_flight):
            return None
        window, self._window = self._window, []
        seconds, load = median(one for _, one, _ in window), median(one for _, _, one in window)
        self.typical = seconds
        rate = (len(window) - 1) / max(window[-1][0] - window[0][0], 1e-9)
        if self._trial is not None and (before := self._given_back(load, rate)) is not None:
            self._by_load.clear()
            self._since = now
            return before
        known = [
            median(latencies)
            for size, latencies in self._by_load.items()
            if size <= int(load).bit_length() and len(latencies) >= _ENOUGH
        ]
        shortest = min(known, default=None)
        if shortest is None or seconds <= _TOO_LONG * shortest or load < 2:
            return None
        self._trial, self._since = (load, rate), now
        return Overload(load, load * shortest / seconds)

    def _given_back(self, load: float, rate: float) -> float | None:
        """Return the load before the last decrease, where that cost as many answers as it took away load."""
        if self._trial is None:
            return None
        before, rate_before = self._trial
        self._trial = None
        lost = 1 - load / before
        return before if lost > 0 and rate < (1 - lost / 2) * rate_before else None
