"""`misstep experiment report` and `benchmark`: the arms of an experiment compared, and a benchmark of recoveries."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.harness.progress import say
from misstep.options.common import Html, Json, Seed, path_or_address, this_line, write_page

Source = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", parser=path_or_address, help="Folder of a run, or a CSV file with one session a row."
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
    source: Source,
    control: Annotated[str, typer.Option(metavar="ARM", help="Arm without treatment in a CSV file.")] = "",
    treatment: Annotated[str, typer.Option(metavar="ARM", help="Arm with treatment in a CSV file.")] = "",
    planned_units: PlannedUnits = None,
    share: Share = None,
    record: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for a recording of the run: its sessions without texts.")
    ] = None,
    html: Html = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare the arms of an experiment.

    RUN is a folder of `misstep experiment run`, or a CSV file of your own with the columns session, unit, arm and some
    of failed_calls, calls, tokens, seconds, engineer_interventions:

    s-1,ana,control,2,31,81230,412.5,1

    The sizes of the arms are tested first, by equal parts unless you give others. Units are permuted and counted whole,
    and p-values are adjusted for the number of metrics by Holm's method.

    \b
    misstep experiment report run --html page.html
    misstep experiment report sessions.csv --control old --treatment new
    misstep experiment report sessions.csv --share control=0.9 --share treatment=0.1
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.studies.experiments import open_experiment, record_experiment, report_of_file, report_of_run

    if source.is_dir():
        if control or treatment or planned_units or share:
            message = "--control, --treatment, --planned-units and --share are for a CSV file"
            raise UsageError(message, "Leave them out.")
        findings = report_of_run(run := open_experiment(source), seed)
        if record is not None:
            record_experiment(run, record)
    else:
        if record is not None:
            raise UsageError("--record is for a run", "Name the folder of a run.")
        findings = report_of_file(source, control, treatment, _shares(share or ()), planned_units, seed)
    if findings.warning:
        say(f"misstep: {findings.warning}")
    print(findings.json() if json else findings.text(), end="\n" if json else "")
    if html is not None:
        write_page("--html", html, findings.html(this_line(), source.name))


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


def benchmark(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run of `experiment run`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the benchmark; it must not hold another.")],
) -> None:
    """Write the interventions of a run as a benchmark of recoveries.

    An item is the run and the step of one intervention that the agent heard while its misbehaviour went on. The gold
    label says whether the planted misbehaviour was over for good within 15 steps, without the engineer's help:

    misstep judge run recovery@rule --benchmark DIR --out VERDICTS
    """
    from misstep.studies.experiments import open_experiment
    from misstep.studies.recovery_benchmark import write_recovery_benchmark

    count = write_recovery_benchmark(open_experiment(run).sessions, out)
    print(f"{count:,} interventions; go on with: misstep judge run recovery@rule --benchmark {out} --out RUN")
