"""Retries until the attempts or the time are used up.

A request waits a random part of a limit that doubles with each failure (`first_wait`, at most `longest_wait`), after
the server's `Retry-After`. A refusal counts as no attempt while the server answers other requests of the run, and
waiting for a turn or for `Retry-After` as no time: a run that asks too fast gets all its answers, only later.

When the requests of a run are sent: none before the moment that a server named, and so many a minute at most.

`RequestPace` is shared by all requests of a run: a `Retry-After` that one of them gets holds back every other.
"""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.clients.around_client import AroundClient
from misstep_harness.errors import clause
from misstep_harness.exchange import TRANSIENT, Client, Failure, Outcome, Reply, Request

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]

_MINUTE = 60.0

_BURST = 0.5
"""A limit a minute lets so many seconds' worth be sent at once."""

_ROUNDING = 0.001
"""A millisecond for what sums of intervals lose."""

_LOOK_AGAIN = 1.0
"""A request that waits for its turn looks again after so many seconds: an answer may have freed tokens since."""

_CHARACTERS_A_TOKEN = 3.0
"""A text has about four characters a token, code fewer."""

_ANSWER = 500
"""The tokens of the first answers, where the request does not limit them."""


class PerMinute:
    """A limit of requests, or tokens, a minute: a token bucket on what is sent.

    The bucket holds half a second's worth and fills evenly, as the generic cell rate algorithm does it (ITU-T I.371).
    """

    def __init__(self, limit: float) -> None:
        # As much less as the bucket holds, so that a full bucket and a minute's filling are the limit.
        self._interval = (_MINUTE + _BURST + _ROUNDING) / limit
        self._due = 0.0

    @property
    def next_start(self) -> float:
        """Return the earliest time at which a request may be sent."""
        return self._due - _BURST

    def add(self, now: float, amount: float) -> None:
        """Count what is sent now, or what a request took more or less than was counted."""
        self._due = max(self._due, now) + self._interval * amount


class TokenEstimate:
    """The expected tokens of a request: its characters, and the mean answer so far."""

    def __init__(self) -> None:
        self._answers, self._output_tokens = 0, 0

    def of(self, request: Request) -> float:
        """Return the expected number of tokens, question and answer."""
        most = request.most_tokens_out()
        answer = self._output_tokens / self._answers if self._answers else _ANSWER if most is None else most
        return sum(len(message.content) for message in request.messages) / _CHARACTERS_A_TOKEN + answer

    def used(self, outcome: Outcome | None, expected: float) -> float:
        """Return the tokens that an outcome took; the expected ones where the server does not say, none for a failure.

        A request that was cut off has no outcome, and counts as expected.
        """
        if isinstance(outcome, Failure):
            return 0.0
        if outcome is None or outcome.input_tokens is None or outcome.output_tokens is None:
            return expected
        self._answers += 1
        self._output_tokens += outcome.output_tokens
        return float(outcome.input_tokens + outcome.output_tokens)


class RequestPace:
    """Lets requests go one after the other, as soon as the server and the limits a minute allow it."""

    def __init__(
        self,
        requests_a_minute: float = math.inf,
        tokens_a_minute: float = math.inf,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.clock, self.sleep = clock, sleep
        self.n_answered, self._not_before = 0, 0.0
        self._requests, self._tokens = PerMinute(requests_a_minute), PerMinute(tokens_a_minute)
        self._estimate = TokenEstimate()
        self._turn = asyncio.Lock()  # it lets them in as they come

    def pause(self, seconds: float) -> None:
        """Send nothing for so many seconds."""
        self._not_before = max(self._not_before, self.clock() + seconds)

    async def start(self, request: Request) -> float:
        """Wait until the request may be sent; return the tokens that it is expected to take."""
        async with self._turn:
            while (
                wait := max(self._not_before, self._requests.next_start, self._tokens.next_start) - self.clock()
            ) > 0:
                await self.sleep(min(wait, _LOOK_AGAIN))
            expected = self._estimate.of(request)
            self._requests.add(self.clock(), 1)
            self._tokens.add(self.clock(), expected)
            return expected

    def end(self, expected: float, outcome: Outcome | None) -> None:
        """Count what a request took; `None` is the outcome of one that was cut off."""
        self.n_answered += isinstance(outcome, Reply)
        self._tokens.add(self.clock(), self._estimate.used(outcome, expected) - expected)


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
