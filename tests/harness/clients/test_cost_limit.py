"""A limit on the cost is never passed, whatever the answers turn out to use."""

import asyncio
import random
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.clients.cost_limit import CostLimitClient, SpendingLog, most_usd
from misstep_harness.clients.scripted import ScriptedClient
from misstep_harness.errors import InputError, UsageError
from misstep_harness.exchange import Failure, FailureKind, Message, Outcome, Reply, Request
from misstep_harness.prices import Price, Prices
from tests.harness.clients.ask_all import ask_all

PRICES = Prices((Price(("small-*",), input_usd=3.0, output_usd=15.0),))


def question(text: str = "Is it solved?", max_tokens: int | None = 50) -> Request:
    return Request("small-1", (Message("user", text),), max_tokens=max_tokens)


class VaryingClient:
    """Uses any number of tokens that a server could use, takes its turns in any order, fails now and then."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311
        self.charged = 0.0

    async def ask(self, request: Request) -> Outcome:
        for _ in range(self._rng.randrange(4)):
            await asyncio.sleep(0)
        tokens_in = self._rng.randint(1, len(request.messages[0].content.encode()) + 16)
        tokens_out = self._rng.randint(0, request.max_tokens or 0)
        cost = PRICES.known[0].cost(tokens_in, tokens_out)
        kind: FailureKind | None = self._rng.choice([None, None, None, "server", "timeout", "connection", "malformed"])
        if kind != "server":
            self.charged += cost
        if kind is not None:
            return Failure(kind, "no answer")
        reports = self._rng.random() < 0.8
        return Reply("yes", None, "stop", "small-1", tokens_in, tokens_out, 0.1, cost if reports else None)

    async def close(self) -> None:
        pass


@given(
    seed=st.integers(0, 10_000),
    limit=st.floats(0, 0.02),
    spent=st.floats(0, 0.005),
    concurrency=st.integers(1, 20),
    lengths=st.lists(st.integers(0, 300), max_size=40),
)
def test_what_is_charged_never_passes_the_limit(seed, limit, spent, concurrency, lengths) -> None:
    async def run() -> tuple[float, int]:
        model = VaryingClient(seed)
        client = CostLimitClient(model, PRICES, limit, spent)
        pairs = [pair async for pair in ask_all(client, (question("x" * length) for length in lengths), concurrency)]
        return model.charged, len(pairs)

    charged, pairs = asyncio.run(run())
    assert charged <= max(0.0, limit - spent) + 1e-9
    assert pairs == len(lengths)


def test_what_is_not_used_is_free_for_the_next() -> None:
    """Of answers that use a tenth of what they may, far more are had than the worst case alone would allow."""
    request = question(max_tokens=1000)
    most = most_usd(request, PRICES)
    used = Reply("yes", None, "stop", "small-1", 10, 100, 0.1, most / 10)
    client = CostLimitClient(ScriptedClient(lambda _: used), PRICES, limit_usd=2 * most)

    async def run() -> list[Outcome]:
        return [outcome async for _, outcome in ask_all(client, [request] * 30, 10)]

    outcomes = asyncio.run(run())
    assert sum(isinstance(outcome, Reply) for outcome in outcomes) == 11
    assert {outcome.kind for outcome in outcomes if isinstance(outcome, Failure)} == {"budget"}


@pytest.mark.parametrize(
    ("request_", "message"),
    [(Request("other", (), max_tokens=5), "--price-in"), (question(max_tokens=None), "max_tokens")],
)
def test_what_has_no_bound_is_refused(request_: Request, message: str) -> None:
    client = CostLimitClient(ScriptedClient(lambda _: "yes"), PRICES, 1.0)
    with pytest.raises(UsageError, match=message):
        asyncio.run(client.ask(request_))


def test_an_attempt_that_was_cut_off_counts_in_full() -> None:
    class Hanging(ScriptedClient):
        async def ask(self, request: Request) -> Outcome:  # noqa: ARG002
            await asyncio.Event().wait()
            raise AssertionError

    client = CostLimitClient(Hanging(lambda _: ""), PRICES, 1.0)

    async def run() -> None:
        async with asyncio.timeout(0.01):
            await client.ask(question())

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert client.spent_usd == most_usd(question(), PRICES)


@given(seed=st.integers(0, 10_000), limit=st.floats(0, 0.02), cut_off_after=st.lists(st.integers(0, 12), max_size=4))
def test_the_limit_holds_for_all_sessions_of_a_run_however_they_end(tmp_path_factory, seed, limit, cut_off_after):
    file = tmp_path_factory.mktemp("run") / "spent.txt"
    model = VaryingClient(seed)

    async def session(most_outcomes: int) -> None:
        client = CostLimitClient(model, PRICES, limit, spending_log=SpendingLog(file))
        async with aclosing(ask_all(client, [question()] * 20, 4)) as coming:
            taken = 0
            async for _ in coming:
                taken += 1
                if taken >= most_outcomes:
                    break
        await client.close()

    for most_outcomes in cut_off_after:
        asyncio.run(session(most_outcomes))
    asyncio.run(session(1000))
    assert model.charged <= limit + 1e-9


def test_what_a_killed_process_had_set_aside_stays_so(tmp_path: Path) -> None:
    spending_log = SpendingLog(tmp_path / "spent.txt")
    client = CostLimitClient(ScriptedClient(lambda _: "yes"), PRICES, 1.0, spent_usd=0.25, spending_log=spending_log)
    spending_log.add(0.5)  # set aside, and then the process is gone
    later = CostLimitClient(ScriptedClient(lambda _: "yes"), PRICES, 1.0, 0.125, SpendingLog(tmp_path / "spent.txt"))
    assert (client.spent_usd, later.spent_usd) == (0.25, 0.75)
    for one in (client, later):
        asyncio.run(one.close())


def test_a_line_of_the_spending_log_that_is_no_number_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "spent.txt").write_text("0.5\na lot\n")
    with pytest.raises(InputError, match=r"spent\.txt:2: not a number"):
        SpendingLog(tmp_path / "spent.txt")
