"""`misstep benchmark make`: a benchmark folder from labelled sessions, from pairs of outputs or from interventions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.options.agreement import OF_GOLD, LabelOptions
from misstep.options.common import command_app, path_or_address, refuse_given, say_remarks
from misstep.options.hook import DRAWN, HookOptions
from misstep_harness.errors import UsageError
from misstep_harness.places import path_text
from misstep_harness.progress import say

app = command_app(has_commands=True)


@app.callback()
def benchmark() -> None:
    """Make benchmarks for judges."""


Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCE...",
        parser=path_or_address,
        help="Files and folders with sessions; a table of labelled texts or of pairs; a run of `experiment run`.",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=path_or_address,
        help="Labels of people, as for `misstep agreement`; of a table with an output a row, people's choices.",
    ),
]
Kind = Annotated[
    Literal["misbehaviour", "triage", "text", "pair", "recovery"],
    typer.Option(
        help="Kind of the items: text is the last message of the agent, pair two outputs of a task, recovery an "
        "intervention."
    ),
]
_ARMS = ("arm_share", "arm_by", "experiment")
_LABEL_COLUMNS = ("item", "label")
_TABLES = (".csv", ".tsv", ".xlsx")
_OF_RATINGS = ("rater", "keep", "raters_in", "missing")


@app.command()
def make(
    context: typer.Context,
    sources: Sources,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the benchmark; it must not hold another.")],
    kind: Kind = "misbehaviour",
    labels: Labels = None,
    generated: Annotated[
        bool, typer.Option("--generated", help="Call figures on pairs generated, as outputs or labels are made up.")
    ] = False,
    *,
    reading: Annotated[LabelOptions, OF_GOLD],
    drawn: Annotated[HookOptions, DRAWN],
) -> None:
    """Make a benchmark of sessions, pairs of outputs or interventions.

    A table (.csv, .tsv, .xlsx) with a text and people's labels in each row is a benchmark of texts by itself; --label
    names the column of the labels.

    Sessions need the labels of people. Items are named by the ids of the sessions, as `misstep classify --json` has
    them. Sessions without a label stay in the benchmark: a judge is asked about them, and no score counts them.

    With --kind pair SOURCE is one table: CSV, TSV, .xlsx, JSON or JSON Lines; - is standard input. A row is a pair
    (task, system_a, output_a, system_b, output_b, winner), or an output of one system (task, system, output); then
    --labels has the choices (task, system_a, system_b, winner), and without it every two systems are paired on each
    task. A winner is a, b, tie or the name of a system; a column such as `rater` names the people. --item names the
    column of the tasks, --label that of the better output.

    With --kind recovery SOURCE is a run of `experiment run`, or your own sessions, as in `experiment report`; an item
    is one intervention. In an experiment the gold label says whether the planted misbehaviour ended for good within 15
    steps after the agent heard it. In your own sessions it is each detected misbehaviour, and nobody knows its label.
    """
    from misstep.judge.gold_labels import pairs_benchmark, texts_benchmark

    if kind == "pair":
        refuse_given(context, (*_OF_RATINGS, *_ARMS), "the items are pairs of outputs")
        made = pairs_benchmark(sources, labels, out, reading, "generated" if generated else "real")
    elif kind == "recovery":
        refuse_given(context, ("labels", "generated", *_LABEL_COLUMNS, *_OF_RATINGS), "the items are interventions")
        made = _recoveries(sources, out, drawn)
    elif labels is None and len(sources) == 1 and sources[0].suffix.lower() in _TABLES:
        refuse_given(context, ("kind", "generated", *_OF_RATINGS, *_ARMS), "the items are the rows of a table")
        made = texts_benchmark(sources[0], out, reading)
    else:
        refuse_given(context, ("generated", *_ARMS), "the items are sessions")
        made = _sessions(sources, labels, out, kind, reading)
    judge = "recovery@rule" if kind == "recovery" else "JUDGE"
    print(f"{made}; go on with: misstep judge run {judge} --benchmark {out} --out RUN")


def _sessions(
    sessions: Sequence[Path],
    labels: Path | None,
    out: Path,
    kind: Literal["misbehaviour", "triage", "text"],
    reading: LabelOptions,
) -> str:
    from misstep.judge.gold_labels import add_gold, gold_from
    from misstep_harness.runs.judging.session_benchmark import session_benchmark

    if labels is None:
        raise UsageError("sessions without labels", "Name people's labels with --labels.")
    if (out / "gold.csv").exists():
        raise UsageError(f"{out} holds a benchmark", "Name another folder with --out.")
    rows, remarks = gold_from(labels, reading.gold_reading())
    say_remarks(remarks, path_text(labels))
    label_names = dict.fromkeys(sorted({row.label for row in rows}), "")
    folder = session_benchmark(kind, label_names, sessions, out)
    count = add_gold(folder, rows, labels)
    if lost := len(rows) - count:
        say(f"misstep: {lost:,} of {len(rows):,} labels are of no session that was read; they are left out.")
    return f"{count:,} labels"


def _recoveries(paths: Sequence[Path], out: Path, drawn: HookOptions) -> str:
    from misstep_analysis.observer.experiments.own_sessions_report import write_own_benchmark
    from misstep_analysis.observer.experiments.recovery_benchmark import LABELS, write_recovery_benchmark
    from misstep_analysis.observer.experiments.report import is_planted, open_experiment

    if len(paths) == 1 and is_planted(paths[0]):
        count = write_recovery_benchmark(open_experiment(paths[0]).sessions, out)
    else:
        count = write_own_benchmark(paths, out, drawn.assignment(), LABELS)
    return f"{count:,} interventions"
