"""A stand-in for a model server on loopback whose limit moves.

    python -m benchmarks.rates.stub MODE SEED PHASES SECONDS

prints its base URL on the first line. Its time begins with the first request. When its standard input is closed it
prints, as JSON, how many requests it answered and refused in that time, and how many it allowed.
"""

import asyncio
import sys
import time

import msgspec

from benchmarks.rates.moving_limit import MODES, Counted, MovingLimit, Schedule, schedule
from benchmarks.stub_server import BODY, whole_request

_REASONS = {200: "OK", 429: "Too Many Requests", 503: "Service Unavailable"}


class Served:
    """The server: its limit, and what became of the requests that came in its time."""

    def __init__(self, limit: MovingLimit, limits: Schedule) -> None:
        self._limit = limit
        self._limits = limits
        self._began: float | None = None
        self._answered = self._refused = 0

    def come(self, transport: asyncio.WriteTransport) -> None:
        """Answer one request, now or later."""
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        admission = self._limit.come(now - self._began)
        in_time = now - self._began < self._limits.until
        self._refused += in_time and admission.status != 200
        fields = "".join(f"{name}: {value}\r\n" for name, value in admission.fields.items())
        body = BODY if admission.status == 200 else b'{"error": {"message": "asked too fast"}}'
        head = f"HTTP/1.1 {admission.status} {_REASONS[admission.status]}\r\n{fields}Content-Type: application/json\r\n"
        answer = b"%bContent-Length: %d\r\n\r\n%b" % (head.encode(), len(body), body)
        loop = asyncio.get_running_loop()
        loop.call_later(admission.seconds, self._answer, transport, answer, admission.status)

    def _answer(self, transport: asyncio.WriteTransport, answer: bytes, status: int) -> None:
        self._limit.gone()
        in_time = self._began is not None and time.monotonic() - self._began < self._limits.until
        self._answered += in_time and status == 200
        if not transport.is_closing():
            transport.write(answer)

    def counted(self) -> Counted:
        """Return what became of the requests."""
        return Counted(self._answered, self._refused, self._limits.allowed(self._limits.until))


class _Connection(asyncio.Protocol):
    """One connection, which may carry several requests."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._received = bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while self._transport is not None and (length := whole_request(self._received)) is not None:
            del self._received[:length]
            self._served.come(self._transport)


async def _serve(mode: str, seed: int, phases: int, seconds: float) -> None:
    limits = schedule(seed, phases, seconds)
    served = Served(MovingLimit(next(known for known in MODES if known == mode), limits, seed), limits)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(served), "127.0.0.1", 0, backlog=1000)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"http://{host}:{port}/v1", flush=True)
    async with server:
        await loop.run_in_executor(None, sys.stdin.read)
    print(msgspec.json.encode(served.counted()).decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
