"""`misstep report`: one HTML page for one or several runs."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from harness.errors import InputError, UsageError
from harness.journal.records import MANIFEST, REPORT, Manifest, read_manifest
from misstep.options import BenchmarkFolder, Data, command_app
from misstep.pages import write_page

app = command_app()

_JUDGED = "judge run"
_CLASSIFIED = "classify"
_REPAIRED = "repair run"


@app.command()
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Folders of runs of `judge run` or of `repair run`, or one folder of `classify --out`."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="F.html", help="The HTML page; by default report.html in the first run's folder."),
    ] = None,
    benchmark: BenchmarkFolder = "",
    data: Data = None,
) -> None:
    """Write one HTML page for one or several runs of judges, with their scores, comparisons and every item.

    For runs of `misstep repair run` the page shows solve rates and every attempt with its patch and trajectory, for a
    run of `misstep classify` the share of each category, by project and week, and every flagged session. The command
    prints the page's path.
    """
    manifests = {run: _manifest(run) for run in runs}
    commands = {manifest.command for manifest in manifests.values()}
    given = {"--out": out, "--benchmark": benchmark, "--data": data}
    options = [part for option, value in given.items() if value for part in (option, str(value))]
    again = shlex.join(["misstep", "report", *map(str, runs), *options])
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
    else:
        listed = ", ".join(f"{run} of `misstep {manifest.command}`" for run, manifest in manifests.items())
        raise UsageError(
            f"one page cannot show these runs together: {listed}",
            "Name runs of `misstep judge run`, runs of `misstep repair run`, or one run of `misstep classify`.",
        )
    target = out or runs[0] / REPORT
    write_page("--out", target, written)
    print(target)


def _manifest(run: Path) -> Manifest:
    manifest = read_manifest(run)
    if manifest is None:
        raise InputError(f"there is no {MANIFEST}", "Name the folder of a run.", file=run)
    return manifest
