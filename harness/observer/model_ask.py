"""A model as a detector asks it outside of a run: its client is opened by the first question."""

from misstep.harness.clients import open_client
from misstep.harness.clients.settings import ClientSettings
from misstep.harness.exchange import Client, Outcome, Request


class ModelAsk:
    """Asks one model."""

    def __init__(self, model: str, settings: ClientSettings) -> None:
        self.model, self._settings = model, settings
        self._client: Client | None = None

    async def __call__(self, request: Request) -> Outcome:
        """Return the model's answer, or why there is none."""
        self._client = self._client or open_client(self._settings)
        return await self._client.ask(request)

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.close()
