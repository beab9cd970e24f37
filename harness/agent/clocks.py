"""Clocks of a run: the machine's, and one on which hundreds of hours pass in a moment."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What says how late it is, in seconds from any start, and lets time pass."""

    def now(self) -> float:
        """How late it is."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""

    def patience(self, seconds: float) -> float | None:
        """How many seconds of real time something may take that has so many left; `None` for no bound."""


class RealClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """How late it is."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(max(seconds, 0.0))

    def patience(self, seconds: float) -> float | None:
        """The same number of seconds."""
        return max(seconds, 0.0)


class VirtualClock:
    """A clock that only `sleep` moves: what agents declare as their time passes, what the machine takes does not.

    Parameters
    ----------
    start
        How late it is at first.
    """

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        """How late it is."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Move on at once."""
        self._now += max(seconds, 0.0)

    def patience(self, seconds: float) -> float | None:  # noqa: ARG002
        """No bound: real time does not count."""
        return None
