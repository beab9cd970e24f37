"""Options of the commands that ask a model, and the settings of its client."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from misstep.options.groups import Only, OptionGroup, names_of
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_harness.trajectory import Tokens
    from misstep_harness.usage import Price, Prices
if TYPE_CHECKING:
    from misstep_harness.clients import ClientSettings

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


_Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=999_999,
        metavar="N",
        help="Number of requests in flight at once. By default 16, and 4 for a server on this machine.",
    ),
]
_Rpm = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Limit of requests per minute, retries included."),
]
_Tpm = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Limit of tokens per minute, in and out together."),
]
_MaxCost = Annotated[
    float | None,
    typer.Option(
        metavar="USD",
        help="Cost limit; the run stops before it spends more. It counts every retry.",
    ),
]
_Prices = Annotated[
    Path | None, typer.Option(metavar="FILE", help="TOML file with prices of models; it overrides the shipped prices.")
]


class ModelOptions(OptionGroup, frozen=True):
    """The options for the model and the client."""

    panel = "Model"
    model: Annotated[str, typer.Option(help="Model to ask; it overrides the model of a judge's file.")] = ""
    base_url: Annotated[
        str, typer.Option(help="Address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1.")
    ] = ""
    concurrency: _Concurrency = None
    rpm: _Rpm = None
    tpm: _Tpm = None
    max_cost: _MaxCost = None
    prices: _Prices = None
    price_in: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Price of a million input tokens, with --price-out.")
    ] = None
    price_out: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Price of a million output tokens, with --price-in.")
    ] = None
    request_seconds: Annotated[float, typer.Option(min=1, metavar="S", help="Seconds a request may take.")] = 120.0
    cache: Annotated[Path | None, typer.Option(metavar="FILE", help="File that keeps answers from run to run.")] = None
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to which every request and reply is added.")
    ] = None
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of recorded exchanges that answers instead of a server.")
    ] = None
    local: Annotated[
        bool, typer.Option("--local", help="Ask the small model of `make local-llm`. It tests the set-up only.")
    ] = False

    @property
    def asks(self) -> bool:
        """Return whether a model is asked."""
        return bool(self.model or self.local or self.replay is not None)

    @property
    def in_flight(self) -> int:
        """Return the number of requests in flight."""
        if self.concurrency is not None:
            return self.concurrency
        if not self.base_url:
            return 16
        from misstep_harness.clients.address import is_on_this_machine

        # A server of one's own answers one or a few at a time: more in flight would wait until they time out.
        return 4 if is_on_this_machine(self.base_url) else 16


EACH_AT_ONCE = Only(*(name for name in names_of(ModelOptions) if name != "concurrency"))
"""Options of commands whose --workers say how much is done at once."""

MODEL_OPTIONS = frozenset({"temperature", "functions", *names_of(ModelOptions)})
"""The parameters of commands that say which model is asked, and how."""


@contextmanager
def with_local_model(options: ModelOptions) -> Iterator[ModelOptions]:
    """Give the options, with address and name of the local model if it is asked for; it runs inside the block."""
    with ExitStack() as stack:
        if options.local:
            if options.model or options.base_url or options.replay is not None:
                raise UsageError("--local has its own model", "Leave out --model, --base-url and --replay.")
            from misstep_harness.clients.local_server import local_server
            from misstep_harness.exchange import LOCAL_MODEL

            options = replace(options, base_url=stack.enter_context(local_server()), model=LOCAL_MODEL)
        yield options


def client_settings(options: ModelOptions, base_url: str | None = None) -> "ClientSettings":
    """Return the settings of the client; `base_url` is the judge's own address, where it has one."""
    from misstep_harness.clients import ClientSettings
    from misstep_harness.exchange import ADDRESS

    base_url = base_url or options.base_url or None
    # What the command line says is written down with the run: an address that holds a password is refused before.
    for address in filter(None, (options.base_url, base_url or os.environ.get(ADDRESS))):
        from misstep_harness.clients.address import checked_address

        checked_address(address)
    return ClientSettings(
        client="openai" if options.replay is None else "replay",
        base_url=base_url,
        base_url_named=bool(options.base_url) or base_url is None,
        cache=options.cache,
        prices=options.prices,
        price=own_price(options.price_in, options.price_out),
        attempt_seconds=options.request_seconds,
        total_seconds=5 * options.request_seconds,  # with all its retries
        max_cost_usd=options.max_cost,
        rpm=options.rpm,
        tpm=options.tpm,
        record=options.record,
        replay=options.replay,
    )
