"""No more requests are with the server at once than are allowed, however many are under way."""

import asyncio

from misstep.harness.clients.around_client import ConcurrencyLimitClient
from misstep.harness.clients.scripted import text_reply
from misstep.harness.exchange import Outcome, Request
from tests.harness.clients.ask_all import ask_all


class Counting:
    """A server that lets others go first, and notes how many requests it had at most."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def ask(self, request: Request) -> Outcome:
        """Yes, after others had their turn."""
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(5):
            await asyncio.sleep(0)
        self.now -= 1
        return text_reply("yes", request.model)

    async def close(self) -> None:
        """Nothing is held."""


async def through(server: Counting, most: int, under_way: int) -> int:
    requests = [Request("small-1", (), sample=number) for number in range(60)]
    return len([pair async for pair in ask_all(ConcurrencyLimitClient(server, most), requests, under_way)])


def test_the_server_never_has_more_than_are_allowed_and_each_is_answered() -> None:
    server = Counting()
    assert (asyncio.run(through(server, most=4, under_way=9)), server.most) == (60, 4)


def test_fewer_under_way_than_allowed_are_not_held_up() -> None:
    server = Counting()
    assert (asyncio.run(through(server, most=9, under_way=3)), server.most) == (60, 3)
