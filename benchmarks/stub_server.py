"""Servers of a made-up model on loopback, each in a process of its own, and the handle of whoever asks them.

    python -m benchmarks.stub_server 0.2 [CERTIFICATE KEY]

prints its base URL and serves until its standard input is closed: every POST gets the same chat completion, so many
seconds later. For each line that it reads it prints a JSON report on the requests since the last one. It parses no more
of a request than it must, so that the client is measured.
"""

import asyncio
import json
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_CHOICE = {
    "index": 0,
    "message": {"role": "assistant", "content": '{"reasoning": "It goes on.", "label": "no"}'},
    "finish_reason": "stop",
    "logprobs": None,
}
BODY = json.dumps(
    {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "stub-model", "choices": [_CHOICE]}
    | {"usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}}
).encode()
Come = Callable[[asyncio.WriteTransport], None]
"""What is done about a request that has come, with the way back to whoever asked."""


class Stub:
    """The handle of a server in another process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        if process.stdin is None or process.stdout is None:
            sys.exit("the stub has no pipes")
        self._stdin, self._stdout = process.stdin, process.stdout
        self.address = self._stdout.readline().strip()

    def report(self) -> str:
        """Ask the server for its report."""
        print(file=self._stdin, flush=True)
        return self._stdout.readline()


@contextmanager
def stub(*arguments: object, module: str = "benchmarks.stub_server") -> Iterator[Stub]:
    """Run a server while the block runs."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Stub(process)
        if process.stdin is not None:
            process.stdin.close()


class _Count:
    """The requests since the last report, each answered `seconds` later."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._waiting = seconds, 0
        self._answer = answer_of("200 OK", BODY)
        self._start()

    def _start(self) -> None:
        self._first = self._last = 0.0
        self._requests, self._at_once = 0, self._waiting

    def come(self, transport: asyncio.WriteTransport) -> None:
        self._last = time.monotonic()
        self._first = self._first or self._last
        self._requests += 1
        self._waiting += 1
        self._at_once = max(self._at_once, self._waiting)
        asyncio.get_running_loop().call_later(self._seconds, self._write, transport)

    def _write(self, transport: asyncio.WriteTransport) -> None:
        self._waiting -= 1
        write(transport, self._answer)

    def report(self) -> str:
        counts = {"requests": self._requests, "first": self._first, "last": self._last, "at_once": self._at_once}
        self._start()
        return json.dumps(counts)


class _Connection(asyncio.Protocol):
    """One connection, which may carry several requests."""

    def __init__(self, come: Come) -> None:
        self._come, self._received = come, bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while self._transport is not None and (length := _whole_request(self._received)) is not None:
            del self._received[:length]
            self._come(self._transport)


def _whole_request(received: bytearray) -> int | None:
    """Return how many bytes the first request has; `None` while some of them are to come."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    fields = dict(line.split(b":", 1) for line in bytes(received[:end]).lower().split(b"\r\n")[1:])
    length = end + 4 + int(fields.get(b"content-length", b"0"))
    return length if len(received) >= length else None


def answer_of(status: str, body: bytes, fields: str = "") -> bytes:
    """Return a whole answer."""
    head = f"HTTP/1.1 {status}\r\n{fields}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def write(transport: asyncio.WriteTransport, answer: bytes) -> None:
    """Write an answer unless whoever asked has gone."""
    if not transport.is_closing():
        transport.write(answer)


async def serve(come: Come, report: Callable[[], str], *certificate: str) -> None:
    """Print the address, then a report for each line that is read, until the standard input is closed."""
    loop = asyncio.get_running_loop()
    tls = None
    if certificate:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(*certificate)
    server = await loop.create_server(lambda: _Connection(come), "127.0.0.1", 0, backlog=1000, ssl=tls)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"{'https' if tls else 'http'}://{host}:{port}/v1", flush=True)
    async with server:
        while await loop.run_in_executor(None, sys.stdin.readline):
            print(report(), flush=True)


if __name__ == "__main__":
    count = _Count(float(sys.argv[1]))
    asyncio.run(serve(count.come, count.report, *sys.argv[2:]))
