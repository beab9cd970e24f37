"""`misstep reflect report`: what runs of the reflexive loop solved, what they cost, and what each mechanism did."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import Json, write_page


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Folders of runs of `reflect run`, or of an ablation.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="F.html", help="HTML page to write as well, with every item over time.")
    ] = None,
    json: Json = False,
) -> None:
    """Show how items ended and what each mechanism of the loop did.

    One run is shown with each item and its attempts; the runs of an ablation with and without each mechanism, seed by
    seed; other runs beside each other. All of it is read from the runs' event logs.
    """
    from misstep_analysis.reflexive.report import reflections_html, reflections_json, reflections_text
    from misstep_analysis.reflexive.runs import open_reflexive_runs, run_folders, say_warnings

    opened = open_reflexive_runs(run_folders(runs))
    say_warnings(opened)
    print(reflections_json(opened) if json else reflections_text(opened), end="")
    if out is not None:
        again = shlex.join(["misstep", "reflect", "report", *map(str, runs), "--out", str(out)])
        write_page("--out", out, reflections_html(opened, again))
