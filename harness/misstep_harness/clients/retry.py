"""Retries until the attempts or the time are used up.

A request waits a random part of a limit that doubles with each failure (`first_wait`, at most `longest_wait`), after
the server's `Retry-After`. A refusal counts as no attempt while the server answers other requests of the run, and
waiting for a turn or for `Retry-After` as no time: a run that asks too fast gets all its answers, only later.
"""

import asyncio
import random

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.clients.around_client import AroundClient
from misstep_harness.clients.pace import RequestPace
from misstep_harness.errors import clause
from misstep_harness.exchange import TRANSIENT, Client, Failure, Outcome, Request


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
        pace: RequestPace | None = None,
    ) -> None:
        super().__init__(client)
        self._limits = limits or RetryLimits()
        self._rng = rng or random.Random(0)  # noqa: S311 (jitter is not a secret)
        self._pace = pace or RequestPace()

    async def ask(self, request: Request) -> Outcome:
        """Return the outcome of the last attempt; `attempts` says how many there were."""
        limits, pace = self._limits, self._pace
        seconds, attempt, counted, n_answered = 0.0, 0, 0, pace.n_answered
        while True:
            attempt += 1
            outcome, taken = await self._in_turn(request, limits.total_seconds - seconds)
            seconds += taken
            if not isinstance(outcome, Failure):
                return replace(outcome, attempts=attempt)
            failure = replace(outcome, attempts=attempt, seconds=seconds)
            named, jitter = failure.retry_after or 0.0, self._jitter(attempt)
            too_long = seconds + named + jitter >= limits.total_seconds
            if not too_long:
                pace.pause(named)
            refused = failure.kind == "rate_limited" or failure.retry_after is not None
            counted += not (refused and pace.n_answered > n_answered)
            n_answered = pace.n_answered
            if failure.kind not in TRANSIENT or counted >= limits.attempts:
                return failure
            if too_long:
                passes = f"waiting {max(1, round(named + jitter)):,} s more would pass the limit"
                sentence = f"{clause(failure.sentence)}; {passes} of {limits.total_seconds:g} s a call"
                return replace(failure, sentence=sentence)
            await pace.sleep(named + jitter)
            seconds += jitter

    async def _in_turn(self, request: Request, seconds: float) -> tuple[Outcome, float]:
        expected = await self._pace.start(request)
        begun, outcome = self._pace.clock(), None
        try:
            outcome = await self._attempt(request, min(self._limits.attempt_seconds, seconds))
        finally:
            self._pace.end(expected, outcome)
        return outcome, self._pace.clock() - begun

    async def _attempt(self, request: Request, seconds: float) -> Outcome:
        try:
            async with asyncio.timeout(seconds) as deadline:
                return await self._client.ask(request)
        except TimeoutError:
            if not deadline.expired():
                raise
            return Failure("timeout", f"no whole answer within {seconds:.3g} s")

    def _jitter(self, failures: int) -> float:
        """Return a random part of a limit that doubles with each failure (full jitter)."""
        growing: float = self._limits.first_wait * 2.0 ** min(failures - 1, 30)
        return self._rng.random() * min(growing, self._limits.longest_wait)
