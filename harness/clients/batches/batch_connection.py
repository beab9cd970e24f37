"""The openai client for files and batches, over the same wire as single requests."""

import httpx2
import openai

from misstep.harness.clients.address import NO_KEY
from misstep.harness.clients.transport import Wire

_OF_THE_WIRE = ("host", "content-length", "connection")
"""Header fields that belong to a connection: the wire makes its own."""


class WireTransport(httpx2.AsyncBaseTransport):
    """Sends the openai client's requests.

    Errors are aiohttp's own, which the openai client lets pass as they are: it would call a reset a time-out. It is
    told no character set, as it would look up one that is none: the API is JSON, and JSON is UTF-8.
    """

    def __init__(self, largest_body: int) -> None:
        self._wire = Wire(largest_body)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read the whole answer."""
        headers = {name: value for name, value in request.headers.items() if name not in _OF_THE_WIRE}
        answer = await self._wire.send(request.method, str(request.url), await request.aread(), headers)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip()
        fields = {"content-type": kind} if kind.isascii() and kind.isprintable() else {}
        return httpx2.Response(answer.status, headers=fields, content=answer.body)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._wire.close()


class _Connection(openai.AsyncOpenAI):
    def platform_headers(self) -> dict[str, str]:
        """None: they tell of the user's machine."""
        return {}


def connect(base_url: str, key: str, largest_body: int) -> openai.AsyncOpenAI:
    """The openai client for an address: it tries once and follows no redirection, which could take the key away."""
    http = httpx2.AsyncClient(transport=WireTransport(largest_body), trust_env=False, timeout=None)
    return _Connection(base_url=base_url, api_key=key or NO_KEY, max_retries=0, http_client=http)
