"""`misstep reproduce`: run the notebooks, write their pages and an index, tables as files, and where all is from."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import Data, command_app
from misstep.options.run_folders import stopped_with
from misstep_analysis.reproduction.provenance import write_provenance
from misstep_analysis.reproduction.reproduce import (
    chosen,
    json_summary,
    kernel_folders,
    make_folder,
    notebooks_in,
    run_notebooks,
    text_summary,
    write_index,
)
from misstep_harness import places

app = command_app()


@app.command()
def reproduce(
    papers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PAPER]...", help="Notebooks to run, by the start of their names; by default all."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the pages and tables.")] = Path("reports"),
    data: Data = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed; the same seed gives the same bytes.")] = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the last sentence and the address of the index.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")] = False,
) -> None:
    """Run the notebooks headless and write their pages and tables.

    The command writes `index.html`, one HTML page per notebook, every table as CSV, JSON and Markdown under
    `tables/`, and every figure as SVG and PNG under `figures/`. `provenance.json` lists the source of each figure;
    the pages under `records/` and `code/` show the sources. The exit code is 1 if a notebook failed: its page and the
    index show the error, and the others still run.
    """
    paths = chosen(notebooks_in(places.notebooks_folder()), papers or [])
    environment = {"MISSTEP_SEED": str(seed), **kernel_folders(data)}
    make_folder(out)
    with stopped_with(f"the pages that were finished are in {out}"):
        reports = run_notebooks(paths, environment, out, seed)
    command = shlex.join(["misstep", "reproduce", *(papers or []), "--seed", str(seed)])
    write_index(reports, out, command, seed)
    write_provenance(reports, out, command, seed, data)
    print(json_summary(reports, out, seed) if as_json else text_summary(reports, out, quiet=quiet), end="")
    if any(report.error for report in reports):
        raise typer.Exit(1)
