"""Clients that ask another one: opened late, with a limit on the requests in flight, until a server is gone."""

import asyncio
from collections.abc import Callable

from misstep.harness.clients.parse_response import Redact
from misstep.harness.errors import MisstepError
from misstep.harness.exchange import Client, Failure, FailureKind, Outcome, Reply, Request

_OF_THE_REQUEST: frozenset[FailureKind] = frozenset({"bad_request", "too_large"})
"""Failures that one request may have caused; they count only as long as no request was answered."""

_NOT_OF_THE_SERVER: frozenset[FailureKind] = frozenset({"budget", "circuit_open"})


class AroundClient:
    """Asks another client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def close(self) -> None:
        """Close the other client."""
        await self._client.close()


class LazyClient:
    """Asks the client that a function opens at the first request, which raises whatever the function raises."""

    def __init__(self, opened: Callable[[], Client]) -> None:
        self._opened = opened
        self._client: Client | None = None

    async def ask(self, request: Request) -> Outcome:
        """Return the other client's outcome."""
        if self._client is None:
            self._client = self._opened()
        return await self._client.ask(request)

    async def close(self) -> None:
        """Close the other client, where it was opened."""
        if self._client is not None:
            await self._client.close()


class ConcurrencyLimitClient(AroundClient):
    """Asks another client, with a limit on the requests in flight."""

    def __init__(self, client: Client, most: int) -> None:
        super().__init__(client)
        self._places = asyncio.Semaphore(most)

    async def ask(self, request: Request) -> Outcome:
        """Return the other client's outcome, when there is a place."""
        async with self._places:
            return await self._client.ask(request)


class CircuitBreakerClient(AroundClient):
    """Asks another client until too many requests in a row have failed, and then sends no more."""

    def __init__(self, client: Client, failures_to_stop: int = 10) -> None:
        super().__init__(client)
        self._most = failures_to_stop
        self._in_a_row = 0
        self._answered = False
        self._open: Failure | None = None

    async def ask(self, request: Request) -> Outcome:
        """Return the outcome; a failure of kind `circuit_open`, without a request, once the circuit is open."""
        if self._open is not None:
            return self._open
        outcome = await self._client.ask(request)
        self._count(outcome)
        return outcome

    def _count(self, outcome: Outcome) -> None:
        if isinstance(outcome, Reply):
            self._answered = True
            self._in_a_row = 0
        elif outcome.kind not in _NOT_OF_THE_SERVER and not (self._answered and outcome.kind in _OF_THE_REQUEST):
            self._in_a_row += 1
            if self._in_a_row >= self._most and self._open is None:
                sentence = f"{self._in_a_row} requests in a row failed, the last as {outcome.sentence}"
                self._open = Failure("circuit_open", sentence, attempts=0)


def failure_of(error: Exception, redact: Redact) -> Failure:
    """Return the failure that an exception means for the request that raised it."""
    message = " ".join(redact(str(error)).split())
    return Failure("malformed", redact(f"asking raised {type(error).__name__}{': ' if message else ''}{message}"))


class ErrorsAsFailuresClient(AroundClient):
    """Asks another client and turns its exceptions into failures."""

    def __init__(self, client: Client, redact: Redact) -> None:
        super().__init__(client)
        self._redact = redact

    async def ask(self, request: Request) -> Outcome:
        """Return the other client's outcome, or the failure that its exception means."""
        try:
            return await self._client.ask(request)
        except MisstepError:
            raise
        except Exception as error:  # noqa: BLE001 (the boundary)
            return failure_of(error, self._redact)
