"""The way over the wire: one connection a request, a body that is read to its end, up to a limit.

HTTP/1.1 has nothing that ties an answer to a request but the connection that it comes on. A server that sends an answer
twice would have the second taken for the answer to the next request, so that no connection carries a second one.
"""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from misstep_harness.clients.parse_response import ParsedAnswer
from misstep_harness.errors import UsageError

LARGEST_BODY = 16 << 20
"""How many bytes a body may have; the longest answers of a model have some hundred thousand."""

_CONNECT_SECONDS = 10.0

_READ = ("content-type", "date", "retry-after", "retry-after-ms")
"""The header fields that are read: what else a server says there concerns nobody, however odd it is."""


class BodyTooLargeError(Exception):
    """A body is larger than the limit."""


Proxy = tuple[str | None, dict[str, str]]
"""Where the proxy is, if there is one, and the header fields that it wants."""


def proxy_to(scheme: str, host: str) -> Proxy:
    """The proxy that the environment names for a server (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`)."""
    known = getproxies()
    named = known.get(scheme) or known.get("all")
    if not named or proxy_bypass(host):
        return None, {}
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme not in ("http", "https"):
        message = f"a {proxy.scheme} proxy is named for {host}"
        raise UsageError(message, f"Name an http proxy, or {host} in no_proxy.")
    login, _, place = proxy.netloc.rpartition("@")
    user, _, password = login.partition(":")
    fields = {"Authorization": aiohttp.encode_basic_auth(unquote(user), unquote(password))} if login else {}
    return f"{proxy.scheme}://{place}", fields


class Wire:
    """Sends requests with aiohttp, as many at once as are asked for, and follows no redirection."""

    def __init__(self, largest_body: int = LARGEST_BODY) -> None:
        self._largest = largest_body
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[tuple[str, str], Proxy] = {}

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, force_close=True),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,  # else a login of ~/.netrc would be put in the place of the key
            )
        return self._session

    async def send(self, method: str, url: str, content: bytes | None, headers: Mapping[str, str]) -> ParsedAnswer:
        """Send one request and read the whole answer."""
        parts = urlsplit(url)
        server = (parts.scheme, parts.hostname or "")
        if server not in self._proxies:
            self._proxies[server] = proxy_to(*server)
        proxy, wanted = self._proxies[server]
        async with self._open().request(
            method, url, data=content, headers=headers, allow_redirects=False, proxy=proxy, proxy_headers=wanted
        ) as response:
            fields = {name: response.headers[name] for name in _READ if name in response.headers}
            return ParsedAnswer(response.status, fields, await self._read(response))

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        parts, size = [], 0
        async for part in response.content.iter_any():
            size += len(part)
            if size > self._largest:
                response.close()
                raise BodyTooLargeError
            parts.append(part)
        return b"".join(parts)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
