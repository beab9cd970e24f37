"""`misstep judge check`: a table of labels of judges and of people in, how far the judges can be trusted out."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.judge.import_verdicts import mapping
from misstep.options.common import Html, Json, Seed, json_text, path_or_address, say_remarks, this_line, write_file
from misstep.options.gate import BELOW, GateOptions

File = Annotated[
    Path,
    typer.Argument(
        metavar="RESULTS",
        parser=path_or_address,
        help="Table with an item a row: CSV, TSV, .xlsx, JSON or JSON Lines; - is standard input.",
    ),
]
Label = Annotated[
    list[str] | None,
    typer.Option(metavar="THEIRS=OURS", help="Label of a judge and the people's label for it; repeatable."),
]


def check(
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
        str, typer.Option(metavar="COLUMN", help="Column of what rows hang together by, such as a session.")
    ] = "",
    label: Label = None,
    level: Annotated[
        Literal["nominal", "ordinal"] | None,
        typer.Option(help="Level of the labels: names or grades; by default more than two whole numbers are grades."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    html: Html = None,
    *,
    limits: Annotated[GateOptions, BELOW],
) -> None:
    """Check judges by a table of their labels beside people's.

    A sentence says how often a judge is right and whether always saying the commoner label would do as well; then come
    the rates, the direction of its errors, its calibration if it has scores, and the groups of --by. Several judges are
    compared with Holm's correction. Columns are recognised by their names; where these leave a choice, you are asked.

    An empty cell of a judge is a missing answer and counts as wrong; a row that no person labelled is not counted.
    Labels are compared without letter case. Grades get weighted kappa (quadratic), the share within one grade and a
    rank correlation.
    """
    from misstep.analysis.labels.judged_table import JudgedColumns, read_judged_table
    from misstep.studies.judging.checked_table import CheckedTable

    gates = limits.gates()
    columns = JudgedColumns(judge or (), human or (), score or (), item, cluster, by or (), level)
    checked = CheckedTable(read_judged_table(file, columns, mapping(label or [])), positive, seed)
    say_remarks(checked.remarks, checked.table.file)
    print(json_text(checked.document()) if json else checked.text())
    if html is not None:
        write_file("--html", html, checked.page(this_line()))
    limits.settle(gates, checked.figures(), "misstep judge check")
