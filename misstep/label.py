"""`misstep label`: people label a sample of what a judge was asked about, on a page of this machine or in a tool."""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options.agreement import OF_A_TOOL, LabelOptions
from misstep.options.common import (
    BenchmarkFolder,
    Seed,
    command_app,
    path_alone,
    path_or_address,
    say_remarks,
    write_file,
)

if TYPE_CHECKING:
    from misstep.studies.annotation.labelling import Drawn

app = command_app()


@app.command()
def label(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", parser=path_alone, help="Folder of a run of `misstep judge run`.")
    ],
    n: Annotated[
        int | None,
        typer.Option(
            "--n", min=1, metavar="N", help="Number of items to draw; by default 50, with --labels all labelled ones."
        ),
    ] = None,
    rater: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Name of the person, by default the user's; with --labels the column of the raters."
        ),
    ] = "",
    seed: Seed = 0,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="P", help="Port; 0 takes a free one.")] = 0,
    benchmark: BenchmarkFolder = "",
    tasks: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Write the items to a CSV file for an annotation tool instead."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=path_or_address,
            help="Take the labels from a file, as for `misstep agreement`, instead.",
        ),
    ] = None,
    *,
    reading: Annotated[LabelOptions, OF_A_TOOL],
) -> None:
    """Label a random sample of the items of a judge's run, and score the judge by it.

    The page is for this machine alone, and does not show what the judge said: keys 1, 2, 3 … give a label, b goes back,
    s skips. Each label is kept at once in the benchmark's gold.csv, and the same command goes on. After the last item
    the run is scored: precision, recall, and the share of the positive label put right for the judge's errors.

    \b
    misstep label mine --n 50
    misstep label mine --n 50 --tasks tasks.csv
    misstep label mine --n 50 --labels label_studio.json --item item
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.studies.annotation.labelling import draw, tasks_csv
    from misstep.studies.judged_runs import open_run
    from misstep.studies.judging.assessment import scores_text
    from misstep.studies.judging.scored import write_scores

    if tasks is not None and labels is not None:
        raise UsageError("both --tasks and --labels are given", "Write the tasks first, and take their labels later.")
    drawn = draw(run, n or 50, rater.strip() or getpass.getuser(), seed=seed, benchmark=benchmark)
    if tasks is not None:
        write_file("--tasks", tasks, tasks_csv(drawn))
        seeded = f" --seed {seed}" if seed else ""
        go_on = f"misstep label {run} --n {len(drawn.items)}{seeded} --labels EXPORT --item item"
        print(f"{tasks}: {len(drawn.items):,} items; label them in your tool, then go on with: {go_on}")
        return
    if labels is None:
        _on_a_page(drawn, port)
    else:
        from misstep.studies.recorded.gold_labels import add_gold, gold_from

        rows, remarks = gold_from(labels, replace(reading, rater=rater).gold_reading())
        say_remarks(remarks, str(labels))
        sample = None if n is None else {one.id for one in drawn.items}
        count = add_gold(drawn.run.benchmark, rows, labels, sample)
        if lost := len(rows) - count:
            say(f"misstep: {lost:,} of {len(rows):,} labels are of no item of the sample; they are left out.")
        if n is None:
            say("misstep: the corrected share takes these items for a random sample; --n N counts only those drawn.")
    print(scores_text(write_scores(open_run(run, str(drawn.run.benchmark)))), end="")


def _on_a_page(drawn: "Drawn", port: int) -> None:
    import asyncio

    from misstep.studies.annotation.labelling import Labelling, serve

    labelling = Labelling(drawn)
    try:
        if not labelling.done:
            asyncio.run(serve(labelling, port, lambda address: print(f"Open {address}", flush=True)))
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}", "Leave it out to take a free port.") from error
    except KeyboardInterrupt:
        left = len(drawn.items) - labelling.labelled
        say(f"misstep: stopped; {left:,} are left, and the same command goes on with them.")
        raise typer.Exit(130) from None
    gold = drawn.run.benchmark / "gold.csv"
    say(f"misstep: {labelling.labelled:,} labels of {plain(drawn.rater)} are in {plain(str(gold))}.")
