"""Measure how fast a model is asked, beside the fastest that its server's latency allows.

    python -m benchmarks client_speed [--tls]

Every client asks the same stub on loopback, which takes 200 ms a request, with 100 requests in flight: 500 requests a
second are the ideal.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
import msgspec
import openai

from benchmarks.measuring import measure, python
from benchmarks.stub_server import stub
from misstep_harness.clients import ClientSettings, open_client
from misstep_harness.clients.concurrency import run_concurrently
from misstep_harness.clients.openai_client import OpenAIClient
from misstep_harness.exchange import Message, Reply, Request

LATENCY_SECONDS, IN_FLIGHT, ROUNDS = 0.2, 100, 3
REQUESTS, MANY = 2_500, 20_000
IDEAL, BOUND = IN_FLIGHT / LATENCY_SECONDS, 0.85
PROMPT = "A step of a trajectory, as long as such steps are. " * 80
Ask = Callable[[Request], Awaitable[object]]


def _requests(number: int) -> Iterator[Request]:
    for index in range(number):
        yield Request("stub-model", (Message("user", f"{index} {PROMPT}"),), temperature=0, max_tokens=100)


@asynccontextmanager
async def _bare_aiohttp(address: str, *, keeps_alive: bool) -> AsyncIterator[Ask]:
    connector = aiohttp.TCPConnector(limit=0, force_close=not keeps_alive)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(request: Request) -> object:
            headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
            async with session.post(f"{address}/chat/completions", data=request.content(), headers=headers) as answer:
                return msgspec.json.decode(await answer.read())

        yield ask


@asynccontextmanager
async def _openai_alone(address: str) -> AsyncIterator[Ask]:
    http = openai.DefaultAioHttpClient()
    async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0, http_client=http) as client:

        async def ask(request: Request) -> object:
            return await client.chat.completions.create(**request.body())

        yield ask


@asynccontextmanager
async def _one_attempt(address: str) -> AsyncIterator[Ask]:
    """Leave out the layers over Misstep's client."""
    client = OpenAIClient(address, "")
    yield client.ask
    await client.close()


@asynccontextmanager
async def _whole_stack(address: str) -> AsyncIterator[Ask]:
    """Use Misstep's client as a run does: cache, circuit, patience and recording."""
    with tempfile.TemporaryDirectory() as folder:
        settings = ClientSettings(base_url=address, cache=Path(folder, "cache"), record=Path(folder, "recording"))
        client = open_client(settings)
        yield client.ask
        await client.close()


CLIENTS = {
    "bare aiohttp": partial(_bare_aiohttp, keeps_alive=True),
    "bare aiohttp, a connection a request": partial(_bare_aiohttp, keeps_alive=False),
    "openai with its aiohttp transport": _openai_alone,
    "Misstep, one attempt": _one_attempt,
    "Misstep, whole": _whole_stack,
}


async def _rate(ask: Ask, number: int) -> tuple[float, float]:
    """Return how many requests a second are answered by workers that share them, and the processor's ms for each."""
    left = _requests(number)

    async def work() -> None:
        for request in left:
            await ask(request)

    busy, started = time.process_time(), time.perf_counter()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    return number / (time.perf_counter() - started), 1000 * (time.process_time() - busy) / number


async def print_rates(address: str) -> None:
    """Print the best rate of each client."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for name, opened in CLIENTS.items():
            async with opened(address) as ask:
                best[name] = max(best.get(name, (0.0, 0.0)), await _rate(ask, REQUESTS))
    for name, (a_second, milliseconds) in best.items():
        print(f"{name:38}{a_second:6.0f}/s {a_second / IDEAL:6.1%} of the ideal, {milliseconds:.2f} ms each")


async def _one_run(address: str, cache: Path) -> None:
    client = open_client(ClientSettings(base_url=address, cache=cache))
    started = time.perf_counter()
    async for outcome in run_concurrently(client.ask, _requests(MANY), IN_FLIGHT):
        if not isinstance(outcome, Reply):
            sys.exit(f"the stub did not answer: {outcome.sentence}")
    await client.close()
    print(time.perf_counter() - started)


def _with_a_certificate() -> None:
    """Measure over TLS in a process that trusts a certificate made for it: aiohttp reads what it trusts on import."""
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
        made_for = ["-subj", "/CN=stub", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"]
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        files = ["-keyout", key, "-out", certificate]
        subprocess.run(["openssl", "req", "-x509", *kind, *made_for, *files], check=True, capture_output=True)
        command = python("-m", "benchmarks.client_speed", "--tls", certificate, key)
        subprocess.run(command, check=True, env=os.environ | {"SSL_CERT_FILE": certificate})


def main() -> None:
    """Print the rates of the clients, over TLS or not."""
    match sys.argv[1:]:
        case ["--tls", certificate, key]:
            with stub(LATENCY_SECONDS, certificate, key) as secured:
                asyncio.run(print_rates(secured.address))
        case ["--tls"]:
            _with_a_certificate()
        case [address, cache]:
            asyncio.run(_one_run(address, Path(cache)))
        case _:
            _without_tls()


def _without_tls() -> None:
    """Print the rates, then time and memory of a fresh and a cached run of 20,000 requests."""
    with stub(LATENCY_SECONDS) as server, tempfile.TemporaryDirectory() as folder:
        asyncio.run(print_rates(server.address))
        print(f"bound: {BOUND:.0%}")
        for what in ("fresh", "cached"):
            usage = measure(python("-m", "benchmarks.client_speed", server.address, f"{folder}/cache"))
            each = float(usage.output)
            print(
                f"{MANY:,} requests, {what}: {each:.1f} s, {MANY / each:,.0f}/s, {usage.largest_mib:.0f} MiB"
                f" (bounds: cached 5,000/s, 200 MiB)"
            )


if __name__ == "__main__":
    main()
