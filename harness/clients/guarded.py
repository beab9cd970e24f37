"""The boundary around one request: whatever asking raises is that request's failure, and nobody else's.

What ends a run stays what it is: an error of Misstep's own (no key, a budget without a price, a full disk), a
cancellation, Ctrl-C.
"""

from harness.clients.reading import Redact
from harness.errors import MisstepError
from harness.exchange import Client, Failure, Outcome, Request


def failure_of(error: Exception, redact: Redact) -> Failure:
    """The failure that an exception means for the request that raised it."""
    said = " ".join(redact(str(error)).split())
    return Failure("malformed", redact(f"asking raised {type(error).__name__}{': ' if said else ''}{said}"))


class GuardedClient:
    """Asks another client and gives a failure for what it raises.

    Parameters
    ----------
    client
        The client that is asked.
    redact
        What takes secrets out of what an exception says.
    """

    def __init__(self, client: Client, redact: Redact) -> None:
        self._client = client
        self._redact = redact

    async def ask(self, request: Request) -> Outcome:
        """The other client's outcome, or the failure that its exception means.

        Raises
        ------
        MisstepError
            Asking on is useless.
        """
        try:
            return await self._client.ask(request)
        except MisstepError:
            raise
        except Exception as error:  # noqa: BLE001 (the boundary)
            return failure_of(error, self._redact)

    async def close(self) -> None:
        """Close the other client."""
        await self._client.close()
