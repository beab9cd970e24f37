"""`misstep watch`: a run of `classify` that goes on as sessions come in."""

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from misstep.classify.findings import classified_findings
from misstep.classify.options import Categories
from misstep.options.common import command_app, path_alone
from misstep.options.run_folders import stopped_with
from misstep_analysis.sessions.findings import finding_line, first_line
from misstep_harness.classifiers import chosen_categories, classify_all
from misstep_harness.errors import NoTrajectory
from misstep_harness.escaping import plain
from misstep_harness.journal.classified import SessionFinding
from misstep_harness.places import cache_folder
from misstep_harness.progress import say
from misstep_harness.runs.classify import ClassifyPlan

app = command_app()

_DIGITS = 16


@app.command()
def watch(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", parser=path_alone, help="Files and folders with sessions.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Folder of the run, as for `misstep classify`; by default in the cache."),
    ] = None,
    categories: Categories = "",
    every: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="Time between two looks.")] = 60,
) -> None:
    """Look for new and changed sessions again and again, and print what the rules find in them.

    The run and its page are brought up to date each time, as `misstep classify PATH --out RUN` does it. Ctrl-C ends it.
    """
    plan = ClassifyPlan(chosen_categories(categories), classify_all)
    out = out or _own_folder(paths, plan.categories)
    pause = threading.Event()
    with stopped_with(f"the page is {out}/report.html, and the same line goes on"):
        watch_sessions(paths, plan, out, tell=_print_finding, wait=lambda: pause.wait(every))


def _own_folder(paths: Sequence[Path], categories: Sequence[str]) -> Path:
    """Return the folder in the cache for the run of these paths and categories."""
    key = hashlib.sha256(
        "\0".join((*map(os.fsdecode, map(Path.resolve, paths)), *categories)).encode("utf-8", "surrogateescape")
    )
    return cache_folder() / "watched" / key.hexdigest()[:_DIGITS]


def _print_finding(finding: SessionFinding) -> None:
    print(f"{plain(finding.category)}  {finding_line(finding)}", flush=True)


def watch_sessions(
    paths: Sequence[Path],
    plan: ClassifyPlan,
    out: Path,
    *,
    tell: Callable[[SessionFinding], None],
    wait: Callable[[], object],
) -> None:
    """Bring a run of `classify` up to date again and again, without end, and tell each finding that is new in it."""
    plan = replace(plan, arguments=[*map(str, paths), "--out", str(out)])
    waiting, first = False, True
    while True:
        try:
            result = classified_findings(paths, plan, out, tell)
            if first or (result.new is not None and result.new.sessions):
                say(f"misstep: {first_line(result)}")
            first = False
        except NoTrajectory as error:
            if not waiting:
                say(f"misstep: {plain(error.line())} Waiting for the first session.")
            waiting = True
        wait()
