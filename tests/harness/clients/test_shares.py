"""Shards share the limits of the run: together they stay within them."""

import asyncio
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.clients import ClientSettings
from misstep.harness.clients.cost_limit import CostLimitClient
from misstep.harness.clients.prices import Price, Prices
from misstep.harness.clients.scripted import ScriptedClient
from misstep.harness.clients.settings import share_of_shard
from misstep.harness.errors import UsageError
from misstep.harness.exchange import Message, Request


@given(st.integers(1, 64), st.integers(64, 100_000), st.integers(64, 10_000_000), st.floats(0, 1e6))
def test_the_parts_of_all_shards_are_nearly_the_whole(shards: int, rpm: int, tpm: int, usd: float) -> None:
    part = share_of_shard(ClientSettings(rpm=rpm, tpm=tpm, max_cost_usd=usd), shards)
    assert part.max_cost_usd is not None
    assert rpm - shards < shards * part.rpm <= rpm
    assert tpm - shards < shards * part.tpm <= tpm
    assert Fraction(part.max_cost_usd) * shards <= Fraction(usd)
    assert part.max_cost_usd == pytest.approx(usd / shards)


@pytest.mark.parametrize("option", ["rpm", "tpm"])
def test_less_than_one_a_minute_for_each_shard_is_refused(option: str) -> None:
    settings = ClientSettings(rpm=7) if option == "rpm" else ClientSettings(tpm=7)
    with pytest.raises(UsageError, match=rf"--{option} 7 is less than one a minute for each of 8 shards.*--{option} 8"):
        share_of_shard(settings, 8)


def test_a_part_that_pays_for_no_request_is_said_with_what_would() -> None:
    prices = Prices((Price(("*",), 0.0, 1_000_000.0),))
    client = CostLimitClient(ScriptedClient(lambda _: "yes"), prices, limit_usd=0.5, shards=8)
    outcome = asyncio.run(client.ask(Request("small-1", (Message("user", "Is it solved?"),), max_tokens=1)))
    assert outcome.kind == "budget"
    assert (
        "the part of each of 8 shards is $0.500000: with $8.000000 as cost limit of the whole run" in outcome.sentence
    )
