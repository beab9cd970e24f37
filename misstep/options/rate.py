"""Options of the commands that ask a model: how many requests at once, and how many a minute."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from misstep.harness.clients.settings import InFlight

Concurrency = Annotated[
    str,
    typer.Option(
        metavar="N|auto", help="Number of requests in flight at once; auto finds out how many the server takes."
    ),
]
Rpm = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Limit of requests per minute, retries included; shards share it."),
]
Tpm = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Limit of tokens per minute, in and out together; shards share it."),
]


def in_flight(concurrency: str) -> "InFlight":
    """The number of requests in flight that `--concurrency` gives, or `auto`."""
    if concurrency == "auto":
        return "auto"
    if not re.fullmatch(r"[1-9][0-9]{0,5}", concurrency):
        raise typer.BadParameter(f"{concurrency!r} is neither a number from 1 on nor auto", param_hint="--concurrency")
    return int(concurrency)
