"""`misstep classify`: misbehaviour in trajectories of any known format, found by rule, and how frequent it is."""

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from analysis.measures.gates import fail_on as gate_of
from analysis.pages.findings import Findings, findings_text, shares
from harness.classifiers import chosen_categories, classify_all
from harness.escaping import plain
from harness.journal.records import REPORT
from harness.progress import say
from harness.trajectory import Unreadable
from misstep import gate_options
from misstep.classify_options import Categories
from misstep.options import Html, Json, command_app, moment
from misstep.pages import write_page
from studies.classified_paths import as_json, classified_findings, classified_page

_UNREADABLE_SHOWN = 10

app = command_app()


@app.command()
def classify(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders with agent runs.")],
    categories: Categories = "",
    out: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Folder that keeps verdicts, scores and a page; a run there takes new files."),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            metavar="WHEN",
            parser=moment,
            help="Leave out files that were last changed before: a date or time, or 7d, 12h.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of processes; by default 1 up to 64 MiB of input, then one per core, at most 4.",
        ),
    ] = None,
    fail_on: gate_options.FailOn = None,
    junit: gate_options.JUnit = None,
    summary: gate_options.Summary = None,
    json: Json = False,
    html: Html = None,
) -> None:
    """Find misbehaviour in agent runs of any known format with rules, and count how frequent it is.

    With --out, the same command continues a run that was stopped or killed, and brings a finished one up to date: only
    new and changed files are read. The exit code is 1 if a session was unreadable (stderr names its file and line, and
    the others are counted) or if a classifier failed (stderr names it).
    """
    chosen = chosen_categories(categories)
    gates = gate_options.gates_of(fail_on, gate_of, junit, summary)
    arguments = [*map(str, paths), *(["--categories", categories] if categories else [])]
    try:
        with TemporaryDirectory() as unkept:
            run = out or (Path(unkept) if html else None)
            found = classified_findings(
                paths,
                chosen,
                classify_all,
                out=run,
                workers=workers,
                arguments=[*arguments, "--out", str(out)] if out else arguments,
                since=since,
            )
            if html is not None and run is not None:
                write_page("--html", html, classified_page(run))
    except KeyboardInterrupt:
        say(
            f"misstep: stopped; what was finished is kept in {plain(str(out))}, and the same line goes on from there."
            if out
            else "misstep: stopped; nothing is kept without --out RUN."
        )
        raise typer.Exit(130) from None
    page = html or (out / REPORT if out else None)
    print(as_json(found).decode() if json else findings_text(found, page), end="" if json else "\n")
    _complain(found)
    gate_options.settle(gates, shares(found), "misstep classify", junit, summary)
    if found.unreadable or found.failed:
        raise typer.Exit(1)


def _complain(found: Findings) -> None:
    """Say on stderr what was left out or given another name."""
    for one in found.unreadable[:_UNREADABLE_SHOWN]:
        say(f"misstep: {plain(_place(one))}: {plain(one.error)}")
    more = len(found.unreadable) - _UNREADABLE_SHOWN
    if more > 0:
        say(f"misstep: and {more:,} more unreadable sessions; --json lists them all.")
    for failed in found.failed:
        say(f"misstep: {plain(failed.error)}")
    if found.renamed:
        had = "1 session had an id" if found.renamed == 1 else f"{found.renamed:,} sessions had an id"
        say(f"misstep: {had} that was taken: it has ~2 (or the next free number) behind it.")


def _place(one: Unreadable) -> str:
    return one.file if one.line is None else f"{one.file}:{one.line}"
