"""The way over the wire: an aiohttp session under the openai client, which by itself would use another library.

It reads each body to its end before it hands it on, up to a limit, so that one answer cannot fill the memory.
"""

import os

import aiohttp
import httpx2

LARGEST_BODY = 16 << 20
"""How many bytes a body may have; the longest answers of a model have some hundred thousand."""

_CONNECT_SECONDS = 10.0
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class BodyTooLargeError(Exception):
    """A body is larger than the limit."""


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends the openai client's requests with aiohttp; connections are kept and as many as are asked for.

    Errors are aiohttp's own, which the openai client lets pass as they are: it would call a reset a time-out.

    Parameters
    ----------
    largest_body
        How many bytes an answer may have.
    """

    def __init__(self, largest_body: int = LARGEST_BODY) -> None:
        self._largest = largest_body
        self._session: aiohttp.ClientSession | None = None

    def _open(self) -> aiohttp.ClientSession:
        """The session, made on first use as it belongs to the running event loop."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES),
            )
        return self._session

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read the whole answer.

        Raises
        ------
        BodyTooLargeError
            The body goes on after the limit; the connection is closed.
        aiohttp.ClientError, OSError
            The connection failed.
        """
        content = await request.aread()
        headers = [
            (name, value)
            for name, value in request.headers.items()
            if name not in ("host", "content-length", "connection")
        ]
        async with self._open().request(
            request.method, str(request.url), data=content, headers=headers, allow_redirects=False
        ) as response:
            fields = [
                (name, value)
                for name, value in response.headers.items()
                if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
            ]
            return httpx2.Response(response.status, headers=fields, content=await self._read(response))

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        parts, size = [], 0
        async for part in response.content.iter_any():
            size += len(part)
            if size > self._largest:
                response.close()
                raise BodyTooLargeError
            parts.append(part)
        return b"".join(parts)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
