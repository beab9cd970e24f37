"""Retries with exponential backoff and jitter, until the attempts or the time are used up.

The wait after failure n is `first * 2**n` seconds, at most `longest`, minus a random part of up to a quarter, and at
least the server's `Retry-After`. Waiting for a turn counts as no time of the request.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.clients.around_client import AroundClient
from misstep.harness.clients.rates.pacing import Pacing
from misstep.harness.errors import clause
from misstep.harness.exchange import TRANSIENT, Client, Failure, Outcome, Request

Sleep = Callable[[float], Awaitable[None]]


class RetryLimits(Struct, frozen=True):
    """The limits of retrying: a number of attempts, and seconds."""

    attempts: int = 6
    attempt_seconds: float = 120.0
    total_seconds: float = 600.0
    first_wait: float = 0.5
    longest_wait: float = 30.0


class RetryingClient(AroundClient):
    """Asks another client again after failures that may be temporary."""

    def __init__(
        self,
        client: Client,
        limits: RetryLimits | None = None,
        rng: random.Random | None = None,
        sleep: Sleep = asyncio.sleep,
        pacing: Pacing | None = None,
    ) -> None:
        super().__init__(client)
        self._limits = limits or RetryLimits()
        self._rng = rng or random.Random(0)  # noqa: S311 (jitter is not a secret)
        self._sleep, self._pacing = sleep, pacing

    async def ask(self, request: Request) -> Outcome:
        """Return the outcome of the last attempt; `attempts` says how many there were."""
        total, attempt = 0.0, 0
        while True:
            attempt += 1
            outcome, seconds = await self._in_turn(request, self._limits.total_seconds - total)
            if not isinstance(outcome, Failure):
                return replace(outcome, attempts=attempt, rates=None)
            total += seconds
            failure = replace(outcome, attempts=attempt, seconds=total, rates=None)
            if failure.kind not in TRANSIENT or attempt >= self._limits.attempts:
                return failure
            wait, most = self._wait(attempt, failure), self._limits.total_seconds
            if total + wait >= most:
                passes = f"waiting {max(1, round(wait)):,} s more would pass the limit of {most:g} s a call"
                return replace(failure, sentence=f"{clause(failure.sentence)}; {passes}")
            before = time.monotonic()
            await self._sleep(wait)
            total += time.monotonic() - before

    async def _in_turn(self, request: Request, seconds: float) -> tuple[Outcome, float]:
        start = None if self._pacing is None else await self._pacing.start(request)
        begun, outcome = time.monotonic(), None
        try:
            outcome = await self._attempt(request, min(self._limits.attempt_seconds, seconds))
        finally:
            if self._pacing is not None and start is not None:
                self._pacing.end(request, start, outcome)
        return outcome, time.monotonic() - begun

    async def _attempt(self, request: Request, seconds: float) -> Outcome:
        try:
            async with asyncio.timeout(seconds) as deadline:
                return await self._client.ask(request)
        except TimeoutError:
            if not deadline.expired():
                raise
            return Failure("timeout", f"no whole answer within {seconds:.3g} s")

    def _wait(self, attempt: int, failure: Failure) -> float:
        jitter = self._rng.random() / 4
        if failure.retry_after is not None:
            return failure.retry_after + self._limits.first_wait * jitter
        growing: float = self._limits.first_wait * 2 ** min(attempt - 1, 30)
        return min(growing, self._limits.longest_wait) * (1 - jitter)
