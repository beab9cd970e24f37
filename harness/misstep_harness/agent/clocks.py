"""Clocks of a run: the machine's, and one on which hundreds of hours pass in a moment."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from math import inf
from typing import Protocol, TypeVar

from misstep_harness.errors import MisstepError, TimeSpent

T = TypeVar("T")


class Clock(Protocol):
    """What says how late it is, in seconds from any start, and lets time pass."""

    def now(self) -> float:
        """Return how late it is."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass; what is not a positive number of seconds is none at all."""

    def alarm(self, seconds: float, ring: Callable[[], None]) -> Callable[[], None]:
        """Call `ring` when so much time has passed, unless what is returned is called before."""


class RealClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Return how late it is."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(_passing(seconds))

    def alarm(self, seconds: float, ring: Callable[[], None]) -> Callable[[], None]:
        """Return a timer of the event loop."""
        return asyncio.get_running_loop().call_later(_passing(seconds), ring).cancel


class VirtualClock:
    """A clock that only `sleep` moves: time that agents declare passes, time that the machine takes does not.

    A sleep that would pass an alarm never returns: the clock stops at the alarm. An alarm also rings after as much real
    time, so that a wait which nobody declared ends. Two sleeps at once pass their seconds one after the other.
    """

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._alarms: dict[int, tuple[float, Callable[[], None]]] = {}
        self._set = 0

    def now(self) -> float:
        """Return how late it is."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Move on at once."""
        until = self._now + _passing(seconds)
        if self._alarms:
            number = min(self._alarms, key=lambda one: self._alarms[one][0])
            if until > self._alarms[number][0]:
                self._ring(number)
                await asyncio.get_running_loop().create_future()
        if until == inf:
            raise MisstepError("nothing ends a sleep without end", "Give the turn a limit of seconds.")
        self._now = until

    def alarm(self, seconds: float, ring: Callable[[], None]) -> Callable[[], None]:
        """Return an alarm that rings when somebody sleeps beyond it, or when so much real time has passed."""
        number = self._set = self._set + 1
        self._alarms[number] = (self._now + _passing(seconds), ring)
        timer = asyncio.get_running_loop().call_later(_passing(seconds), self._ring, number)

        def silence() -> None:
            timer.cancel()
            self._alarms.pop(number, None)

        return silence

    def _ring(self, number: int) -> None:
        if number in self._alarms:
            due, ring = self._alarms.pop(number)
            self._now = max(self._now, due)
            ring()


async def within(clock: Clock, seconds: float, work: Awaitable[T]) -> T:
    """Return what some work gives; it is cut off where it takes longer than so many seconds on a clock."""
    task, rung = asyncio.current_task(), False
    assert task is not None  # noqa: S101 -- whoever awaits is a task

    def ring() -> None:
        nonlocal rung
        rung = True
        task.cancel()

    cancelled_before = task.cancelling()
    silence = clock.alarm(seconds, ring)
    try:
        answer = await work
    except asyncio.CancelledError:
        if not rung or task.cancelling() > cancelled_before + 1:  # somebody else wants the task to end
            raise
    finally:
        silence()
        if rung:
            task.uncancel()
    if rung:
        raise TimeSpent(f"it was cut off after {seconds:g} seconds")
    return answer


def _passing(seconds: float) -> float:
    """Return the seconds that pass: no negative ones, and none where it is not a number."""
    return max(0.0, seconds)
