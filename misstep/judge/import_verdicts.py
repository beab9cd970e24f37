"""`misstep judge import`: verdicts that another tool wrote become a run like any other."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.judge import options
from misstep.options.common import Data, path_or_address, say_remarks
from misstep.options.run_folders import exit_unless_whole
from misstep_harness.errors import UsageError

PathOption = Annotated[
    Path,
    typer.Argument(
        metavar="FILE|FOLDER",
        parser=path_or_address,
        help="CSV or JSON Lines with item and label, or results of a tool.",
    ),
]
Label = Annotated[
    list[str] | None,
    typer.Option(metavar="THEIRS=OURS", help="Label of the file and the benchmark's label for it; repeatable."),
]


def import_verdicts(
    path: PathOption,
    benchmark: Annotated[str, typer.Option(help="Folder of the benchmark, or the name of a public data set.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    judge: Annotated[
        str, typer.Option(help="Judge to take, if the file has several; the judge's name, if the file has none.")
    ] = "",
    label: Label = None,
    item: Annotated[
        str, typer.Option(metavar="FIELD", help="Field with the ids of the benchmark, if the tool has ids of its own.")
    ] = "",
    attempt: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Attempt to take, if items have several: epochs, or prompts of promptfoo."
        ),
    ] = 1,
    data: Data = None,
    json: options.ScoresAsJson = False,
) -> None:
    """Import the verdicts of another tool as a run.

    The file is recognised by its content. A table has the columns item and label, and may have judge, score, reason and
    model; cells are separated by comma, semicolon or tab. The score is the judge's certainty of its label, from 0 to 1.

    Results of other tools are read as they are: Inspect eval logs, samples of the LM Evaluation Harness, results of
    promptfoo, evaluations of Phoenix, jobs of Harbor, row scores of NeMo Evaluator and scans of Inspect Scout. Each
    scorer, metric, assertion, evaluation, reward or scanner is a judge. Grades that they count for an answer that could
    not be read are found and named.

    An answer that is not a label of the benchmark counts as unreadable, and an item without a verdict as failed. Then
    `judge compare`, `judge calibrate` and `report` work on the run. The exit code is 1 where items
    failed or are unreadable.
    """
    import sys

    from misstep_analysis.gold import check_gold, item_ids
    from misstep_harness.benchmarks.folders import benchmark_named
    from misstep_harness.clients import ClientSettings
    from misstep_harness.items import read_question
    from misstep_harness.runs.judging.judge import run_judge
    from misstep_harness.runs.judging.judge_import import ImportChoice, imported_judge

    folder = benchmark_named(benchmark, data)
    check_gold(folder, read_question(folder).labels, item_ids(folder))
    imported = imported_judge(path, folder, ImportChoice(judge, mapping(label or []), item, attempt))
    say_remarks(imported.remarks)
    ended = run_judge(imported.judge, folder, out, ClientSettings(), arguments=sys.argv[1:])
    options.print_scores(out, folder, json=json)
    exit_unless_whole(ended)
    if ended.failed or any(one.status == "unreadable" for one in imported.judge.verdicts.values()):
        raise typer.Exit(1)


def mapping(texts: list[str]) -> dict[str, str]:
    """Return the labels of the file → those of the benchmark."""
    mapping: dict[str, str] = {}
    for one in texts:
        theirs, equals, ours = one.rpartition("=")
        if not equals or not theirs or not ours:
            raise UsageError(f"--label {one}: expected THEIRS=OURS", "Write it as --label fail=yes.")
        if mapping.setdefault(theirs, ours) != ours:
            raise UsageError(f"--label {one}: {theirs!r} means {mapping[theirs]!r} already", "Map each label once.")
    return mapping
