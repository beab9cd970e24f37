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
