"""A server of a test in a thread of its own, for what is tested runs an event loop itself."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def in_a_thread(serving: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """What an asynchronous context gives, while the block runs."""
    ready = threading.Event()
    there: list[tuple[T, asyncio.Event, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        async with serving as server:
            done = asyncio.Event()
            there.append((server, done, asyncio.get_running_loop()))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    server, done, loop = there[0]
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
