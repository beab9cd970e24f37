"""How fast a model is asked, beside the fastest that its server's latency allows: `python -m benchmarks client_speed`.

Every client asks the same stub on loopback, which takes 200 ms a request, with 100 requests in flight: 500 requests a
second are the ideal. A round has each client once; the best of the rounds counts, as others use the machine too.
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
from msgspec import Struct

from benchmarks.measuring import machine, measure
from misstep.harness.clients import ClientSettings, open_client
from misstep.harness.clients.concurrency import run_concurrently
from misstep.harness.clients.openai_client import OpenAIClient
from misstep.harness.exchange import Client, Message, Reply, Request

LATENCY_SECONDS = 0.2
IN_FLIGHT = 100
REQUESTS = 2_500
MANY = 20_000
ROUNDS = 3
PROMPT = "A step of a trajectory, as long as such steps are. " * 80
BOUND = 0.85


class Rate(Struct, frozen=True):
    """Requests a second, and the processor's milliseconds for each."""

    a_second: float
    milliseconds: float


def requests(number: int) -> Iterator[Request]:
    """So many different questions of 4 kB."""
    for index in range(number):
        yield Request("stub-model", (Message("user", f"{index} {PROMPT}"),), temperature=0, max_tokens=100)


@asynccontextmanager
async def bare_aiohttp(address: str, *, kept: bool) -> AsyncIterator[Callable[[Request], Awaitable[object]]]:
    """Return an aiohttp session and nothing else; its connections are kept, or each carries one request."""
    connector = aiohttp.TCPConnector(limit=0, force_close=not kept)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(request: Request) -> object:
            headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
            async with session.post(f"{address}/chat/completions", data=request.content(), headers=headers) as answer:
                return msgspec.json.decode(await answer.read())

        yield ask


@asynccontextmanager
async def openai_alone(address: str) -> AsyncIterator[Callable[[Request], Awaitable[object]]]:
    """Return the openai client as it comes, with the aiohttp transport that it has."""
    http = openai.DefaultAioHttpClient()
    async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0, http_client=http) as client:

        async def ask(request: Request) -> object:
            return await client.chat.completions.create(**request.body())

        yield ask


@asynccontextmanager
async def one_attempt(address: str) -> AsyncIterator[Callable[[Request], Awaitable[object]]]:
    """Misstep's client without what stands over it."""
    client = OpenAIClient(address, "")
    yield client.ask
    await client.close()


@asynccontextmanager
async def whole_stack(address: str) -> AsyncIterator[Callable[[Request], Awaitable[object]]]:
    """Misstep's client as a run uses it: cache, circuit, patience and recording."""
    with tempfile.TemporaryDirectory() as folder:
        settings = ClientSettings(base_url=address, cache=Path(folder, "cache"), record=Path(folder, "recording"))
        client = open_client(settings)
        yield client.ask
        await client.close()


CLIENTS = {
    "bare aiohttp": partial(bare_aiohttp, kept=True),
    "bare aiohttp, a connection a request": partial(bare_aiohttp, kept=False),
    "openai with its aiohttp transport": openai_alone,
    "Misstep, one attempt": one_attempt,
    "Misstep, whole": whole_stack,
}


async def rate(ask: Callable[[Request], Awaitable[object]], number: int) -> Rate:
    """Return how fast requests are answered by workers that share them."""
    left = requests(number)

    async def work() -> None:
        for request in left:
            await ask(request)

    busy, started = time.process_time(), time.perf_counter()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    seconds = time.perf_counter() - started
    return Rate(number / seconds, 1000 * (time.process_time() - busy) / number)


async def compare(address: str) -> dict[str, Rate]:
    """Return the best rate of each client."""
    best: dict[str, Rate] = {}
    for _ in range(ROUNDS):
        for name, opened in CLIENTS.items():
            async with opened(address) as ask:
                measured = await rate(ask, REQUESTS)
            best[name] = max(best.get(name, measured), measured, key=lambda one: one.a_second)
    return best


async def _through(client: Client, number: int) -> float:
    """Seconds until every one of so many requests is answered."""
    started = time.perf_counter()
    async for outcome in run_concurrently(client.ask, requests(number), IN_FLIGHT):
        if not isinstance(outcome, Reply):
            sys.exit(f"the stub did not answer: {outcome.sentence}")
    await client.close()
    return time.perf_counter() - started


async def one_run(address: str, cache: Path) -> None:
    """20,000 requests at once, as a run asks them; prints the seconds."""
    print(await _through(open_client(ClientSettings(base_url=address, cache=cache)), MANY))


@asynccontextmanager
async def stub(*certificate: str) -> AsyncIterator[str]:
    """The address of a stub that runs in its own process, over TLS with the files of a certificate and its key."""
    command = [sys.executable, "-m", "benchmarks.stub_server", str(LATENCY_SECONDS), *certificate]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None or process.stdin is None:
            sys.exit("the stub has no pipes")
        yield process.stdout.readline().strip()
        process.stdin.close()


async def print_rates(address: str) -> None:
    """Print how fast each client asks."""
    for name, measured in (await compare(address)).items():
        share = measured.a_second * LATENCY_SECONDS / IN_FLIGHT
        print(f"{name:38}{measured.a_second:6.0f}/s {share:6.1%} of the ideal, {measured.milliseconds:.2f} ms each")


async def over_tls(*certificate: str) -> None:
    """Print the rates over TLS."""
    async with stub(*certificate) as address:
        await print_rates(address)


def with_a_certificate() -> None:
    """Run `over_tls` in a process that trusts a certificate made for it: aiohttp reads what it trusts when imported."""
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
        made_for = ["-subj", "/CN=stub", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"]
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        files = ["-keyout", key, "-out", certificate]
        subprocess.run(["openssl", "req", "-x509", *kind, *made_for, *files], check=True, capture_output=True)
        command = [sys.executable, "-m", "benchmarks.client_speed", "--tls", certificate, key]
        subprocess.run(command, check=True, env=os.environ | {"SSL_CERT_FILE": certificate})


async def main() -> None:
    """Print the rates, then time and memory of a fresh and a cached run of 20,000 requests."""
    async with stub() as address:
        await print_rates(address)
        print(f"bound: {BOUND:.0%}")
        with tempfile.TemporaryDirectory() as folder:
            for what in ("fresh", "cached"):
                taken = measure([sys.executable, "-m", "benchmarks.client_speed", address, f"{folder}/cache"])
                seconds = float(taken.output)
                print(
                    f"{MANY:,} requests, {what}: {seconds:.1f} s, {MANY / seconds:,.0f}/s, {taken.largest_mib:.0f} MiB"
                    f" (bounds: cached 5,000/s, 200 MiB)"
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--tls"] and len(sys.argv) == 4:
        asyncio.run(over_tls(*sys.argv[2:]))
    elif sys.argv[1:] == ["--tls"]:
        print(machine(), flush=True)
        with_a_certificate()
    elif len(sys.argv) > 1:
        asyncio.run(one_run(sys.argv[1], Path(sys.argv[2])))
    else:
        print(machine())
        asyncio.run(main())
