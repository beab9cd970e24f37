"""What the tokens of an answer cost: each kind at its own price, and a kind without a price is never at another's."""

import pytest

from misstep_harness.prices import Price, known_prices
from misstep_harness.trajectory import Tokens

MILLION = 1_000_000
WHOLE = Price(("m",), 3.0, 15.0, cached_usd=0.3, cache_write_usd=3.75, cache_write_1h_usd=6.0)


@pytest.mark.parametrize(
    ("used", "usd", "is_all"),
    [
        (Tokens(MILLION, MILLION), 18.0, True),
        (Tokens(MILLION, 0, cached=MILLION), 0.3, True),
        (Tokens(MILLION, 0, cache_written=MILLION, cache_written_1h=MILLION), 6.0, True),
        (Tokens(MILLION, 0, cache_written=MILLION, cache_written_1h=0), 3.75, True),
        (Tokens(2 * MILLION, 0, cache_written=2 * MILLION, cache_written_1h=MILLION), 9.75, True),
        (Tokens(MILLION, 0, cache_written=MILLION), 3.75, False),
        (Tokens(MILLION, 0, cache_written=0), 3.0, True),
    ],
    ids=["plain", "read", "an hour", "five minutes", "both", "unknown time", "none"],
)
def test_each_kind_of_tokens_has_its_price(used: Tokens, usd: float, *, is_all: bool) -> None:
    assert WHOLE.cost_with_cache(used) == (pytest.approx(usd), is_all)


@pytest.mark.parametrize(
    "used",
    [Tokens(100, 1, cached=50), Tokens(100, 1, cache_written=50, cache_written_1h=50), Tokens(100, 1, None, None, 50)],
)
def test_a_kind_without_a_price_makes_the_cost_a_lower_bound(used: Tokens) -> None:
    cost = Price(("m",), 3.0, 15.0).cost_with_cache(used)
    assert cost == (pytest.approx((50 * 3.0 + 15.0) / MILLION), False)


def test_tokens_that_are_not_known_have_no_cost() -> None:
    assert WHOLE.cost_with_cache(Tokens(None, 3)) is None
    assert WHOLE.cost_with_cache(Tokens(3, None)) is None


def test_writes_of_sonnet_4_5_cost_6_dollars_for_an_hour_and_3_75_for_five_minutes() -> None:
    price = known_prices().of("claude-sonnet-4-5-20250929")
    assert price is not None
    assert (price.cache_write_1h_usd, price.cache_write_usd) == (6.0, 3.75)
    claude = [one for one in known_prices().known if one.models[0].startswith("claude")]
    assert claude
    for one in claude:
        assert (one.cache_write_usd, one.cache_write_1h_usd) == (pytest.approx(1.25 * one.input_usd), 2 * one.input_usd)
