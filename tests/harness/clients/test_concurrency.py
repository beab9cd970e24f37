"""Many requests at once: each asked once, memory bounded, what has come is never lost."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.clients.around_client import ConcurrencyLimitClient
from misstep_harness.clients.recording import ScriptedClient, text_reply
from misstep_harness.errors import UsageError
from misstep_harness.exchange import Message, Outcome, Reply, Request
from tests.harness.clients.ask_all import ask_all


def question(text: object) -> Request:
    return Request("small-1", (Message("user", str(text)),))


class SlowClient:
    """Answers when it is told to; counts how many wait at once."""

    def __init__(self, at_once: int) -> None:
        self.gate = asyncio.Event()
        self.full = asyncio.Event()
        self.waiting = self.most = 0
        self._at_once = at_once

    async def ask(self, request: Request) -> Outcome:
        if request.messages[0].content.startswith("quick"):
            return text_reply("yes", request.model)
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        if self.waiting == self._at_once:
            self.full.set()
        try:
            await self.gate.wait()
        finally:
            self.waiting -= 1
        return text_reply("yes", request.model)

    async def close(self) -> None:
        pass


@given(st.integers(0, 200), st.integers(1, 30), st.booleans())
def test_each_request_is_asked_once_and_given_once(number: int, concurrency: int, asynchronous: bool) -> None:
    client = ScriptedClient(lambda request: request.messages[0].content)

    async def later(requests: Iterator[Request]) -> AsyncIterator[Request]:
        for request in requests:
            await asyncio.sleep(0)
            yield request

    async def run() -> list[tuple[Request, Outcome]]:
        requests = map(question, range(number))
        return [pair async for pair in ask_all(client, later(requests) if asynchronous else requests, concurrency)]

    pairs = asyncio.run(run())
    assert sorted(int(request.messages[0].content) for request, _ in pairs) == list(range(number))
    assert all(isinstance(outcome, Reply) and outcome.text == request.messages[0].content for request, outcome in pairs)
    assert client.n_requests == number


def test_requests_are_taken_only_as_outcomes_are() -> None:
    """Whoever takes one outcome of a million requests has made a few dozen of them."""
    made = 0

    def requests() -> Iterator[Request]:
        nonlocal made
        for number in range(1_000_000):
            made += 1
            yield question(number)

    async def run() -> None:
        pairs = ask_all(ScriptedClient(lambda _: "yes"), requests(), 10)
        await anext(pairs)
        for _ in range(100):
            await asyncio.sleep(0)
        await pairs.aclose()  # type: ignore[attr-defined]

    asyncio.run(run())
    assert made <= 21


def test_cancelled_it_cuts_off_what_is_in_flight_and_gives_what_has_come() -> None:
    async def run() -> tuple[list[str], int]:
        client = SlowClient(at_once=3)
        got: list[str] = []

        async def collect() -> None:
            asked = ["slow 1", "quick 1", "slow 2", "quick 2", "slow 3"]
            async for request, _ in ask_all(client, map(question, asked), 3):
                got.append(request.messages[0].content)

        task = asyncio.create_task(collect())
        await client.full.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return got, client.waiting

    got, waiting = asyncio.run(run())
    assert (sorted(got), waiting) == (["quick 1", "quick 2"], 0)


def test_what_comes_at_the_moment_of_cancelling_is_given_too() -> None:
    async def run() -> int:
        client = SlowClient(at_once=3)
        got = 0

        async def collect() -> None:
            nonlocal got
            async for _ in ask_all(client, map(question, range(50)), 3):
                got += 1

        task = asyncio.create_task(collect())
        await client.full.wait()
        client.gate.set()
        await asyncio.sleep(0)  # the workers have put their outcomes and nobody has taken them
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return got

    assert asyncio.run(run()) >= 3


def test_what_a_client_raises_ends_the_asking_after_what_has_come() -> None:
    def script(request: Request) -> str:
        if request.messages[0].content == "3":
            raise UsageError("no price")
        return "yes"

    got: list[Outcome] = []

    async def run() -> None:
        async for _, outcome in ask_all(ScriptedClient(script), map(question, range(10)), 1):
            got.append(outcome)

    with pytest.raises(UsageError):
        asyncio.run(run())
    assert len(got) == 3


@pytest.mark.parametrize(("most", "under_way"), [(4, 9), (9, 3)])
def test_no_more_are_with_the_server_than_are_allowed_or_under_way(most: int, under_way: int) -> None:
    async def run() -> tuple[int, int]:
        client = SlowClient(at_once=min(most, under_way))
        pairs = ask_all(ConcurrencyLimitClient(client, most), map(question, range(60)), under_way)
        collecting = asyncio.ensure_future(anext(pairs))
        await client.full.wait()
        client.gate.set()
        await collecting
        return 1 + len([pair async for pair in pairs]), client.most

    assert asyncio.run(run()) == (60, min(most, under_way))
