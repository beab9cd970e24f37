"""`misstep report`: one HTML page for one or several runs."""

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.options.common import BenchmarkFolder, Data, Json, command_app, path_alone, write_page
from misstep.options.gate import ABOVE, GateOptions
from misstep.runs.report_sessions import report_sessions
from misstep_analysis.runs.kind import Choice, kind_in
from misstep_harness.errors import UsageError
from misstep_harness.journal.opened import check_named_once
from misstep_harness.journal.records import REPORT

app = command_app()

_COMPARED = 2


Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN…",
        parser=path_alone,
        help="Folders of runs of `judge run`, `repair run` or `reflect run`, one or two of `classify`, or one of "
        "`observe`.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="F.html",
        help="The HTML page; by default report.html in the first run's folder, for compared runs of `classify` "
        "comparison.html, with --by of one run by_project.html and the like.",
    ),
]
By = Annotated[
    Literal["project", "model", "agent", "week"] | None,
    typer.Option(help="Fact by which the sessions of a run of `classify` are grouped."),
]
Compare = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="A B",
        help="Two groups of one run's sessions to compare, with --by: two weeks, or two spans such as "
        "2026-W05..2026-W08.",
    ),
]


@app.command()
def report(
    runs: Runs,
    out: Out = None,
    by: By = None,
    compare: Compare = None,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    json: Json = False,
    *,
    limits: Annotated[GateOptions, ABOVE],
) -> None:
    """Write one HTML page for one or several runs of judges, with their scores, comparisons and every item.

    For judges of triage the page says first whose fault the runs are, and shows the evidence of each verdict.

    For runs of `misstep repair run` the page shows solve rates and every attempt with its patch and trajectory. For
    runs of `misstep reflect run` it shows what each mechanism did, and of one run every item over time. For a run of
    `misstep classify` it shows the share of each category, by project and week, and every flagged session. Two runs of
    `misstep classify`, such as before and after or of two models, are compared: the change of each category with its
    interval and test, and what only the second run flags. One run's weeks or other groups are compared in the same way
    with --by and --compare. With --fail-on a change beyond a limit is exit code 1: 'any.change>2%', or
    'any.change.lower>0' for one whose whole interval is a rise. The command prints the page's path; with --json it
    prints the figures of runs of `classify`, and writes a page only where --out names it.
    """
    gates = limits.gates()
    known = [kind_in(run) for run in dict.fromkeys(runs)]
    opened = [run for _, run in known]
    kinds = {type(kind): kind for kind, _ in known}
    kind = next(iter(kinds.values())) if len(kinds) == 1 else None
    named = {"--out": out, "--by": by, "--benchmark": benchmark, "--data": data}
    options = [part for option, value in named.items() if value for part in (option, str(value))]
    again = shlex.join(["misstep", "report", *map(str, runs), *options, *(("--compare", *compare) if compare else ())])
    pair = len(runs) == _COMPARED
    if compare and (pair or by is None):
        raise UsageError("--compare is for the groups of one run", "Name one run of `misstep classify`, and --by.")
    if by is not None and len(runs) > 1:
        raise UsageError("--by is for the groups of one run", "Name one run of `misstep classify`.")
    if gates and not (pair or compare):
        raise UsageError("--fail-on is for a change", "Name two runs of `misstep classify`, or --by and --compare.")
    if kind and kind.by_category and (pair or by is not None):
        changes = report_sessions(opened, by, compare, out, again, json=json)
        return limits.settle(gates, changes, "misstep report")
    if by or json or gates:
        raise UsageError(
            "--by, --fail-on and --json are for runs of `misstep classify`",
            "Name two, or one with --by. `judge compare` and `repair report` have --json of their own.",
        )
    if kind is None or not kind.has("figures") or (kind.shown_alone and len(runs) > 1):
        listed = ", ".join(f"{run.folder} of `misstep {run.manifest.command}`" for run in opened)
        raise UsageError(
            f"one page cannot show these runs together: {listed}",
            "Name runs of `judge run`, `repair run` or `reflect run`, one or two of `classify`, or one of `observe`.",
        )
    check_named_once(runs)
    html = kind.page([kind.open(run, Choice(benchmark, data)) for run in opened], again)
    target = out or runs[0] / REPORT
    write_page("--out", target, html)
    print(target)
    return None
