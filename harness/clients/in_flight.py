"""A limit on how many requests are with the server at once.

Whoever asks may have more requests under way than that: while one outcome is read and written down, the next request,
made ready meanwhile, is sent already.
"""

import asyncio

from harness.exchange import Client, Outcome, Request


class InFlightClient:
    """Asks another client, so many requests at once.

    Parameters
    ----------
    client
        The client that is asked.
    most
        How many requests it has at once, at least 1.
    """

    def __init__(self, client: Client, most: int) -> None:
        self._client = client
        self._places = asyncio.Semaphore(most)

    async def ask(self, request: Request) -> Outcome:
        """The other client's outcome, when there is a place."""
        async with self._places:
            return await self._client.ask(request)

    async def close(self) -> None:
        """Close the other client."""
        await self._client.close()
