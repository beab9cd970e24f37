"""Another form of the same request, for a server that rejects a parameter."""

from msgspec.structs import replace

from misstep.harness.clients.around_client import AroundClient
from misstep.harness.clients.parse_response import error_in
from misstep.harness.clients.rejected_parameters import rejected_parameter
from misstep.harness.exchange import Client, Failure, Outcome, Reply, Request


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
