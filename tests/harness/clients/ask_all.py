"""Requests asked concurrently, for the tests of clients."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import aclosing

from misstep.harness.clients.concurrency import run_concurrently
from misstep.harness.errors import MissingPrerequisite
from misstep.harness.exchange import Client, Failure, Outcome, Request

Pair = tuple[Request, Outcome]


async def ask_all(
    client: Client, requests: Iterable[Request] | AsyncIterable[Request], concurrency: int
) -> AsyncGenerator[Pair, None]:
    """Each request with its outcome, in the order in which the outcomes arrive; see `run_concurrently`.

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
        The circuit is open; outcomes that have arrived are given first.
    """
    useless: list[Failure] = []

    async def ask(request: Request) -> Pair | None:
        outcome = await client.ask(request)
        if isinstance(outcome, Failure) and outcome.kind == "circuit_open":
            useless.append(outcome)
            return None
        return request, outcome

    async with aclosing(run_concurrently(ask, requests, concurrency, lambda: bool(useless))) as coming:
        async for pair in coming:
            yield pair
    if useless:
        raise MissingPrerequisite(useless[0].sentence, "Run the same command again when the cause is removed.")
