"""`misstep experiment report`: the arms of an experiment compared, also of a user's own sessions."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import Html, Json, Seed, path_or_address, this_line, write_page
from misstep.options.hook import DRAWN, HookOptions
from misstep_harness.errors import UsageError
from misstep_harness.progress import say

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...",
        parser=path_or_address,
        help="A run, a CSV file with one session a row, or your own sessions: transcripts, runs of observe, hook logs.",
    ),
]
PlannedUnits = Annotated[
    int | None,
    typer.Option(min=2, metavar="N", help="Units planned for the end, if you look at the CSV file before it."),
]
Share = Annotated[
    list[str] | None,
    typer.Option(metavar="ARM=PART", help="Part of the units that each arm of the CSV file should have."),
]


def report(
    paths: Sources,
    control: Annotated[str, typer.Option(metavar="ARM", help="Arm without treatment in a CSV file.")] = "",
    treatment: Annotated[str, typer.Option(metavar="ARM", help="Arm with treatment in a CSV file.")] = "",
    planned_units: PlannedUnits = None,
    share: Share = None,
    judged: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Judge run, or benchmark with people's labels, on your own sessions; by default recovery@rule judges.",
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for a recording of the run: its sessions without texts.")
    ] = None,
    html: Html = None,
    seed: Seed = 0,
    json: Json = False,
    *,
    drawn: Annotated[HookOptions, DRAWN],
) -> None:
    """Compare the arms of an experiment.

    PATH is a folder of `misstep experiment run`, or a CSV file of your own with the columns session, unit, arm and some
    of failed_calls, calls, tokens, seconds, engineer_interventions, steps:

    s-1,ana,control,2,31,81230,412.5,1,30

    The sizes of the arms are tested first, by equal parts unless you give others. Units are permuted and counted whole,
    and p-values are adjusted for the number of metrics by Holm's method.

    Or name your own sessions: transcripts of any known format, runs of `misstep observe`, the hook's decisions.jsonl.
    The report says how often agents were told, what a judge of recoveries says of what followed, and, where sessions
    are known as a control, what followed there. The log has the arms; without it --arm-share and its like draw them as
    the hook did.

    \b
    misstep experiment report run --html page.html
    misstep experiment report sessions.csv --control old --treatment new
    misstep experiment report sessions.csv --share control=0.9 --share treatment=0.1
    misstep experiment report ~/.cache/misstep/observer/decisions.jsonl
    misstep experiment report ~/.claude/projects --arm-share 0.5
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep_analysis.observer.experiments.report import (
        is_experiment,
        open_experiment,
        own_report,
        record_experiment,
        report_of_file,
        report_of_run,
    )

    first, alone = paths[0], len(paths) == 1
    is_run = alone and is_experiment(first)
    is_csv = alone and first.suffix.lower() in (".csv", ".tsv") and first.is_file()
    if not is_csv and (control or treatment or planned_units or share):
        message = "--control, --treatment, --planned-units and --share are for a CSV file"
        raise UsageError(message, "Leave them out.")
    if record is not None and not is_run:
        raise UsageError("--record is for a run", "Name the folder of a run.")
    if judged is not None and (is_csv or is_run):
        raise UsageError("--judged is for your own sessions", "Leave it out.")
    if is_csv:
        findings = report_of_file(first, control, treatment, _shares(share or ()), planned_units, seed)
    elif is_run:
        findings = report_of_run(run := open_experiment(first), seed)
        if record is not None:
            record_experiment(run, record)
    else:
        findings = own_report(paths, drawn.assignment(), judged, seed)
    if findings.warning:
        say(f"misstep: {findings.warning}")
    print(findings.json() if json else findings.text(), end="\n" if json else "")
    if html is not None:
        write_page("--html", html, findings.html(this_line(), ", ".join(path.name for path in paths)))


def _shares(texts: Sequence[str]) -> dict[str, float] | None:
    """Arm → the part of the units that it should have; `None` where nothing is given."""
    parts: dict[str, float] = {}
    for text in texts:
        arm, equals, part = text.rpartition("=")
        try:
            parts[arm] = float(part)
        except ValueError:
            equals = ""
        if not (equals and arm and 0 < parts[arm] < math.inf):
            message = f"--share {text} is not an arm with its part"
            raise UsageError(message, "Write --share control=0.9 --share new=0.1.")
    return parts or None
