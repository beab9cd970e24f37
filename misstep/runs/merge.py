"""`misstep merge`: the shards of a run, made on several machines, as one run."""

from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.options.common import BenchmarkFolder, Json, command_app
from misstep.options.gate import ABOVE, GateOptions, show_merged
from misstep.options.run_folders import stopped_with
from misstep.studies.merged_runs import merge_run

app = command_app()


@app.command()
def merge(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder that the commands with --shard had for --out.")],
    benchmark: BenchmarkFolder = "",
    json: Json = False,
    *,
    limits: Annotated[GateOptions, ABOVE],
) -> None:
    """Join the shards of a run into what the same command without --shard would have written, to the byte.

    Where shards are missing, the command names them and writes nothing. Merging twice changes nothing. Limits of
    --fail-on hold for the whole run. The run is one like any other afterwards; its folder `shards` is not needed
    any more.

    The exit code is that of the command without --shard: for `classify` 1 if a session was unreadable or a classifier
    failed.
    """
    gates = limits.gates()
    with stopped_with("the shards are as they were, and the same line joins them"):
        merged = merge_run(run, benchmark)
    if gates and not merged.figures:
        message = "--fail-on is about shares of categories, which this run has none of"
        raise UsageError(message, "Give --fail-under to the command without --shard: it finds the run finished.")
    show_merged(merged, limits, gates, "misstep merge", json=json)
