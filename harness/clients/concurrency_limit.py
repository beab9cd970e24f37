"""A limit on the number of requests that the server has at once.

The caller may prepare more requests than that: while one outcome is parsed and written, the next request is sent.
"""

import asyncio

from misstep.harness.clients.around_client import AroundClient
from misstep.harness.exchange import Client, Outcome, Request


class ConcurrencyLimitClient(AroundClient):
    """Asks another client, with a limit on the requests in flight."""

    def __init__(self, client: Client, most: int) -> None:
        super().__init__(client)
        self._places = asyncio.Semaphore(most)

    async def ask(self, request: Request) -> Outcome:
        """Return the other client's outcome, when there is a place."""
        async with self._places:
            return await self._client.ask(request)
