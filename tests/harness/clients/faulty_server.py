"""A model server on loopback that plays a script of faults, one entry a request.

An entry is a function that is given the connection's writer and writes what it likes; after the last entry the last one
is played again. Instead of a script a function may choose by the request. `received` has the bodies that came in order.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

Play = Callable[[asyncio.StreamWriter], Awaitable[None]]
Choose = Callable[[dict[str, Any]], Play]


def completion(content: Any = "yes", **changes: Any) -> dict[str, Any]:
    """A chat completion as a sound server sends it; `changes` replace its fields, `message` and `choice` theirs."""
    message = {"role": "assistant", "content": content} | changes.pop("message", {})
    choice = {"index": 0, "message": message, "finish_reason": "stop"} | changes.pop("choice", {})
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    return {"model": "small-1", "choices": [choice], "usage": usage} | changes


def answer(body: Any, status: int = 200, kind: str = "application/json", **headers: str) -> Play:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": kind, "Content-Length": str(len(content))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = f"HTTP/1.1 {status} Said\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"

    async def play(writer: asyncio.StreamWriter) -> None:
        writer.write(head.encode() + content)

    return play


def truncated(promised: int = 500) -> Play:
    async def play(writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n{"choices": [' % promised)
        await writer.drain()
        writer.close()

    return play


async def reset(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def stall(_: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.005)


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while not writer.transport.is_closing():
        writer.write(b"x" * 65536)
        await writer.drain()


class FaultyServer:
    """The server while it runs; `base_url` is its address."""

    def __init__(self, script: Sequence[Play] = (), choose: Choose | None = None) -> None:
        self._script = script
        self._choose = choose or self._next
        self._playing: set[asyncio.Task[None]] = set()
        self.received: list[dict[str, Any]] = []
        self.heads: list[str] = []
        self.connections = 0
        self.base_url = ""

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections += 1
        self._playing.add(task)
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lengths = [line for line in head.splitlines() if line.lower().startswith("content-length")]
                body = await reader.readexactly(int(lengths[0].split(":")[1]) if lengths else 0)
                request = json.loads(body)
                play = self._choose(request)
                self.heads.append(head)
                self.received.append(request)
                await play(writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._playing.discard(task)

    def _next(self, _: dict[str, Any]) -> Play:
        return self._script[min(len(self.received), len(self._script) - 1)]

    async def stop(self) -> None:
        for task in list(self._playing):
            task.cancel()
        await asyncio.gather(*self._playing, return_exceptions=True)


@asynccontextmanager
async def serving(*script: Play, choose: Choose | None = None) -> AsyncIterator[FaultyServer]:
    faulty = FaultyServer(script, choose)
    server = await asyncio.start_server(faulty.connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    faulty.base_url = f"http://127.0.0.1:{port}/v1"
    try:
        yield faulty
    finally:
        server.close()
        await faulty.stop()
