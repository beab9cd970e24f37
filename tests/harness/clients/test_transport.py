"""An answer belongs to the request that it came after, whatever else a server sends and whenever."""

import asyncio
import json
from typing import Any

import pytest

from misstep_harness.clients.openai_client import OpenAIClient
from misstep_harness.exchange import Message, Outcome, Request
from tests.harness.clients.ask_all import ask_all
from tests.harness.clients.faulty_server import Play, answer, completion, serving

REQUESTS = 48
LATENCY_SECONDS = 0.02


def said_twice(seconds: float) -> Any:
    """What gives each question back after a while, and once more that many seconds later."""

    def choose(request: dict[str, Any]) -> Play:
        whole = answer(completion(request["messages"][0]["content"]))

        async def play(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(LATENCY_SECONDS)
            await whole(writer)
            if seconds:
                asyncio.get_running_loop().call_later(seconds, lambda: asyncio.ensure_future(whole(writer)))
            else:
                await whole(writer)

        return play

    return choose


def test_every_one_of_many_requests_gets_a_connection_of_its_own() -> None:
    """HTTP/1.1 has nothing that ties an answer to a request but the connection that it comes on."""

    async def run() -> int:
        async with serving(answer(completion())) as server:
            client = OpenAIClient(server.base_url, "")
            for _ in range(5):
                await client.ask(Request("m", (Message("user", "?"),)))
            await client.close()
            return server.connections

    assert asyncio.run(run()) == 5


@pytest.mark.parametrize("late_seconds", [0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05])
def test_an_answer_that_is_sent_again_later_is_no_answer_to_the_next_request(late_seconds: float) -> None:
    async def run() -> list[tuple[Request, Outcome]]:
        async with serving(choose=said_twice(late_seconds)) as server:
            client = OpenAIClient(server.base_url, "")
            asked = (Request("m", (Message("user", f"question {number}"),)) for number in range(REQUESTS))
            pairs = [pair async for pair in ask_all(client, asked, 8)]
            await client.close()
            return pairs

    pairs = asyncio.run(run())
    assert len(pairs) == REQUESTS
    for request, outcome in pairs:
        assert outcome.text == request.messages[0].content
        assert json.loads(outcome.raw)["choices"][0]["message"]["content"] == outcome.text
