"""Commands over items whose shards a Dask cluster does: each by the same line, on a worker."""

import sys
from functools import partial
from pathlib import Path

from misstep.harness.errors import writing
from misstep.harness.lake.store import FolderStore
from misstep.harness.runs.shards.cluster import open_cluster, run_line
from misstep.harness.runs.shards.item_runs import without_options
from misstep.harness.runs.shards.layout import shards_of
from misstep.options.gate import GateOptions
from misstep.options.merged import show_merged
from misstep.options.run_folders import stopped_with
from misstep.options.shard import ShardOptions


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
