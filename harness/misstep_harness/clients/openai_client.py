"""One attempt at an OpenAI-compatible server: a request goes out, an outcome comes back.

From the response of an endpoint for decisions to an outcome.

Two forms are read, each with the one question that a request asks:

    {"model": "m", "answers": [{"type": "choice", "name": "label", "choice": "yes",
     "probabilities": [{"value": "yes", "probability": 0.8}, …]}], "usage": {"input_tokens": 90, "output_tokens": 0}}
    {"model": "m", "answers": {"label": {"type": "choice", "choice": "yes", "probabilities": {"yes": 0.8, …}}}, …}

The reply's text is the answer in one form, `{"choice": "yes", "probabilities": [["yes", 0.8], …]}`; whether its
probabilities can be believed is for the judge to say.

The way over the wire: one connection a request, a body that is read to its end, up to a limit.

HTTP/1.1 has nothing that ties an answer to a request but the connection that it comes on. A server that sends an answer
twice would have the second taken for the answer to the next request, so that no connection carries a second one.
"""

import json
import os
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from misstep_harness.clients.address import address_and_key, header_fields
from misstep_harness.clients.parse_response import ParsedAnswer, Redact, count, parse_response, refused, text_of
from misstep_harness.clients.settings import ClientSettings
from misstep_harness.errors import UsageError
from misstep_harness.escaping import json_without_surrogates
from misstep_harness.exchange import QUESTION, DecisionApi, Failure, FailureKind, Outcome, Reply, Request
from misstep_harness.redaction import Redaction, secrets
from misstep_harness.usage import Prices, known_prices

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


_KEPT = 20_000
_NO_SUCH_ADDRESS = (404, 405, 501)


def parse_decision(answer: ParsedAnswer, api: DecisionApi, model: str, seconds: float, redact: Redact = str) -> Outcome:
    """Return the outcome of one request for a decision; its cost is not filled in."""
    raw = redact(text_of(answer.body))

    def failed(kind: FailureKind, sentence: str) -> Failure:
        return Failure(kind, sentence, raw=raw[:_KEPT], seconds=seconds)

    if answer.status in _NO_SUCH_ADDRESS and "model" not in raw.casefold():
        sentence = f"the server has no /{api} (status {answer.status})"
        chat = '`api = "chat"` and `scores = "logprobs"`'
        advice = f"if it knows chat alone, put {chat} under [model] of the judge's file"
        return failed("bad_request", f"{sentence}; {advice}")
    if not 200 <= answer.status < 300:
        return refused(answer, seconds, redact)
    try:
        value = json_without_surrogates(json.loads(answer.body))
    except (ValueError, RecursionError) as error:
        return failed("malformed", f"the server's answer is not JSON ({redact(str(error))})")
    if not isinstance(value, dict) or not isinstance(value.get("answers"), list | dict):
        return failed("malformed", "the server's answer has no list of answers")
    decision = _answer(value["answers"])
    usage = value["usage"] if isinstance(value.get("usage"), dict) else {}
    refusal = _refusal(decision)
    named = value.get("model")
    return Reply(
        text=None if decision is None or refusal is not None else redact(_as_text(decision)),
        refusal=refusal and redact(refusal),
        finish=None,
        model=redact(named) if isinstance(named, str) and named else model,
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        seconds=seconds,
        cost_usd=None,
        raw=raw,
    )


def _answer(answers: list[Any] | dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(answers, dict):
        one = answers.get(QUESTION)
        return one if isinstance(one, dict) else None
    named = [one for one in answers if isinstance(one, dict) and one.get("name") in (QUESTION, None)]
    return named[0] if len(named) == 1 else None


def _refusal(decision: dict[str, Any] | None) -> str | None:
    if decision is None or decision.get("type") != "refusal":
        return None
    reason = decision.get("refusal") or decision.get("message") or decision.get("reason")
    return reason if isinstance(reason, str) else "the model declined to answer"


def _as_text(decision: dict[str, Any]) -> str:
    """Return an answer in one form, as JSON; odd numbers stay as they are."""
    probabilities = decision.get("probabilities")
    if isinstance(probabilities, dict):
        pairs = list(probabilities.items())
    else:
        listed = [one for one in probabilities if isinstance(one, dict)] if isinstance(probabilities, list) else []
        pairs = [(one.get("value"), one.get("probability")) for one in listed]
    return json.dumps({"choice": decision.get("choice"), "probabilities": pairs})


class OpenAIClient:
    """Asks the server at an address, once a request; `environment` names further header fields, which are secrets."""

    def __init__(
        self,
        base_url: str,
        key: str,
        prices: Prices | None = None,
        largest_body: int = LARGEST_BODY,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._address = base_url.rstrip("/")
        self._headers = header_fields(key, environment)
        self._redact = Redaction(key, secrets(environment))
        self._wire = Wire(largest_body)
        self._prices = prices or Prices()
        self._largest = largest_body

    async def ask(self, request: Request) -> Outcome:
        """Return the outcome of one attempt, which takes as long as the server takes."""
        started = time.perf_counter()
        try:
            answer = await self._wire.send("POST", self._address + request.path, request.content(), self._headers)
        except BodyTooLargeError:
            sentence = f"the server's answer is larger than {self._largest:,} bytes"
            return Failure("too_large", sentence, seconds=time.perf_counter() - started)
        except (aiohttp.ClientError, OSError) as error:
            kind: FailureKind = "timeout" if isinstance(error, TimeoutError) else "connection"
            sentence = self._redact(f"no whole answer from {self._address}: {_why(error)}")
            return Failure(kind, sentence, seconds=time.perf_counter() - started)
        seconds = time.perf_counter() - started
        if request.decision is None:
            outcome = parse_response(answer, request.model, seconds, self._redact)
        else:
            outcome = parse_decision(answer, request.decision.api, request.model, seconds, self._redact)
        return self._prices.priced(outcome, request.model) if isinstance(outcome, Reply) else outcome

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()


def _why(error: Exception) -> str:
    """What an error says, without what it quotes: where a server speaks no HTTP, aiohttp shows a piece of its bytes."""
    message = error.message.strip().partition("\n")[0] if isinstance(error, aiohttp.ClientResponseError) else str(error)
    return " ".join(message.split()) or type(error).__name__


def open_openai(settings: ClientSettings) -> OpenAIClient:
    """Return the client that settings ask for, with the key of the environment."""
    address, key = address_and_key(settings.base_url, named=settings.base_url_named)
    return OpenAIClient(address, key, known_prices(settings.prices, settings.price))
