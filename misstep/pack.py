"""`misstep pack`: agent runs of any known format as a folder of Parquet files."""

from pathlib import Path
from typing import Annotated, Any

import typer

from misstep.harness.escaping import plain
from misstep.harness.lake.manifest import PackManifest
from misstep.harness.progress import say
from misstep.harness.runs.chosen_runs import say_unreadable
from misstep.harness.runs.pack import pack as pack_into
from misstep.options.common import Json, Workers, command_app, json_text, path_or_address
from misstep.options.run_folders import stopped_with

app = command_app()


@app.command()
def pack(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", parser=path_or_address, help="Files and folders with agent runs.")
    ],
    out: Annotated[str, typer.Option(metavar="URL", help="Folder, or address such as s3://bucket/runs, to pack into.")],
    messages: Annotated[
        bool, typer.Option("--messages", help="Add the column that scanners of Inspect Scout read; it takes more room.")
    ] = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Pack agent runs of any known format into Parquet files, without loss of information.

    A packed folder is read by every command that reads runs, and by other tools: its columns are named as in the
    transcript database of Inspect Scout, and the last one has the run as ATIF. After an interruption, the same line
    goes on; until all is packed, no file has its final name. The exit code is 1 if a session was unreadable: stderr
    names its file and line; the others are packed.
    """
    with stopped_with(f"the same line goes on with what is finished in {out}"):
        packed = pack_into(paths, out, messages=messages, workers=workers)
    print(json_text(_document(packed)) if json else _text(packed, out))
    unreadable = packed.tally.unreadable
    say_unreadable(unreadable, "more unreadable sessions; --json lists them all")
    if packed.tally.renamed:
        say(f"misstep: {packed.tally.renamed:,} had an id that was taken: ~2 (or the next free number) is behind it.")
    if unreadable:
        raise typer.Exit(1)


def _document(packed: PackManifest) -> dict[str, Any]:
    return {
        "n": packed.tally.sessions,
        "bytes_in": packed.asked.inputs.bytes,
        "bytes_as_atif": packed.tally.text_bytes,
        "bytes_out": packed.bytes,
        "ratio": packed.ratio,
        "row_groups": packed.row_groups,
        "files": [part.name for part in packed.parts],
        "renamed": packed.tally.renamed,
        "unreadable": packed.tally.unreadable,
        "skipped": packed.tally.skipped,
    }


def _text(packed: PackManifest, out: str) -> str:
    from misstep.analysis.tables.wording import counted_text

    tally = packed.tally
    sessions = f"{counted_text(tally.sessions, 'session')} packed into {plain(out)}"
    left_out = [
        *([f"{len(tally.unreadable):,} unreadable"] if tally.unreadable else []),
        *([f"{tally.skipped:,} other files skipped"] if tally.skipped else []),
    ]
    read, as_atif, as_parquet = (
        f"{size / 1e6:,.1f} MB" for size in (packed.asked.inputs.bytes, tally.text_bytes, packed.bytes)
    )
    sizes = f"{read} read, {as_atif} as ATIF, {as_parquet} packed: {packed.ratio:.1f} times smaller than as ATIF"
    files = f"{counted_text(len(packed.parts), 'file')} with {counted_text(packed.row_groups, 'row group')}"
    return "\n".join([", ".join([sessions, *left_out]), f"{sizes}; {files}"])
