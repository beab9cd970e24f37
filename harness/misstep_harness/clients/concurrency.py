"""Concurrent work with a limit: results come as they are ready, and memory does not grow with the number of tasks."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")

_UNREAD = 2
"""How many results for each thing under way may wait to be taken before no more is begun."""


async def run_concurrently(
    work: Callable[[T], Awaitable[U | None]],
    things: Iterable[T] | AsyncIterable[T],
    most: int,
    stopped: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[U, None]:
    """Return the result of each task, in the order in which the results are ready.

    Things are taken from the iterable only when there is room. Cancelled, or if the work raises, what is under way
    is cut off and what has come is still given. Close the generator (`contextlib.aclosing`) if the loop may end early.
    """
    working = _Working(work, _source(things), most, stopped)
    workers = [asyncio.create_task(working.work()) for _ in range(most)]
    watched = asyncio.create_task(working.watch(workers))
    try:
        while (result := await working.next()) is not None:
            yield result
    except asyncio.CancelledError:
        await _cut_off(workers)
        for result in working.left():
            yield result
        raise
    finally:
        await _cut_off([*workers, watched])
    for worker in workers:
        if not worker.cancelled() and (error := worker.exception()) is not None:
            raise error


class _Working(Generic[T, U]):
    """What the workers share: where things come from and where results go."""

    def __init__(
        self, work: Callable[[T], Awaitable[U | None]], source: AsyncIterator[T], most: int, stopped: Callable[[], bool]
    ) -> None:
        self._work, self._source, self._stopped = work, source, stopped
        self._taking = asyncio.Lock()
        self._most_unread = _UNREAD * most
        self._room = asyncio.Event()
        self._results: asyncio.Queue[U | None] = asyncio.Queue()

    async def work(self) -> None:
        while True:
            while self._results.qsize() >= self._most_unread:
                self._room.clear()
                await self._room.wait()
            async with self._taking:
                thing = None if self._stopped() else await anext(self._source, None)
            if thing is None:
                return
            result = await self._work(thing)
            if result is not None:
                self._results.put_nowait(result)

    async def watch(self, workers: "list[asyncio.Task[None]]") -> None:
        _, pending = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        await _cut_off(pending)
        self._results.put_nowait(None)

    async def next(self) -> U | None:
        """Return the next result; `None` after the last."""
        result = await self._results.get()
        if 2 * self._results.qsize() <= self._most_unread:
            self._room.set()
        return result

    def left(self) -> Iterable[U]:
        while not self._results.empty():
            if (result := self._results.get_nowait()) is not None:
                yield result


async def _cut_off(tasks: "Iterable[asyncio.Task[None]]") -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks, return_exceptions=True)


async def _source(things: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    if isinstance(things, AsyncIterable):
        async for thing in things:
            yield thing
    else:
        for thing in things:
            yield thing
