"""Many requests at once: so many in flight, outcomes as they come, memory that does not grow with their number."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import suppress

from harness.errors import MissingPrerequisite
from harness.exchange import Client, Failure, Outcome, Request

Pair = tuple[Request, Outcome]

_UNREAD = 2
"""How many outcomes for each request in flight may wait to be taken before no more is asked."""


async def ask_all(
    client: Client, requests: Iterable[Request] | AsyncIterable[Request], concurrency: int
) -> AsyncGenerator[Pair, None]:
    """Each request with its outcome, in the order in which they come.

    Requests are taken from the iterable only when there is room. Cancelled, or where a request raises, what is in
    flight is cut off and what has come is still given, before the exception goes on. Close the generator
    (`contextlib.aclosing`) where the loop over it may be left early.

    Parameters
    ----------
    client
        Who is asked.
    requests
        What is asked, however many.
    concurrency
        How many requests are in flight at once, at least 1.

    Raises
    ------
    MissingPrerequisite
        The client says that asking on is useless (`circuit_open`); what has come is given first.
    """
    asking = _Asking(client, _source(requests), concurrency)
    workers = [asyncio.create_task(asking.work()) for _ in range(concurrency)]
    watched = asyncio.create_task(asking.watch(workers))
    try:
        while (pair := await asking.next()) is not None:
            yield pair
    except asyncio.CancelledError:
        await _cut_off(workers)
        for pair in asking.left():
            yield pair
        raise
    finally:
        await _cut_off([*workers, watched])
    for worker in workers:
        if not worker.cancelled() and (error := worker.exception()) is not None:
            raise error
    if asking.stopped is not None:
        raise MissingPrerequisite(asking.stopped.sentence, "Run the same command again when that is mended.")


class _Asking:
    """What the workers share: where requests come from and where pairs go."""

    def __init__(self, client: Client, source: AsyncIterator[Request], concurrency: int) -> None:
        self._client = client
        self._source = source
        self._taking = asyncio.Lock()
        self._most_unread = _UNREAD * concurrency
        self._room = asyncio.Event()
        self._pairs: asyncio.Queue[Pair | None] = asyncio.Queue()
        self.stopped: Failure | None = None

    async def work(self) -> None:
        """Ask one request after the other until there are no more."""
        while True:
            while self._pairs.qsize() >= self._most_unread:
                self._room.clear()
                await self._room.wait()
            async with self._taking:
                request = None if self.stopped else await anext(self._source, None)
            if request is None:
                return
            outcome = await self._client.ask(request)
            if isinstance(outcome, Failure) and outcome.kind == "circuit_open":
                self.stopped = outcome
                return
            self._pairs.put_nowait((request, outcome))

    async def watch(self, workers: "list[asyncio.Task[None]]") -> None:
        """Say that there is no more when all workers are done, or one has raised."""
        _, pending = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        await _cut_off(pending)
        self._pairs.put_nowait(None)

    async def next(self) -> Pair | None:
        """The next pair; `None` after the last."""
        pair = await self._pairs.get()
        if 2 * self._pairs.qsize() <= self._most_unread:
            self._room.set()
        return pair

    def left(self) -> Iterable[Pair]:
        """The pairs that have come and were not taken."""
        while not self._pairs.empty():
            if (pair := self._pairs.get_nowait()) is not None:
                yield pair


async def _cut_off(tasks: "Iterable[asyncio.Task[None]]") -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks, return_exceptions=True)


async def _source(requests: Iterable[Request] | AsyncIterable[Request]) -> AsyncIterator[Request]:
    if isinstance(requests, AsyncIterable):
        async for request in requests:
            yield request
    else:
        for request in requests:
            yield request
