"""`misstep pass`: pass@k, pass^k and flicker of repeated attempts, and systems compared on the same tasks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.options.common import (
    Html,
    Json,
    Seed,
    command_app,
    json_text,
    path_or_address,
    say_remarks,
    this_line,
    write_page,
)
from misstep.options.run_folders import K, Threshold, numbers_of_attempts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from misstep_analysis.passing.attempts import PassAttempts

app = command_app()


Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="CSV|RUN…",
        parser=path_or_address,
        help="Files of attempts (CSV, TSV, .xlsx, JSON or JSON Lines; - is standard input), or folders of runs of"
        " `repair run`.",
    ),
]


@app.command(name="pass")
def passing(
    paths: Paths,
    k: K = "1,2,4",
    threshold: Threshold = None,
    boot: Annotated[
        int, typer.Option(min=100, metavar="N", help="Number of bootstrap resamples of tasks for an interval.")
    ] = 10_000,
    seed: Seed = 0,
    json: Json = False,
    html: Html = None,
) -> None:
    """Measure pass@k, pass^k and flicker of repeated attempts.

    pass@k is the chance that one of k attempts at a task passes, pass^k the chance that all of k do. A task flickers if
    it passes in some attempts and fails in others.

    A file has one attempt per row in the columns task and passed, and if there are several systems the column
    system; a column attempt numbers the attempts. Or it has one task per row in the columns task, n and c: c of n
    attempts passed. An outcome is yes or no, true or false, 1 or 0, pass or fail, passed or failed. An empty or
    unreadable outcome is counted and named, and is not a failure: figures are given over the attempts with an outcome,
    and again with the others as failed. The exit code is 1 if an outcome is unreadable.

    \b
    misstep pass attempts.csv
    misstep pass attempts.csv --k 1,3,5 --html page.html
    misstep pass rewards.jsonl --threshold 0.5 --json
    misstep pass run-1 run-2
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep_analysis.passing.attempts import described, open_attempts
    from misstep_analysis.passing.scores import pass_report

    attempts = open_attempts(paths, threshold, _attempts_of_runs)
    say_remarks(attempts.remarks)
    findings = pass_report(attempts, numbers_of_attempts(k), boot, seed)
    if html is not None:
        from misstep_analysis.passing.scores import passes_page

        write_page("--html", html, passes_page(findings, described(paths), this_line()))
    if json:
        print(json_text(findings))
    else:
        from misstep_analysis.passing.scores import passes_text

        print(passes_text(findings), end="")
    if any(one.unreadable for one in findings.systems):
        raise typer.Exit(1)


def _attempts_of_runs(folders: "Sequence[Path]") -> "Iterable[PassAttempts]":
    if not folders:
        return ()
    from misstep_analysis.repair.recorded_runs import attempts_of_runs, open_repair_runs

    return attempts_of_runs(open_repair_runs(folders))
