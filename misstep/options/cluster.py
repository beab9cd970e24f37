"""The options of the commands whose shards a Dask cluster does."""

from collections.abc import Mapping
from typing import Annotated, TypeGuard

import typer

from misstep.harness.errors import UsageError
from misstep.harness.runs.shards.layout import MOST_SHARDS

DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Dask cluster that does the shards of the run: tcp://HOST:8786, or local or local:2 for processes on this"
        " machine.",
    ),
]
ShardsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_SHARDS,
        metavar="N",
        help="Number of shards for --dask; by default two for each thread of its workers.",
    ),
]


def asks_cluster(dask: str | None, shards: int | None, beside: Mapping[str, object]) -> TypeGuard[str]:
    """Whether the shards are done on a Dask cluster."""
    if dask is None and shards is not None:
        raise UsageError("--shards without --dask", "Name a cluster with --dask, or one shard with --shard 3/8.")
    named = next((option for option, value in beside.items() if value), None)
    if dask is not None and named is not None:
        raise UsageError(
            f"{named} has no effect with --dask",
            "Leave it out, or give it afterwards to the same line without --dask, which finds the run finished.",
        )
    return dask is not None
