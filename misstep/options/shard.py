"""Options of the commands that work on one part of a run, or have a Dask cluster do all parts."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.harness.lake.addresses import is_address
from misstep.harness.runs.shards.layout import MOST_SHARDS, Shard
from misstep.options.groups import OptionGroup
from misstep.options.schedulers import shard_of


def _given(text: str) -> Shard:
    return shard_of(text, os.environ)


def folder_of(out: str | None) -> Path | None:
    """Return the folder that `--out` of a run without shards names."""
    if out and is_address(out):
        raise UsageError(f"--out {out}: only a run in shards can lie at an address", "Name a folder, or add --shard.")
    return Path(out) if out else None


def place_of_shards(out: str | None, option: str = "--shard") -> str:
    """Return the folder or address that `--out` of a run in shards names."""
    if not out:
        raise UsageError(f"{option} needs --out", "Name a folder or an address that all shards can write to.")
    return out if is_address(out) else str(Path(out))


def refuse_beside_shard(given: Mapping[str, object]) -> None:
    """Refuse options about the whole of a run beside `--shard`."""
    named = next((option for option, value in given.items() if value), None)
    if named is not None:
        raise UsageError(
            f"{named} is about the whole run, and --shard does one part", "Merge first: misstep merge RUN."
        )


class ShardOptions(OptionGroup, frozen=True):
    """One shard of a run, or a Dask cluster that does them all."""

    panel = "Shards"
    shard: Annotated[
        Shard | None,
        typer.Option(
            "--shard",
            metavar="K/N",
            parser=_given,
            help="Part of the run to do here, such as 3/8; `misstep merge RUN` joins all of them. With auto or auto/8"
            " the number comes from the Slurm array or the indexed Kubernetes job.",
        ),
    ] = None
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Dask cluster that does the shards of the run: tcp://HOST:8786, or local or local:2 for processes on"
            " this machine.",
        ),
    ] = None
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_SHARDS,
            metavar="N",
            help="Number of shards for --dask; by default two for each thread of its workers.",
        ),
    ] = None

    @property
    def count(self) -> int:
        """Return the number of parts that share what the whole run may spend."""
        return 1 if self.shard is None else self.shard.count

    def asks_cluster(self, whole: Mapping[str, object]) -> bool:
        """Return whether a Dask cluster does the shards; options about the whole of a run are refused beside them."""
        if self.shard is not None:
            refuse_beside_shard({"--dask": self.dask, **whole})
        if self.dask is None and self.shards is not None:
            raise UsageError("--shards without --dask", "Name a cluster with --dask, or one shard with --shard 3/8.")
        named = next((option for option, value in whole.items() if value), None)
        if self.dask is not None and named is not None:
            raise UsageError(
                f"{named} has no effect with --dask",
                "Leave it out, or give it afterwards to the same line without --dask, which finds the run finished.",
            )
        return self.dask is not None
