"""`misstep repair report`: runs of repairs beside each other, compared in pairs on the same cases."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.options.common import Json, Seed, write_page


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs of `repair run`.")],
    out: Annotated[
        Path | None, typer.Option(metavar="F.html", help="HTML page to write as well, with every attempt.")
    ] = None,
    reviews: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG.csv", help="Review log of the runs' patches; by default reviews.csv in their folders."
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for a recording of one run: its attempts without texts.")
    ] = None,
    about: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Fact about the cases for a recording: `benchmark` or `evidence`."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Show what runs solved, and compare them on the same cases.

    The tables have solve rates, patches, errors and iterations.

    With one attempt a case the test is McNemar's, with more each case goes either way as a whole. The p-values are
    adjusted for all pairs by Holm's method.
    """
    from misstep.studies.repair_report import repairs_html, repairs_json, repairs_text, reviews_of, scores_of
    from misstep.studies.repair_runs import open_repair_runs, record_run, say_warnings

    if about and record is None:
        raise UsageError("--about is for a recording", "Name its folder with --record.")
    opened = open_repair_runs(runs)
    if record is not None:
        if len(runs) > 1:
            raise UsageError(f"{len(runs)} runs cannot be one recording", "Name one run.")
        parts = [one.partition("=") for one in about or []]
        wrong = next((name for name, joint, value in parts if not (name and joint and value)), None)
        if wrong is not None:
            raise UsageError(f"--about {wrong}", "Write it as NAME=VALUE, as in evidence=generated.")
        opened = [record_run(opened[0], record, {name: value for name, _, value in parts})]
    say_warnings(opened)
    scores = scores_of(opened, seed)
    review = reviews_of(opened, reviews)
    print(repairs_json(opened, scores, review) if json else repairs_text(scores, review), end="")
    if out is not None:
        again = shlex.join(["misstep", "repair", "report", *map(str, runs), "--out", str(out)])
        write_page("--out", out, repairs_html(opened, scores, again, review))
