"""Exceptions as failures: an exception that a client raises becomes the failure of that one request.

Errors that end a run are still raised: an error of Misstep's own (no key, a cost limit without a price, a full disk), a
cancellation, Ctrl-C.
"""

from misstep.harness.clients.around_client import AroundClient
from misstep.harness.clients.parse_response import Redact
from misstep.harness.errors import MisstepError
from misstep.harness.exchange import Client, Failure, Outcome, Request


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
