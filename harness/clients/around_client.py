"""What clients have in common that ask another one."""

from misstep.harness.exchange import Client


class AroundClient:
    """Asks another client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def close(self) -> None:
        """Close the other client."""
        await self._client.close()
