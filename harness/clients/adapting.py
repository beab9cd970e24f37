"""Asking in the form that a server takes, where another form asks the same.

A server that knows no JSON schemas is asked without one: whoever reads the replies reads them without it too. One that
calls the limit of an answer `max_completion_tokens` is told it by that name. What would change the answers, such as the
temperature, is never left out here: the failure says what to do.
"""

from msgspec.structs import replace

from harness.clients.reading import error_in
from harness.clients.refusals import refused_parameter
from harness.exchange import Client, Failure, Outcome, Reply, Request


class AdaptingClient:
    """Asks another client, and again in another form where the server refuses the first; what it took is remembered.

    Parameters
    ----------
    client
        The client that makes one attempt.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._without_schema = False
        self._renames_limit = False

    async def ask(self, request: Request) -> Outcome:
        """The outcome of the form that the server takes, or of the last that was tried."""
        asked = self._as_taken(request)
        outcome = await self._client.ask(asked)
        while isinstance(outcome, Failure) and (other := _otherwise(asked, outcome)) is not None:
            asked = other
            outcome = await self._client.ask(asked)
        if not isinstance(outcome, Reply):
            return outcome
        unstructured = request.schema is not None and asked.schema is None
        self._without_schema |= unstructured
        self._renames_limit |= asked.max_tokens != request.max_tokens
        return replace(outcome, unstructured=True) if unstructured else outcome

    def _as_taken(self, request: Request) -> Request:
        if self._without_schema and request.schema is not None:
            request = replace(request, schema=None)
        return _renamed(request) if self._renames_limit and request.max_tokens is not None else request

    async def close(self) -> None:
        """Close the other client."""
        await self._client.close()


def _otherwise(request: Request, failure: Failure) -> Request | None:
    """The same request in another form; `None` where what the server refused has none."""
    if failure.kind != "bad_request":
        return None
    refused = refused_parameter(error_in(failure.raw.encode()))
    if refused == "response_format" and request.schema is not None:
        return replace(request, schema=None)
    if refused == "max_tokens" and request.max_tokens is not None and "max_completion_tokens" in failure.raw:
        return _renamed(request)
    return None


def _renamed(request: Request) -> Request:
    return replace(request, max_tokens=None, extra={"max_completion_tokens": request.max_tokens} | request.extra)
