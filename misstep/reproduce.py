"""`misstep reproduce`: run the notebooks, write their pages and an index, tables as files, and where all is from."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from harness import places
from harness.escaping import plain
from harness.progress import say
from misstep.data_option import Data
from studies.provenance import write_provenance
from studies.reproduce import (
    chosen,
    json_summary,
    kernel_folders,
    make_folder,
    notebooks_in,
    run_notebooks,
    text_summary,
    write_index,
)

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def reproduce(
    papers: Annotated[
        list[str] | None, typer.Argument(metavar="[PAPER]...", help="Notebooks whose names start so; all by default.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write pages and tables to.")] = Path("reports"),
    data: Data = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything that is drawn.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")] = False,
) -> None:
    """Run the notebooks headless and write what they found.

    Writes `index.html`, one HTML page a notebook, every table as CSV, JSON, LaTeX and Markdown under `tables/`, and in
    `provenance.json` what each figure comes from, with pages to see it under `records/` and `code/`. The same seed
    gives the same bytes. Exit 1 where a notebook failed: its page and the index show the error, the others ran.
    """
    paths = chosen(notebooks_in(places.notebooks_folder()), papers or [])
    environment = {"MISSTEP_SEED": str(seed), **kernel_folders(data)}
    make_folder(out)
    try:
        reports = run_notebooks(paths, environment, out, seed)
    except KeyboardInterrupt:
        say(f"misstep: stopped; the pages that were finished are in {plain(str(out))}.")
        raise typer.Exit(130) from None
    command = shlex.join(["misstep", "reproduce", *(papers or []), "--seed", str(seed)])
    write_index(reports, out, command, seed)
    write_provenance(reports, out, command, seed, data)
    print(json_summary(reports, out, seed) if as_json else text_summary(reports, out), end="")
    if any(report.error for report in reports):
        raise typer.Exit(1)
