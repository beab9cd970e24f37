"""Requests asked concurrently, for the tests of clients."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import aclosing

from misstep_harness.clients.concurrency import run_concurrently
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.exchange import Client, Failure, Outcome, Request

Pair = tuple[Request, Outcome]


async def ask_all(
    client: Client, requests: Iterable[Request] | AsyncIterable[Request], concurrency: int
) -> AsyncGenerator[Pair, None]:
    """Give each request with its outcome as outcomes arrive; if the circuit opens, raise after those that have come."""
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
