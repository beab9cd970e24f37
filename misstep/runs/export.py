"""`misstep export`: a finished run in a form that other tools open."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.options.common import (
    BenchmarkFolder,
    Data,
    Json,
    command_app,
    json_text,
    path_alone,
    refuse_given,
    write_page,
)
from misstep_harness.errors import UsageError

app = command_app()


To = Annotated[
    Literal["hf", "parquet", "csv", "inspect", "notebook"],
    typer.Option(
        help="Form: a data set for Hugging Face `datasets`, one Parquet or CSV file a table, scores for Inspect, or a "
        "notebook to start from."
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR|F.ipynb", help="Folder of the export, a new one or an earlier export; of a notebook its new file."
    ),
]
WithGold = Annotated[
    bool, typer.Option("--with-gold", help="Add gold labels and planted truth as a table; no judge may see it.")
]


@app.command()
def export(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=path_alone, help="Folder of a finished run.")],
    to: To,
    out: Out,
    with_gold: WithGold = False,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace keys and other secrets by [secret] instead of refusing them.")
    ] = False,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    json: Json = False,
) -> None:
    """Write a finished run for other tools: its records, its figures with intervals, and a data card.

    Runs of `classify`, `judge run`, `judge import`, `triage`, `observe`, `repair run`, `reflect run` and
    `experiment run` have tables of their own, and so have folders of `triage --curate`; a missing label is null. With
    `--to hf` the folder opens offline by `datasets.load_dataset(DIR, TABLE)`, and its README.md is a data card. With
    `--to inspect` the scorer
    `precomputed_scores("DIR/JUDGE.jsonl")` of Inspect reads it, and leaves a sample without a label unscored.
    Trajectories are not part of it, but for the messages of curated runs.

    With `--to notebook` it is a short notebook that opens the run as pandas frames and computes its main figures: a
    start for your own analysis.

    An export is refused if something in it has the form of a key. The same command replaces its own export, and the
    same run gives the same bytes.
    """
    if to == "notebook":
        from misstep_analysis.runs.starter_notebook import starter_notebook

        refuse_given(context, {"with_gold", "redact", "benchmark", "data", "json"}, "a notebook opens the run itself")
        if out.exists():
            raise UsageError(f"the file {out} exists already", "Name another file with --out: it may hold your work.")
        write_page("--out", out, starter_notebook(run))
        print(out)
        return
    from misstep_analysis.exports.writing import export_run
    from misstep_analysis.runs.kind import Choice
    from misstep_analysis.tables.text import aligned

    counts = export_run(run, to, out, Choice(benchmark, data, with_gold), redact=redact)
    lines = aligned([("table", "rows"), *((name, f"{count:,}") for name, count in counts.items())])
    print(json_text({"out": str(out), "rows": counts}) if json else "\n".join([*lines, str(out)]))
