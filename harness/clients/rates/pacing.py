"""Requests wait here until every limit lets the next one go: the first to come is the first to go."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from misstep.harness.clients.rates.start_limit import End, Start, StartLimit
from misstep.harness.exchange import Outcome, Reply, Request

_CHARACTERS_A_TOKEN = 3.0
"""What a token has before anything is known; most texts have about four, code fewer."""

_ANSWER = 500
"""The tokens of an answer before anything is known, where the request does not limit them."""

_WEIGHT = 20
"""For how many answers the first guess counts."""


class TokenEstimate:
    """Characters a token and tokens an answer, averaged over the answers that had a usage."""

    def __init__(self) -> None:
        self._input_characters = self._input_tokens = 0.0
        self._output_tokens, self._answers = 0, 0

    def of(self, request: Request) -> float:
        """Return the expected number of tokens, question and answer."""
        a_token = self._input_characters / self._input_tokens if self._input_tokens else _CHARACTERS_A_TOKEN
        most = request.most_tokens_out()
        guess = _ANSWER if most is None else most
        answer = (_WEIGHT * guess + self._output_tokens) / (_WEIGHT + self._answers)
        return _characters(request) / a_token + (answer if most is None else min(answer, most))

    def learn(self, request: Request, outcome: Outcome | None) -> float | None:
        """Learn from an outcome; gives the tokens that it took, where it says them: a failure took none."""
        if outcome is None:
            return None
        if not isinstance(outcome, Reply):
            return 0.0
        if outcome.input_tokens is None or outcome.output_tokens is None:
            return None
        self._input_characters += _characters(request)
        self._input_tokens += outcome.input_tokens
        self._output_tokens += outcome.output_tokens
        self._answers += 1
        return float(outcome.input_tokens + outcome.output_tokens)


def _characters(request: Request) -> int:
    return sum(len(message.content) for message in request.messages)


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
