"""`misstep benchmark make`: a benchmark folder from sessions and people's labels."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.harness.errors import UsageError
from misstep.harness.places import path_text
from misstep.harness.progress import say
from misstep.options.agreement import OF_GOLD, LabelOptions
from misstep.options.common import command_app, path_or_address, say_remarks

app = command_app(has_commands=True)


@app.callback()
def benchmark() -> None:
    """Make benchmarks for judges."""


Sessions = Annotated[
    list[Path], typer.Argument(metavar="SESSIONS...", parser=path_or_address, help="Files and folders with sessions.")
]
Kind = Annotated[
    Literal["misbehaviour", "triage", "text"],
    typer.Option(help="Kind of the items; an item of `text` is the last message of the agent."),
]


@app.command()
def make(
    sessions: Sessions,
    labels: Annotated[
        Path, typer.Option(metavar="FILE", parser=path_or_address, help="Labels of people, as for `misstep agreement`.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the benchmark; it must not hold another.")],
    kind: Kind = "misbehaviour",
    *,
    reading: Annotated[LabelOptions, OF_GOLD],
) -> None:
    """Make a benchmark of sessions that people have labelled.

    Items are named by the ids of the sessions, as `misstep classify --json` has them. Sessions without a label stay in
    the benchmark: a judge is asked about them, and no score counts them.
    """
    from misstep.harness.runs.judging.session_benchmark import session_benchmark
    from misstep.studies.recorded.gold_labels import add_gold, gold_from

    if (out / "gold.csv").exists():
        raise UsageError(f"{out} holds a benchmark", "Name another folder with --out.")
    rows, remarks = gold_from(labels, reading.gold_reading())
    say_remarks(remarks, path_text(labels))
    label_names = dict.fromkeys(sorted({row.label for row in rows}), "")
    folder = session_benchmark(kind, label_names, sessions, out)
    count = add_gold(folder, rows, labels)
    if lost := len(rows) - count:
        say(f"misstep: {lost:,} of {len(rows):,} labels are of no session that was read; they are left out.")
    print(f"{count:,} labels; go on with: misstep judge run JUDGE --benchmark {out} --out RUN")


@app.command()
def pairs(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            parser=path_or_address,
            help="Table with a pair or an output a row: CSV, TSV, .xlsx, JSON or JSON Lines; - is standard input.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the benchmark; it must not hold another.")],
    preferences: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", parser=path_or_address, help="Table of people's choices, if rows are outputs."),
    ] = None,
    task: Annotated[str, typer.Option(metavar="COLUMN", help="Column that tells tasks apart.")] = "",
    winner: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the better output.")] = "",
    generated: Annotated[
        bool, typer.Option("--generated", help="Call the figures generated, as outputs or labels are made up.")
    ] = False,
) -> None:
    """Make a benchmark of pairs of outputs that people compared.

    A row is a pair (task, system_a, output_a, system_b, output_b, winner), or an output of one system (task, system,
    output); then --preferences has the choices (task, system_a, system_b, winner), and without it every two systems
    are paired on each task. A winner is a, b, tie or the name of a system; a column such as `rater` tells people apart.
    """
    from misstep.analysis.labels.pair_table import PairColumns, read_pair_table
    from misstep.studies.judging.pair_benchmark import write_pairs

    table = read_pair_table(file, preferences, PairColumns(task, winner))
    say_remarks(table.remarks, path_text(file))
    write_pairs(table, out, "generated" if generated else "real")
    tasks = len({pair.key for pair in table.pairs})
    counted = f"{len(table.pairs):,} pairs of {tasks:,} tasks, {len(table.gold):,} labels"
    print(f"{counted}; go on with: misstep judge run JUDGE --benchmark {out} --out RUN")
