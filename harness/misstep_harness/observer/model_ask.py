"""A model as a detector asks it outside of a run."""

from misstep_harness.clients import open_client
from misstep_harness.clients.settings import ClientSettings
from misstep_harness.exchange import Outcome, Request


class ModelAsk:
    """Asks one model, each time with a client of its own: whoever asks may have no event loop."""

    def __init__(self, model: str, settings: ClientSettings) -> None:
        self.model, self._settings = model, settings

    async def __call__(self, request: Request) -> Outcome:
        """Return the model's answer, or why there is none."""
        client = open_client(self._settings)
        try:
            return await client.ask(request)
        finally:
            await client.close()
