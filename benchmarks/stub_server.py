"""A stand-in for a model server on loopback: every POST gets the same chat completion, so many seconds later.

    python -m benchmarks.stub_server 0.2 [CERTIFICATE KEY]

prints its base URL on the first line and serves until its standard input is closed. For each line that it reads there
it prints, as JSON, how many requests came since the last one, when the first and the last of them came (seconds on the
machine's monotonic clock), and how many were with it at once. It parses no more of a request than it must, so that what
is measured is the client. With a certificate and its key it speaks TLS.
"""

import asyncio
import json
import ssl
import sys
import time

BODY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": '{"reasoning": "It goes on.", "label": "no"}'},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


class Count:
    """The requests since the last report."""

    def __init__(self) -> None:
        self.waiting = 0
        self._start()

    def _start(self) -> None:
        self._first = self._last = 0.0
        self._requests, self._at_once = 0, self.waiting

    def come(self) -> None:
        """One more has come."""
        self._last = time.monotonic()
        self._first = self._first or self._last
        self._requests += 1
        self.waiting += 1
        self._at_once = max(self._at_once, self.waiting)

    def report(self) -> str:
        """Return what came, as JSON; counts from 0 again."""
        told = {"requests": self._requests, "first": self._first, "last": self._last, "at_once": self._at_once}
        self._start()
        return json.dumps(told)


class Stub(asyncio.Protocol):
    """One connection: waits for a whole request, answers it `seconds` later."""

    def __init__(self, seconds: float, count: Count) -> None:
        self._seconds = seconds
        self._count = count
        self._received = bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        if isinstance(transport, asyncio.WriteTransport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole by now."""
        self._received += data
        while (length := whole_request(self._received)) is not None:
            del self._received[:length]
            self._count.come()
            asyncio.get_running_loop().call_later(self._seconds, self._answer)

    def _answer(self) -> None:
        self._count.waiting -= 1
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(ANSWER)


def whole_request(received: bytearray) -> int | None:
    """Return how many bytes the first request has; `None` while some of them are to come."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    fields = dict(line.split(b":", 1) for line in bytes(received[:end]).lower().split(b"\r\n")[1:])
    length = end + 4 + int(fields.get(b"content-length", b"0"))
    return length if len(received) >= length else None


async def _serve(seconds: float, *certificate: str) -> None:
    loop = asyncio.get_running_loop()
    count = Count()
    tls = None
    if certificate:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(*certificate)
    server = await loop.create_server(lambda: Stub(seconds, count), "127.0.0.1", 0, backlog=1000, ssl=tls)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"{'https' if tls else 'http'}://{host}:{port}/v1", flush=True)
    async with server:
        while await loop.run_in_executor(None, sys.stdin.readline):
            print(count.report(), flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), *sys.argv[2:]))
