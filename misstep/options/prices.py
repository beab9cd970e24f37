"""The prices that the options of a command name, and what tokens cost at them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_harness.trajectory import Tokens
    from misstep_harness.usage import Price, Prices

PRICES = frozenset({"prices", "price_in", "price_out"})
"""The parameters that say what tokens cost, whoever spent them."""


def own_price(price_in: float | None, price_out: float | None) -> "Price | None":
    """Return the price of any model, if both options are given."""
    from misstep_harness.usage import Price

    if (price_in is None) != (price_out is None):
        present, lacking = ("in", "out") if price_out is None else ("out", "in")
        raise UsageError(f"--price-{present} is given alone", f"Give --price-{lacking} as well.")
    return None if price_in is None else Price(("*",), price_in, price_out or 0.0)


def agents_prices(file: Path | None, price_in: float | None, price_out: float | None) -> "Prices | None":
    """Return the prices of the models of agents, if any are given."""
    from misstep_harness.usage import known_prices

    price = own_price(price_in, price_out)
    if price is not None:  # of any token of a request, read before or not
        price = replace(price, cached_usd=price_in, cache_write_usd=price_in, cache_write_1h_usd=price_in)
    return known_prices(file, price) if file or price else None


def priced_by(prices: "Prices | None" = None) -> "Callable[[str, Tokens], tuple[float, bool] | None]":
    """Return what tokens cost at some prices, by default the known ones; without one the cost is not known."""

    @cache
    def of(model: str) -> "Price | None":
        from misstep_harness.usage import known_prices

        return (prices or known_prices()).of(model)

    def price(model: str, used: "Tokens") -> tuple[float, bool] | None:
        known = of(model)
        return known.cost_with_cache(used) if known else None

    return price
