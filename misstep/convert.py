"""`misstep convert`: trajectories of any known format as ATIF, one file each."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from misstep.options.common import Json, command_app, path_or_address
from misstep.options.run_folders import stopped_with
from misstep_analysis.tables.text import aligned
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.places import path_text
from misstep_harness.readers import READERS
from misstep_harness.runs.chosen_runs import say_unreadable
from misstep_harness.runs.convert import Converted, convert_all

app = command_app()


@app.command()
def convert(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            parser=path_or_address,
            help=f"Files and folders with agent runs. Formats: {', '.join(READERS)}.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the converted files; it is created if it does not exist.")
    ],
    to: Annotated[str, typer.Option(metavar="FORMAT", help="Format to write; only atif so far.")] = "atif",
    json: Json = False,
) -> None:
    """Convert agent runs of any known format to ATIF 1.8, one file per run, without loss of information.

    Other files in a folder are skipped. After an interruption, give the same command again; it converts everything
    again. The exit code is 1 if a trajectory was unreadable: stderr names its file and line; the others are written.
    """
    if to != "atif":
        raise UsageError(f"cannot write the format {to!r}", "Give --to atif.")
    target = out.resolve()
    for path in paths:
        if path.is_dir() and target.is_relative_to(path.resolve()):
            inside = f"--out {out} is inside {path_text(path)}, which the command reads"
            raise UsageError(inside, "Choose a folder outside it.")
    with stopped_with(f"the files finished so far are in {out}"):
        converted = convert_all(paths, out)
    print(_as_json(converted) if json else _as_text(converted, out))
    say_unreadable(converted.unreadable, "more unreadable; --json lists them all")
    if converted.unreadable:
        raise typer.Exit(1)


def _as_json(converted: Converted) -> str:
    document: dict[str, Any] = {
        "n": len(converted.written),
        "formats": {name: {"trajectories": n, "steps": steps} for name, (n, steps) in converted.by_format.items()},
        "written": converted.written,
        "unreadable": converted.unreadable,
        "skipped": converted.skipped,
    }
    return msgspec.json.encode(document).decode()


def _as_text(converted: Converted, out: Path) -> str:
    rows = [("format", "trajectories", "steps")]
    rows += [(name, f"{count:,}", f"{steps:,}") for name, (count, steps) in sorted(converted.by_format.items())]
    total = f"{len(converted.written):,} written to {plain(str(out))}"
    if converted.unreadable:
        total += f", {len(converted.unreadable):,} unreadable"
    if converted.skipped:
        total += f", {len(converted.skipped):,} other files skipped"
    return "\n".join([*aligned(rows), total])
