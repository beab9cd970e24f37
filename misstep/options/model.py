"""Options of the commands that ask a model, and the settings of its client."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.errors import UsageError

if TYPE_CHECKING:
    from misstep.harness.clients import ClientSettings

Model = Annotated[str, typer.Option(help="Model to ask; it overrides the model of a judge's file.")]
BaseUrl = Annotated[str, typer.Option(help="Address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1.")]
MaxCost = Annotated[
    float | None,
    typer.Option(
        metavar="USD",
        help="Cost limit; the run stops before it spends more. It counts every retry; shards share it equally.",
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="TOML file with prices of models; it overrides the shipped prices."),
]
PriceIn = Annotated[
    float | None, typer.Option(min=0, metavar="USD", help="Price of a million input tokens, with --price-out.")
]
PriceOut = Annotated[
    float | None, typer.Option(min=0, metavar="USD", help="Price of a million output tokens, with --price-in.")
]
CacheFile = Annotated[Path | None, typer.Option(metavar="FILE", help="File that keeps answers from run to run.")]
Record = Annotated[Path | None, typer.Option(metavar="FILE", help="File to which every request and reply is added.")]
Replay = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File of recorded exchanges that answers instead of a server.")
]
Local = Annotated[
    bool,
    typer.Option("--local", help="Ask the small model of `make local-llm`. It tests the set-up only."),
]


MODEL_OPTIONS = frozenset(
    {"model", "base_url", "temperature", "functions", "concurrency", "rpm", "tpm", "max_cost", "prices"}
    | {"price_in", "price_out", "cache", "record", "replay", "local"}
)
"""The parameters of commands that say which model is asked, and how."""


class ModelOptions(Struct, frozen=True):
    """The options for the model and the client."""

    model: str = ""
    base_url: str = ""
    max_cost: float | None = None
    prices: Path | None = None
    cache: Path | None = None
    record: Path | None = None
    replay: Path | None = None
    local: bool = False
    price_in: float | None = None
    price_out: float | None = None
    shards: int = 1
    """The number of shards that share the limits on cost and rates."""
    rpm: int | None = None
    tpm: int | None = None


@contextmanager
def with_local_model(options: ModelOptions) -> Iterator[ModelOptions]:
    """The options, with the address and name of the local model where it is asked for; it runs inside the block."""
    with ExitStack() as stack:
        if options.local:
            if options.model or options.base_url or options.replay is not None:
                raise UsageError("--local has its own model", "Leave out --model, --base-url and --replay.")
            from misstep.harness.clients.local_server import MODEL, local_server

            options = replace(options, base_url=stack.enter_context(local_server()), model=MODEL)
        yield options


def client_settings(options: ModelOptions, base_url: str | None = None) -> "ClientSettings":
    """The settings of the client; `base_url` is the judge's own address, where it has one."""
    from misstep.harness.clients import ClientSettings
    from misstep.harness.clients.address import ADDRESS, checked_address
    from misstep.harness.clients.prices import Price
    from misstep.harness.clients.settings import share_of_shard

    if (options.price_in is None) != (options.price_out is None):
        given, lacking = ("in", "out") if options.price_out is None else ("out", "in")
        raise UsageError(f"--price-{given} is given alone", f"Give --price-{lacking} as well.")
    base_url = base_url or options.base_url or None
    # What the command line says is written down with the run: an address that holds a password is refused before.
    for address in filter(None, (options.base_url, base_url or os.environ.get(ADDRESS))):
        checked_address(address)
    settings = ClientSettings(
        client="openai" if options.replay is None else "replay",
        base_url=base_url,
        base_url_named=bool(options.base_url) or base_url is None,
        cache=options.cache,
        prices=options.prices,
        price=None if options.price_in is None else Price(("*",), options.price_in, options.price_out or 0.0),
        max_cost_usd=options.max_cost,
        rpm=options.rpm,
        tpm=options.tpm,
        record=options.record,
        replay=options.replay,
    )
    return share_of_shard(settings, options.shards)
