"""One attempt at an OpenAI-compatible server: a request goes out, an outcome comes back.

The openai client says who is asked, with which key and how; the answer is read here, as that client takes a page of
HTML for an answer and raises on some bodies what is no error of its own (see `harness.clients.reading`).
"""

import time

import aiohttp
import httpx2
import openai
from msgspec.structs import replace

from harness.clients.address import address_and_key
from harness.clients.prices import Prices, known_prices
from harness.clients.reading import Answer, read_answer
from harness.clients.redaction import Redaction
from harness.clients.settings import ClientSettings
from harness.clients.transport import LARGEST_BODY, AiohttpTransport, BodyTooLargeError
from harness.exchange import Failure, FailureKind, Outcome, Reply, Request

NO_KEY = "none"
"""What is sent as key to a server that wants none."""

_PATH = "/chat/completions"


class OpenAIClient:
    """Asks the server at an address, once a request.

    Parameters
    ----------
    base_url
        The address with its version: `http://127.0.0.1:8080/v1`.
    key
        The API key; it is taken out of whatever comes back.
    prices
        What tokens cost.
    largest_body
        How many bytes an answer may have.
    """

    def __init__(self, base_url: str, key: str, prices: Prices | None = None, largest_body: int = LARGEST_BODY) -> None:
        self.server = connect(base_url, key, largest_body)
        self._redact = Redaction(key)
        self._prices = prices or Prices()
        self._largest = largest_body

    async def ask(self, request: Request) -> Outcome:
        """The outcome of one attempt, which takes as long as the server takes."""
        started = time.perf_counter()
        try:
            response = await self._send(request.content())
        except BodyTooLargeError:
            sentence = f"the server's answer is larger than {self._largest:,} bytes"
            return Failure("too_large", sentence, seconds=time.perf_counter() - started)
        except (aiohttp.ClientError, OSError, openai.APIConnectionError) as error:
            kind: FailureKind = "timeout" if isinstance(error, TimeoutError) else "connection"
            sentence = self._redact(f"no whole answer from {self.server.base_url}: {_why(error)}")
            return Failure(kind, sentence, seconds=time.perf_counter() - started)
        answer = Answer(response.status_code, response.headers, response.content)
        outcome = self._redacted(read_answer(answer, request.model, time.perf_counter() - started))
        return self._prices.priced(outcome, request.model) if isinstance(outcome, Reply) else outcome

    async def _send(self, content: bytes) -> httpx2.Response:
        try:
            return await self.server.post(
                _PATH,
                cast_to=httpx2.Response,
                content=content,
                options={"headers": {"Content-Type": "application/json"}},
            )
        except openai.APIStatusError as error:
            return error.response

    def _redacted(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Failure):
            return replace(outcome, sentence=self._redact(outcome.sentence), raw=self._redact(outcome.raw))
        text, refusal, finish = outcome.text, outcome.refusal, outcome.finish
        return replace(
            outcome,
            raw=self._redact(outcome.raw),
            text=text and self._redact(text),
            refusal=refusal and self._redact(refusal),
            finish=finish and self._redact(finish),
            model=self._redact(outcome.model),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self.server.close()


def _why(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


class _Connection(openai.AsyncOpenAI):
    def platform_headers(self) -> dict[str, str]:
        """None: building them for each request takes a tenth of its time, and they tell of the user's machine."""
        return {}


def connect(base_url: str, key: str, largest_body: int = LARGEST_BODY) -> openai.AsyncOpenAI:
    """The openai client for an address: it tries once and follows no redirection, which could take the key away."""
    http = httpx2.AsyncClient(transport=AiohttpTransport(largest_body), trust_env=False, timeout=None)
    return _Connection(base_url=base_url, api_key=key or NO_KEY, max_retries=0, http_client=http)


def open_openai(settings: ClientSettings) -> OpenAIClient:
    """The client that settings ask for, with the key of the environment."""
    address, key = address_and_key(settings.base_url)
    return OpenAIClient(address, key, known_prices(settings.prices))
