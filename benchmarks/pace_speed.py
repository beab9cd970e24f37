"""Measure how much of what a server's limit allows is answered, and that no request is lost.

    python -m benchmarks pace_speed

Each server on loopback takes 200 ms a request, refuses what is over its limit with 429, and names a time to wait; 16
requests in flight would be 80 a second.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable
from email.utils import formatdate
from itertools import count, takewhile
from math import ceil

import msgspec
from msgspec import Struct

from benchmarks.measuring import verdict
from benchmarks.stub_server import BODY, answer_of, serve, stub, write
from misstep_harness.clients import ClientSettings, open_client
from misstep_harness.clients.concurrency import run_concurrently
from misstep_harness.exchange import Message, Request

LATENCY_SECONDS, IN_FLIGHT, SECONDS = 0.2, 16, 20.0
BOUND = 0.85


class Limit(Struct, frozen=True):
    """A limit of requests: a window that begins anew every `seconds`, or a bucket that fills evenly in them.

    - `field`: The header field of a refusal, from the seconds that are left.
    """

    most: int
    seconds: float
    refills: bool
    field: Callable[[float], str]

    def allowed(self, seconds: float) -> float:
        """Return how many requests are let in from the first one on."""
        return self.most * (1 + seconds / self.seconds if self.refills else seconds / self.seconds)


def _seconds(left: float) -> str:
    return f"Retry-After: {ceil(left)}"


def _date(left: float) -> str:
    now, then = (formatdate(at, usegmt=True) for at in (time.time(), time.time() + left + 1))
    return f"Date: {now}\r\nRetry-After: {then}"


def _milliseconds(left: float) -> str:
    return f"retry-after-ms: {ceil(1000 * left)}"


LIMITS = {
    "window, seconds": Limit(150, 5.0, False, _seconds),
    "window, HTTP date": Limit(150, 5.0, False, _date),
    "bucket, seconds": Limit(20, 1.0, True, _seconds),
    "bucket, milliseconds": Limit(20, 1.0, True, _milliseconds),
}


class Counts(Struct, frozen=True):
    """The requests that came within `SECONDS` of the first, by whether the server answered."""

    answered: int = 0
    refused: int = 0


class _Server:
    """Lets in what the limit allows; `serve` calls `come` for each request."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._began = self._filled = 0.0
        self._left = float(limit.most)
        self._counts: Counter[bool] = Counter()

    def come(self, transport: asyncio.WriteTransport) -> None:
        now = time.monotonic()
        self._began = self._began or now
        left = self._left_at(now - self._began)
        admitted = left >= 1
        self._left = left - admitted
        self._counts[admitted] += now - self._began < SECONDS
        if admitted:
            answer = answer_of("200 OK", BODY)
            asyncio.get_running_loop().call_later(LATENCY_SECONDS, write, transport, answer)
        else:
            field = self._limit.field(self._next_in(now - self._began)) + "\r\n"
            write(transport, answer_of("429 Too Many Requests", b'{"error": {"message": "too fast"}}', field))

    def _left_at(self, now: float) -> float:
        limit, before = self._limit, self._filled
        self._filled = now
        if limit.refills:
            return min(limit.most, self._left + limit.most * (now - before) / limit.seconds)
        return float(limit.most) if now // limit.seconds > before // limit.seconds else self._left

    def _next_in(self, now: float) -> float:
        limit = self._limit
        if limit.refills:
            return (1 - self._left) * limit.seconds / limit.most
        return limit.seconds - now % limit.seconds

    def report(self) -> str:
        return msgspec.json.encode(Counts(self._counts[True], self._counts[False])).decode()


async def _n_lost(address: str) -> int:
    """Ask for so many seconds; return how many of the requests have no answer in the end."""
    client = open_client(ClientSettings(base_url=address, in_flight=IN_FLIGHT))
    until = time.monotonic() + SECONDS
    numbers = takewhile(lambda _: time.monotonic() < until, count())
    requests = (Request("stub-model", (Message("user", f"Is {number} even?"),)) for number in numbers)
    outcomes = [type(outcome).__name__ async for outcome in run_concurrently(client.ask, requests, IN_FLIGHT)]
    await client.close()
    return outcomes.count("Failure")


def main() -> None:
    """Print a line for each limit."""
    for name, limit in LIMITS.items():
        with stub(name, module="benchmarks.pace_speed") as server:
            n_lost = asyncio.run(_n_lost(server.address))
            counts = msgspec.json.decode(server.report(), type=Counts)
        share = counts.answered / limit.allowed(SECONDS)
        print(
            f"{name:22}{share:7.1%} of {limit.allowed(SECONDS):g} {verdict(share, least=BOUND)},"
            f" {counts.refused} refused, {n_lost} lost {verdict(n_lost, most=0)}",
            flush=True,
        )


if __name__ == "__main__":
    server = _Server(LIMITS[sys.argv[1]])
    asyncio.run(serve(server.come, server.report))
