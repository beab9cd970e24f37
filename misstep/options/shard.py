"""Options of the commands that work on one part of a run, or have a Dask cluster do all parts."""

import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.copies import is_address
from misstep.harness.errors import UsageError, writing
from misstep.harness.escaping import plain
from misstep.harness.runs.shards.cluster import open_cluster, run_line
from misstep.harness.runs.shards.layout import MOST_SHARDS, Shard, next_step, shards_of
from misstep.harness.runs.shards.plan import without_options
from misstep.harness.runs.shards.store import FolderStore
from misstep.options.common import json_text
from misstep.options.gate import GateOptions, show_merged
from misstep.options.groups import OptionGroup
from misstep.options.run_folders import stopped_with
from misstep.options.schedulers import shard_of


def folder_of(out: str | None) -> Path | None:
    """Return the folder that `--out` names."""
    if out and is_address(out):
        raise UsageError(f"--out {out}: a run does not lie at an address", "Name a folder.")
    return Path(out) if out else None


def place_of_shards(out: str | None, option: str = "--shard") -> str:
    """Return the folder that `--out` of a run in shards names."""
    folder = folder_of(out)
    if folder is None:
        raise UsageError(f"{option} needs --out", "Name a folder that all shards can write to.")
    return str(folder)


def refuse_beside_shard(options: Mapping[str, object]) -> None:
    """Refuse options about the whole of a run beside `--shard`."""
    for named in (option for option, value in options.items() if value):
        message = f"{named} is about the whole run, and --shard does one part"
        raise UsageError(message, "Merge first: misstep merge RUN.")


_Shard = Annotated[
    Shard | None,
    typer.Option(
        "--shard",
        metavar="K/N",
        parser=lambda text: shard_of(text, os.environ),
        help="Part of the run to do here, such as 3/8; `misstep merge RUN` joins all of them. With auto or auto/8"
        " the number comes from the Slurm array or the indexed Kubernetes job.",
    ),
]
_Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Dask cluster that does the shards of the run: tcp://HOST:8786, or local or local:2 for processes on"
        " this machine.",
    ),
]
_Shards = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_SHARDS,
        metavar="N",
        help="Number of shards for --dask; by default two for each thread of its workers.",
    ),
]


class ShardOptions(OptionGroup, frozen=True):
    """One shard of a run, or a Dask cluster that does them all."""

    panel = "Shards"
    shard: _Shard = None
    dask: _Dask = None
    shards: _Shards = None

    @property
    def count(self) -> int:
        """Return the number of parts that share what the whole run may spend."""
        return 1 if self.shard is None else self.shard.count

    def asks_cluster(self, whole: Mapping[str, object]) -> bool:
        """Return whether a Dask cluster does the shards; refuse options about the whole of a run beside them."""
        if self.shard is not None:
            refuse_beside_shard({"--dask": self.dask, **whole})
        if self.dask is None and self.shards is not None:
            raise UsageError("--shards without --dask", "Name a cluster with --dask, or one shard with --shard 3/8.")
        for named in (option for option, value in whole.items() if value and self.dask is not None):
            advice = (
                "Leave it out, or give it afterwards to the same line without --dask, which finds the run finished."
            )
            raise UsageError(f"{named} has no effect with --dask", advice)
        return self.dask is not None


def say_shard(shard: Shard, out: Path, n: int, one: str, *, json: bool) -> None:
    """Print that a shard is done, and what comes next."""
    from misstep.analysis.tables.wording import counted_text

    place = str(out / shard.folder)
    if json:
        print(json_text({"shard": shard.number, "shards": shard.count, "n": n, "folder": place}))
    else:
        print(f"shard {shard} is done: {counted_text(n, one)}, in {plain(place)}\n{plain(next_step(shard, str(out)))}")


def do_line(parts: ShardOptions, out: Path, *, json: bool) -> None:
    """Do the shards of this command line on a Dask cluster, merge them, and print what was found."""
    line = without_options([one for one in sys.argv[1:] if one != "--json"], "--dask", "--shards")
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    with (
        stopped_with(f"what was done is kept in {out}, and the same line goes on from there"),
        open_cluster(str(parts.dask)) as it,
    ):
        count = it.shards_for(FolderStore(out), parts.shards)
        it.require_paths([str(out), *(one for one in line if Path(one).exists())])
        for _ in it.do(list(shards_of(count)), partial(run_line, arguments=line)):
            pass
        from misstep.studies.merged_runs import merge_run  # loads what makes pages

        merged = merge_run(str(out))
    show_merged(merged, GateOptions(), [], "", json=json)
