"""`misstep annotate`: raters label cases blind to each other, reconcile what they dispute, and are measured."""

import getpass
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.options.agreement import Boot, names
from misstep.options.annotation import LabellingOptions
from misstep.options.common import (
    Html,
    Json,
    Seed,
    command_app,
    json_text,
    path_alone,
    refuse_given,
    say_remarks,
    this_line,
    write_file,
)
from misstep.options.groups import names_of
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_analysis.annotation.plan import AnnotationPlan
    from misstep_analysis.annotation.study import Cases

app = command_app()

_MEASURING = {"out", "boot", "json", "html"}


@app.command()
def annotate(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="CASES|STUDY",
            parser=path_alone,
            help="Cases to label: anything that `misstep triage` reads, a benchmark, a judge's run or curated runs;"
            " or a study, to measure.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for labels, consensus and history of a study.")
    ] = None,
    boot: Boot = 10_000,
    seed: Seed = 0,
    json: Json = False,
    html: Html = None,
    *,
    labelling: LabellingOptions,
) -> None:
    """Label cases on pages for this machine alone, and measure how far raters agree.

    Each rater has an address. All label the calibration set first and then compare. Then each labels the other cases
    alone, in an order of their own, and nobody sees gold labels or what others or judges said. Cases in dispute show
    every label and note, and each rater decides again; the blind labels stay. An answer is on disk before the page says
    so. Ctrl-C stops the server, and the same line goes on.

    Of a STUDY, finished or not, the agreement of the blind labels is measured, then who differs where, which way, and
    what reconciliation changed. DIR gets labels.csv for `misstep agreement`, gold.csv with the consensus for a
    benchmark, and history.csv with every answer.

    \b
    misstep annotate cases --study study --raters ann,ben,cho
    misstep annotate harbor/jobs/first --sample 20 --study study
    misstep annotate study --out labels
    misstep annotate mine --sample 50 --study study
    misstep judge check mine --labels study
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep_analysis.annotation.study import is_study

    if is_study(path):
        refuse_given(context, names_of(LabellingOptions), f"{path} is a study, and is measured")
        _measure(path, out, boot, seed, json=json, html=html)
        return
    from misstep.annotate.cases import open_cases, tasks_csv
    from misstep_analysis.annotation.plan import drawn, planned

    refuse_given(context, _MEASURING, f"{path} is not a study, and is labelled")
    with tempfile.TemporaryDirectory(prefix="misstep-") as written:
        cases = open_cases(path, Path(written), labelling.benchmark)
        ids = drawn(cases.ids, labelling.sample, seed)
        if labelling.tasks is not None:
            write_file("--tasks", labelling.tasks, tasks_csv(cases, ids))
            take = "agreement" if cases.folder == path else f"judge check {shlex.quote(str(path))} --labels"
            go_on = f"misstep {take} EXPORT --item item"
            print(f"{labelling.tasks}: {len(ids):,} items; label them in your tool, then go on with: {go_on}")
            return
        if labelling.study is None:
            raise UsageError("--study is missing", "Name the folder that the answers are to go to.")
        raters = names(labelling.raters, "--raters") or [getpass.getuser()]
        _serve(labelling.study, planned(ids, raters, labelling.calibration, seed, cases.labels), cases, labelling.port)


def _serve(study: Path, plan: "AnnotationPlan", cases: "Cases", port: int) -> None:
    import asyncio

    from misstep_analysis.annotation.server import Pages, serve
    from misstep_analysis.annotation.study import AnnotationStudy, Server

    command = shlex.join(["misstep", *sys.argv[1:]])
    with AnnotationStudy(study, plan, cases, sys.argv[1:]) as running:

        def ready(server: Server, pages: Pages) -> None:
            running.serves(server)
            width = max(map(len, plan.raters))
            for rater in plan.raters:
                print(f"{plain(rater):<{width}}  http://127.0.0.1:{server.port}{pages.address(rater)}", flush=True)
            say(f"misstep: {len(plan.items):,} cases; Ctrl-C stops the server, and the same line goes on.")

        try:
            asyncio.run(serve(running, running.server(port), command, ready))
        except OSError as error:
            busy = port or running.server(0).port
            raise UsageError(f"--port {busy}: {error.strerror}", "Name another one, or stop what has it.") from error
        except KeyboardInterrupt:
            state = running.state
            answers = f"{len(state.answers):,} answers are in {plain(str(study))}"
            say(f"misstep: stopped in the phase {state.phase}; {answers}.")
            raise typer.Exit(0 if state.finished else 130) from None


def _measure(study: Path, out: Path | None, boot: int, seed: int, *, json: bool, html: Path | None) -> None:
    from misstep_analysis.annotation.export import document, measured, write_export
    from misstep_analysis.annotation.page import result_page, result_text
    from misstep_analysis.annotation.study import read_study
    from misstep_analysis.pages.page import Foot

    state, manifest = read_study(study)
    measures = measured(state, boot, seed)
    source = f"{study.name}, {len(state.answers):,} answers"
    remarks = () if state.finished else (state.unfinished,)
    say_remarks(remarks)
    if out is not None:
        write_export(state.study, measures, out)
        say(f"misstep: labels, consensus, gold labels and history are in {plain(str(out))}.")
    if html is not None:
        foot = Foot(this_line(), inputs=(f"{source}, on the cases of {Path(manifest.folder).name}",), seed=seed)
        write_file("--html", html, result_page(state.study, measures, source, foot, remarks))
    print(json_text(document(state, measures)) if json else result_text(state.study, measures, source).rstrip("\n"))
