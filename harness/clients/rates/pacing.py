"""Requests wait here until every limit lets the next one go: the first to come is the first to go."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from misstep.harness.clients.rates.start_limit import End, Start, StartLimit
from misstep.harness.clients.rates.token_estimate import TokenEstimate
from misstep.harness.exchange import Outcome, Request


class Pacing:
    """Sends requests on when the limits allow it."""

    def __init__(self, limits: Sequence[StartLimit] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._estimate = TokenEstimate()
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._sent, self._tokens = 0, 0.0

    async def start(self, request: Request) -> Start:
        """Wait until the request may be sent; whoever calls sends it, and says when it has ended."""
        async with self._turn:  # a lock of asyncio lets them in as they come
            while True:
                self._changed.clear()
                now, tokens = self._clock(), self._estimate.of(request)
                earliest = max((limit.next_start(now, tokens) for limit in self._limits), default=now)
                if earliest <= now:
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), None if math.isinf(earliest) else earliest - now)
            start = Start(self._sent, self._tokens, now, tokens)
            self._sent += 1
            self._tokens += tokens
            for limit in self._limits:
                limit.started(start)
            return start

    def end(self, request: Request, start: Start, outcome: Outcome | None) -> None:
        """Tell the limits of an outcome; `None` for a request that was cut off."""
        used = self._estimate.learn(request, outcome)
        end = End(self._clock(), outcome, start.tokens if used is None else used)
        for limit in self._limits:
            limit.ended(start, end)
        self._changed.set()
