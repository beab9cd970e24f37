"""`misstep count`: records counted whole on each machine, the counts added up, and what they say."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.harness.escaping import plain
from misstep.harness.places import path_text
from misstep.harness.progress import say
from misstep.options.agreement import WITHOUT_DECIMAL, LabelOptions
from misstep.options.common import BenchmarkFolder, Json, Seed, command_app, json_text, path_or_address, write_file
from misstep.options.run_folders import K, Threshold, numbers_of_attempts

app = command_app()


Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE|RUN…",
        parser=path_or_address,
        help="Files of labels or of attempts, folders of runs of `classify`, `judge run` or `repair run`, and"
        " counts that this command wrote.",
    ),
]
Stratum = Annotated[
    Literal["project", "model", "agent", "week"] | None,
    typer.Option(help="Count the sessions of `classify` apart by this; by default all together."),
]


@app.command()
def count(
    paths: Paths,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counts, all parts of them, as JSON.")
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name before that of each part, such as the machine's.")
    ] = "",
    stratum: Stratum = None,
    system: Annotated[
        str, typer.Option(metavar="NAME", help="System of a file of attempts that has no column for it.")
    ] = "attempts",
    threshold: Threshold = None,
    k: K = "1,2,4",
    benchmark: BenchmarkFolder = "",
    boot: Annotated[
        int, typer.Option(min=100, metavar="N", help="Number of bootstrap resamples for an interval.")
    ] = 10_000,
    seed: Seed = 0,
    json: Json = False,
    *,
    labels: Annotated[LabelOptions, WITHOUT_DECIMAL],
) -> None:
    """Count records, add up the counts of several machines, and print every figure that counts can give.

    Each machine counts its own files and sends the counts, which are small, name no item and hold no text but labels
    and names. Added up they give the same figures and intervals as all records in one place: agreement of raters,
    prevalence of categories, precision, recall and kappa of judges, the ranking of their scores, pass@k, and quantiles
    of times. A file of counts has a part for each file or run. A part that is given again changes nothing; a part of
    the same name with other content is an error. Neither the order of the files nor the number of parts changes the
    figures.

    \b
    misstep count labels-01.csv --name machine-1 --out counts-01.json
    misstep count counts-*.json --out counts.json
    misstep count run-1 run-2 --stratum model
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.analysis.measures.counted import counted_report
    from misstep.studies.counting import counted_parts
    from misstep.studies.kinds.kind import Counting

    reading = labels.reading()
    ks = numbers_of_attempts(k)
    parts = counted_parts(paths, Counting(reading, name, stratum, system, threshold, benchmark))
    counts = counted_report(parts.total(), plain(", ".join(map(path_text, paths))), reading, ks, boot, seed)
    if out is not None:
        write_file("--out", out, parts.encoded().decode())
        say(f"misstep: {plain(str(out))}: counts of {len(parts.parts):,} part{'s' if len(parts.parts) > 1 else ''}.")
    if json:
        print(json_text(counts))
    else:
        from misstep.analysis.pages.counted import counted_text

        print(counted_text(counts), end="")
