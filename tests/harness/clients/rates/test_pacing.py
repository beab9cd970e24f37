"""Requests wait for their turn, in their order, and what waits is not part of an attempt."""

import asyncio
from pathlib import Path

import pytest

from misstep.harness.clients import CLIENTS, ClientSettings, open_client
from misstep.harness.clients.rates.adaptive_concurrency import AdaptiveConcurrency
from misstep.harness.clients.rates.pacing import Pacing
from misstep.harness.clients.rates.start_limit import End, Start
from misstep.harness.clients.retry import RetryingClient
from misstep.harness.clients.scripted import ScriptedClient, text_reply
from misstep.harness.exchange import Client, Failure, Outcome, Reply, Request

ASKED = [Request("small-1", (), sample=number) for number in range(4)]


class OneAtATime:
    """A limit that lets one request go, and the next when it has ended."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self.ends: list[Outcome | None] = []
        self._busy = False

    def next_start(self, now: float, tokens: float) -> float:  # noqa: ARG002
        return float("inf") if self._busy else now

    def started(self, start: Start) -> None:
        self._busy = True
        self.order.append(start.number)

    def ended(self, start: Start, end: End) -> None:  # noqa: ARG002
        self._busy = False
        self.ends.append(end.outcome)


async def no_wait(_: float) -> None:
    await asyncio.sleep(0)


def asked(client: Client, requests: list[Request]) -> list[Outcome]:
    async def run() -> list[Outcome]:
        return list(await asyncio.gather(*(client.ask(request) for request in requests)))

    return asyncio.run(run())


def test_requests_go_one_after_the_other_and_every_attempt_waits_for_its_turn() -> None:
    turns = iter([Failure("rate_limited", "wait", retry_after=0.0), *[text_reply("yes", "m")] * 4])
    limit = OneAtATime()
    client = RetryingClient(ScriptedClient(lambda _: next(turns)), sleep=no_wait, pacing=Pacing([limit]))
    outcomes = asked(client, ASKED)
    assert sorted(outcome.attempts for outcome in outcomes) == [1, 1, 1, 2]
    assert limit.order == [0, 1, 2, 3, 4]
    assert [isinstance(outcome, Reply) for outcome in limit.ends] == [False, True, True, True, True]


def test_a_request_that_is_cut_off_gives_its_turn_back() -> None:
    class Silent(ScriptedClient):
        async def ask(self, request: Request) -> Outcome:
            if not request.sample:
                await asyncio.Event().wait()
            return await super().ask(request)

    limit = OneAtATime()
    client = RetryingClient(Silent(lambda _: "yes"), pacing=Pacing([limit]))

    async def run() -> Outcome:
        silent = asyncio.create_task(client.ask(ASKED[0]))
        second = asyncio.create_task(client.ask(ASKED[1]))
        for _ in range(5):
            await asyncio.sleep(0)
        silent.cancel()
        return await second

    assert isinstance(asyncio.run(run()), Reply)
    assert limit.ends[0] is None


def test_an_answer_from_the_cache_is_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLIENTS, "made_up", "tests.harness.clients.rates.test_pacing:opened")
    state = AdaptiveConcurrency()
    for _ in range(2):
        settings = ClientSettings(client="made_up", cache=tmp_path / "cache", in_flight="auto")
        client = open_client(settings, state)
        assert len(asked(client, ASKED)) == len(ASKED)
        asyncio.run(client.close())
    assert (state.n_ended, state.in_flight) == (len(ASKED), 0)


def opened(_: ClientSettings) -> ScriptedClient:
    return ScriptedClient(lambda _: "yes")
