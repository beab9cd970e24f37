"""One attempt at an OpenAI-compatible server: a request goes out, an outcome comes back."""

import os
import time
from collections.abc import Mapping

import aiohttp

from misstep_harness.clients.address import address_and_key, header_fields, secrets
from misstep_harness.clients.parse_decision import parse_decision
from misstep_harness.clients.parse_response import parse_response
from misstep_harness.clients.prices import Prices, known_prices
from misstep_harness.clients.redaction import Redaction
from misstep_harness.clients.settings import ClientSettings
from misstep_harness.clients.transport import LARGEST_BODY, BodyTooLargeError, Wire
from misstep_harness.exchange import Failure, FailureKind, Outcome, Reply, Request


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
