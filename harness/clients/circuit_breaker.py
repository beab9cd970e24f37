"""A circuit breaker: it stops the run when the server is gone, rejects the key or does not have the model."""

from misstep.harness.clients.around_client import AroundClient
from misstep.harness.exchange import Client, Failure, FailureKind, Outcome, Reply, Request

_OF_THE_REQUEST: frozenset[FailureKind] = frozenset({"bad_request", "too_large"})
"""Failures that one request may have caused; they count only as long as no request was answered."""

_NOT_OF_THE_SERVER: frozenset[FailureKind] = frozenset({"budget", "circuit_open"})


class CircuitBreakerClient(AroundClient):
    """Asks another client until too many requests in a row have failed, and then sends no more.

    - `failures_to_stop`: The number of failures in a row that opens the circuit; failures of the cost limit do not
      count. It stays open.
    """

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
