"""A client that is opened by its first request: if the cache has every answer, neither a key nor a server is needed."""

from collections.abc import Callable

from misstep.harness.exchange import Client, Outcome, Request


class LazyClient:
    """Asks the client that a function opens; the first request raises whatever the function raises."""

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
