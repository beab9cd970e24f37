"""`misstep judge check`: how far judges can be trusted, by a table of labels, or by a run and people's labels."""

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer
from msgspec.structs import replace

from misstep.judge.import_verdicts import mapping
from misstep.judge.options import print_scores
from misstep.options.agreement import LabelOptions
from misstep.options.common import (
    BenchmarkFolder,
    Html,
    Json,
    Seed,
    json_text,
    path_or_address,
    refuse_given,
    say_remarks,
    this_line,
    write_file,
)
from misstep.options.gate import BELOW, GateOptions
from misstep.options.groups import Only, OptionGroup
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.places import path_text
from misstep_harness.progress import say

File = Annotated[
    Path,
    typer.Argument(
        metavar="RESULTS|RUN",
        parser=path_or_address,
        help="Table with an item a row: CSV, TSV, .xlsx, JSON or JSON Lines; - is standard input. Or a judge's run.",
    ),
]
Label = Annotated[
    list[str] | None,
    typer.Option(
        metavar="THEIRS=OURS",
        help="Label of a judge and the people's label for it; repeatable. With --labels the column of the labels, or"
        " the question.",
    ),
]


class RunOptions(OptionGroup, frozen=True):
    """The labels of people that a run is scored by."""

    panel = "Labels for a run"
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|STUDY",
            parser=path_or_address,
            help="File as for `misstep agreement`, or folder of a study of `misstep annotate`.",
        ),
    ] = None
    benchmark: BenchmarkFolder = ""


_OF_A_FILE = ("rater", "keep", "missing")
_FOR_RUNS = {"labels", "benchmark", *_OF_A_FILE}
_FOR_TABLES = {"judge", "human", "positive", "by", "score", "cluster", "level", "seed", "html", "benchmark_out"}


def check(
    context: typer.Context,
    file: File,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column of a judge's labels; repeatable.")
    ] = None,
    human: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column of a person's labels; repeatable.")
    ] = None,
    positive: Annotated[str, typer.Option(metavar="LABEL", help="Label that counts as positive.")] = "",
    by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column of groups to look at one by one; repeatable.")
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[JUDGE=]COLUMN",
            help="Column of the judge's certainty, from 0 to 1; repeatable for several judges.",
        ),
    ] = None,
    item: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the items' ids.")] = "",
    cluster: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column that identifies clusters, such as a session.")
    ] = "",
    label: Label = None,
    level: Annotated[
        Literal["nominal", "ordinal"] | None,
        typer.Option(help="Level of the labels: names or grades; by default more than two whole numbers are grades."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    html: Html = None,
    benchmark_out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="New folder for the table's texts and labels as a benchmark.")
    ] = None,
    *,
    run: RunOptions,
    reading: Annotated[LabelOptions, Only(*_OF_A_FILE)],
    limits: Annotated[GateOptions, BELOW],
) -> None:
    """Check judges by a table of their labels and people's.

    A sentence says how often a judge is right and whether always saying the commoner label would do as well; then come
    the rates, the direction of its errors, its calibration if it has scores, and the groups of --by. Several judges are
    compared with Holm's correction. Columns are recognised by their names; where these leave a choice, you are asked.

    An empty cell of a judge is a missing answer and counts as wrong; a row that no person labelled is not counted.
    Labels are compared without letter case. Grades get weighted kappa (quadratic), the share within one grade and a
    rank correlation.

    Labels of the items of a RUN are kept in its benchmark, and score the run and its page: precision, recall, and the
    share of the positive label put right for the judge's errors.
    """
    from misstep.judge.gold_labels import label_run
    from misstep_analysis.judging.checked_table import CheckedTable
    from misstep_analysis.judging.scored import kept_figures
    from misstep_analysis.labels.judged_table import JudgedColumns, read_judged_table

    gates = limits.gates()
    if file.is_dir():
        refuse_given(context, _FOR_TABLES, f"{file} is not a table")
        if run.labels is None:
            raise UsageError(f"{file} is a folder", "Name the labels of a judge's run with --labels.")
        people = replace(reading, item=item, label=",".join(label or ())).gold_reading()
        benchmark, remarks = label_run(file, run.labels, people, run.benchmark)
        say_remarks(remarks, path_text(run.labels))
        print_scores(file, benchmark, json=json)
        limits.settle(gates, kept_figures(file), "misstep judge check")
        return
    refuse_given(context, _FOR_RUNS, f"{file} is a table, not a run")
    columns = JudgedColumns(judge or (), human or (), score or (), item, cluster, by or (), level)
    checked = CheckedTable(read_judged_table(file, columns, mapping(label or [])), positive, seed)
    say_remarks(checked.remarks, checked.table.file)
    print(json_text(checked.document()) if json else checked.text())
    if html is not None:
        write_file("--html", html, checked.page(this_line()))
    if benchmark_out is not None:
        checked.write_benchmark(benchmark_out)
        line = shlex.join(["misstep", "judge", "run", "JUDGE", "--benchmark", str(benchmark_out), "--out", "RUN"])
        say(f"misstep: the texts are a benchmark; another judge is measured on it by: {plain(line)}")
    limits.settle(gates, checked.figures(), "misstep judge check")
