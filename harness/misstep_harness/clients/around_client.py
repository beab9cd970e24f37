"""Clients that ask another one: opened late, with a limit on the requests in flight, until a server is gone."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from misstep_harness.clients.parse_response import Redact, error_in, rejected_parameter
from misstep_harness.errors import MisstepError
from misstep_harness.exchange import Client, Failure, FailureKind, Outcome, Reply, Request

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


class ParameterFallbackClient(AroundClient):
    """Asks another client, again in another form where the server rejects the first, and remembers the accepted one."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self._without_schema = False
        self._renames_limit = False

    async def ask(self, request: Request) -> Outcome:
        """Return the outcome of the form that the server accepts, or of the last form that was tried."""
        sent = self._in_accepted_form(request)
        outcome = await self._client.ask(sent)
        while isinstance(outcome, Failure) and (other := _other_form(sent, outcome)) is not None:
            sent = other
            outcome = await self._client.ask(sent)
        if not isinstance(outcome, Reply):
            return outcome
        unstructured = request.schema is not None and sent.schema is None
        self._without_schema |= unstructured
        self._renames_limit |= sent.max_tokens != request.max_tokens
        return replace(outcome, unstructured=True) if unstructured else outcome

    def _in_accepted_form(self, request: Request) -> Request:
        if self._without_schema and request.schema is not None:
            request = replace(request, schema=None)
        return _renamed(request) if self._renames_limit and request.max_tokens is not None else request


def _other_form(request: Request, failure: Failure) -> Request | None:
    """Return the same request in another form; `None` where what the server refused has none."""
    if failure.kind != "bad_request":
        return None
    refused = rejected_parameter(error_in(failure.raw.encode()))
    if refused == "response_format" and request.schema is not None:
        return replace(request, schema=None)
    if refused == "max_tokens" and request.max_tokens is not None and "max_completion_tokens" in failure.raw:
        return _renamed(request)
    return None


def _renamed(request: Request) -> Request:
    return replace(request, max_tokens=None, extra={"max_completion_tokens": request.max_tokens} | request.extra)
