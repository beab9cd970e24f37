"""`misstep report`: one HTML page for one or several runs."""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.errors import UsageError
from harness.journal.records import REPORT, Manifest
from harness.runs.standing_runs import manifest_of
from misstep.options import BenchmarkFolder, Data, Json, command_app, path_alone
from misstep.pages import write_page

if TYPE_CHECKING:
    from analysis.measures.session_rates import Grouping

app = command_app()

_JUDGED = "judge run"
_CLASSIFIED = "classify"
_REPAIRED = "repair run"
_OBSERVED = "observe"
_REFLECTED = "reflect run"
_COMPARED = 2


@app.command()
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…",
            parser=path_alone,
            help="Folders of runs of `judge run`, `repair run` or `reflect run`, one or two of `classify`, or one of "
            "`observe`.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="F.html",
            help="The HTML page; by default report.html in the first run's folder, for compared runs of `classify` "
            "comparison.html, with --by of one run by_project.html and the like.",
        ),
    ] = None,
    by: Annotated[
        Literal["project", "model", "agent", "week"] | None,
        typer.Option(help="Fact by which the sessions of runs of `classify` are grouped."),
    ] = None,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
    json: Json = False,
) -> None:
    """Write one HTML page for one or several runs of judges, with their scores, comparisons and every item.

    For judges of triage the page says first whose fault the runs are, and shows the evidence of each verdict.

    For runs of `misstep repair run` the page shows solve rates and every attempt with its patch and trajectory. For
    runs of `misstep reflect run` it shows what each mechanism did, and of one run every item over time. For a run of
    `misstep classify` it shows the share of each category, by project and week, and every flagged session. Two runs of
    `misstep classify`, such as before and after or of two models, are compared: the change of each category with its
    interval and test, and with --by the changes within each group. The command prints the page's path; with --json it
    prints the figures of runs of `classify`, and writes a page only where --out names it.
    """
    manifests = {run: _manifest(run) for run in runs}
    commands = {manifest.command for manifest in manifests.values()}
    given = {"--out": out, "--by": by, "--benchmark": benchmark, "--data": data}
    options = [part for option, value in given.items() if value for part in (option, str(value))]
    again = shlex.join(["misstep", "report", *map(str, runs), *options])
    compare = len(runs) == _COMPARED
    if commands == {_CLASSIFIED} and (compare or (by is not None and len(runs) == 1)):
        return _report_sessions(manifests, by, out, again, compare=compare, json=json)
    if by or json:
        raise UsageError(
            "--by and --json are for runs of `misstep classify`",
            "Name two, or one with --by. `judge compare` and `repair report` have --json of their own.",
        )
    if commands == {_JUDGED}:
        from studies.judged_runs import open_runs
        from studies.judging.report import report_html

        written = report_html(open_runs(runs, benchmark, data), command=again)
    elif commands == {_REPAIRED}:
        from studies.repair_report import repairs_html
        from studies.repair_runs import open_repair_runs

        written = repairs_html(open_repair_runs(runs), command=again)
    elif commands == {_CLASSIFIED} and len(runs) == 1:
        from studies.classified_paths import classified_page

        written = classified_page(runs[0])
    elif commands == {_OBSERVED} and len(runs) == 1:
        from studies.observed_paths import page_of_observed

        written = page_of_observed(runs[0])
    elif commands == {_REFLECTED}:
        from studies.reflexive.report import reflections_html
        from studies.reflexive.runs import open_reflexive_runs

        written = reflections_html(open_reflexive_runs(runs), again)
    else:
        listed = ", ".join(f"{run} of `misstep {manifest.command}`" for run, manifest in manifests.items())
        raise UsageError(
            f"one page cannot show these runs together: {listed}",
            "Name runs of `judge run`, `repair run` or `reflect run`, one or two of `classify`, or one of `observe`.",
        )
    target = out or runs[0] / REPORT
    write_page("--out", target, written)
    print(target)
    return None


def _report_sessions(
    manifests: dict[Path, Manifest], by: "Grouping | None", out: Path | None, again: str, *, compare: bool, json: bool
) -> None:
    """Compare two runs of `classify`, or show one of them by groups."""
    from studies.compared_sessions import compared_runs, comparison_json, comparison_page, rates_json, rates_page

    first = next(iter(manifests))
    if by is not None and not compare:
        name, figures = f"by_{by}.html", partial(rates_json, first, manifests[first], by)
        written = partial(rates_page, first, manifests[first], by, again)
    else:
        compared = compared_runs(manifests, by)
        name, figures = "comparison.html", partial(comparison_json, compared)
        written = partial(comparison_page, compared, manifests, again)
    if out or not json:
        write_page("--out", out or first / name, written())
    print(figures() if json else f"{out or first / name}\n", end="")


def _manifest(run: Path) -> Manifest:
    return manifest_of(run, "Name the folder of a run.")
