"""`misstep judge calibrate`: a threshold on a judge's score or votes that keeps a precision, or what it would take."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError
from misstep.options import BenchmarkFolder, Data, Json, json_text

if TYPE_CHECKING:
    from studies.judged_runs import JudgedRun


def calibrate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a judge's run.")],
    precision: Annotated[
        float, typer.Option(metavar="SHARE", help="Precision that the threshold must keep, such as 0.80.")
    ],
    label: Annotated[
        str, typer.Option(help="Label whose precision counts; by default the benchmark's positive label.")
    ] = "",
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level of the one-sided lower bound.")
    ] = 0.95,
    held_out: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the items that is held out to test the threshold.")
    ] = 0.5,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Random seed for the split into two parts.")] = 0,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    json: Json = False,
) -> None:
    """Find a threshold above which a judge's label is precise enough.

    The threshold is chosen on one part of the items and tested on the held-out part, which comes from other
    trajectories. The exit code is 1 if no threshold keeps the precision; the output then gives the number of further
    labels that would be needed, or says that no number is enough.
    """
    import msgspec

    from analysis.measures.judging.precision_threshold import precision_threshold
    from analysis.measures.judging.precision_threshold_tables import threshold_table
    from analysis.pages import table_text
    from studies.judged_runs import open_run, votes_of, warn_incomplete

    opened = open_run(run, benchmark, data)
    warn_incomplete([opened])
    found = precision_threshold(
        opened.verdicts,
        opened.gold,
        chosen_label(opened, label),
        precision,
        confidence=confidence,
        held_out=held_out,
        votes=votes_of(opened),
        clusters=opened.clusters,
        seed=seed,
    )
    if json:
        document = {"run": opened.name} | msgspec.to_builtins(found)
        print(json_text(document))
    else:
        print(table_text(threshold_table(found, opened.name, opened.question.name)), end="")
    if found.threshold is None:
        raise typer.Exit(1)


def chosen_label(run: "JudgedRun", label: str) -> str:
    """The label that is meant: the one that is named, or else the benchmark's positive one.

    Raises
    ------
    UsageError
        None is named and the benchmark has no positive one, or the one that is named is none of its labels.
    """
    labels = tuple(run.question.labels) or tuple(sorted({row.label for row in run.gold}))
    listed = f"Labels: {', '.join(labels)}."
    if not label and not run.question.positive:
        raise UsageError(f"the benchmark {run.question.name} has no positive label", f"Name one with --label. {listed}")
    if label and label not in labels:
        raise UsageError(f"{label!r} is not a label of the benchmark {run.question.name}", listed)
    return label or run.question.positive
