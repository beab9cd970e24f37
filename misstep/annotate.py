"""`misstep annotate`: several raters label cases blind to each other, reconcile what they dispute, and are measured."""

import getpass
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options.agreement import Boot, names
from misstep.options.common import Html, Json, Seed, command_app, json_text, say_remarks, this_line, write_file

app = command_app(has_commands=True)


@app.callback()
def annotate() -> None:
    """Label cases with several raters, and measure how far they agree."""


@app.command()
def serve(
    cases: Annotated[
        Path, typer.Argument(metavar="CASES", help="Folder of triage cases, or of a benchmark with items to label.")
    ],
    study: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the study; an earlier one goes on.")],
    raters: Annotated[str, typer.Option(metavar="A,B,C", help="Names of the raters, by default the user's.")] = "",
    calibration: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of cases that all label first and then compare; by default 5, or a quarter of fewer than 20.",
        ),
    ] = None,
    seed: Seed = 0,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="P", help="Port; 0 takes that of the last time, or a free one.")
    ] = 0,
) -> None:
    """Serve pages on which raters label cases, for this machine alone.

    Each rater has an address. All label the calibration set first and then see each other's labels beside the code
    book. Then each labels the other cases alone, in an order of their own, and nobody sees what others or judges said.
    In the end, cases in dispute show every label and note, and each rater decides again; the blind labels stay. Gold
    labels are never read.

    An answer is on disk before the page says so. Ctrl-C stops the server, and the same line goes on: an open page stays
    good.

    \b
    misstep annotate serve cases --study study --raters ann,ben,cho
    misstep annotate export study --out labels
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    import asyncio

    from misstep.studies.annotation.cases import open_cases
    from misstep.studies.annotation.plan import planned
    from misstep.studies.annotation.server import Pages
    from misstep.studies.annotation.server import serve as serve_study
    from misstep.studies.annotation.study import AnnotationStudy, Server

    opened = open_cases(cases)
    named = names(raters, "--raters") or [getpass.getuser()]
    plan = planned(opened.ids, named, calibration, seed, opened.labels)
    command = shlex.join(["misstep", *sys.argv[1:]])
    with AnnotationStudy(study, plan, opened, sys.argv[1:]) as running:

        def ready(server: Server, pages: Pages) -> None:
            running.serves(server)
            width = max(map(len, plan.raters))
            for rater in plan.raters:
                print(f"{plain(rater):<{width}}  http://127.0.0.1:{server.port}{pages.address(rater)}", flush=True)
            say(f"misstep: {len(plan.items):,} cases; Ctrl-C stops the server, and the same line goes on.")

        try:
            asyncio.run(serve_study(running, running.server(port), command, ready))
        except OSError as error:
            busy = port or running.server(0).port
            raise UsageError(f"--port {busy}: {error.strerror}", "Name another one, or stop what has it.") from error
        except KeyboardInterrupt:
            state = running.state
            answers = f"{len(state.answers):,} answers are in {plain(str(study))}"
            say(f"misstep: stopped in the phase {state.phase}; {answers}.")
            raise typer.Exit(0 if state.finished else 130) from None


@app.command()
def export(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="Folder of a study of `annotate serve`.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for labels, consensus and history.")] = None,
    boot: Boot = 10_000,
    seed: Seed = 0,
    json: Json = False,
    html: Html = None,
) -> None:
    """Measure how far the raters of a study agree, and write its labels.

    The agreement is that of blind labels. Then come the disagreements: between which labels, which way and by whom,
    with tests and intervals, and what reconciliation changed. DIR gets labels.csv, which `misstep agreement` reads,
    gold.csv with the consensus for a benchmark, and history.csv with every answer. A study may be measured before it is
    finished.

    \b
    misstep annotate export study --out labels --html study.html
    misstep agreement labels/labels.csv
    """  # noqa: D301 (the sign keeps the lines of the list as they are)
    from misstep.analysis.pages.annotation.result import result_page, result_text
    from misstep.analysis.pages.foot import Foot
    from misstep.studies.annotation.export import document, measured, write_export
    from misstep.studies.annotation.study import read_study

    state, manifest = read_study(study)
    measures = measured(state, boot, seed)
    source = f"{study.name}, {len(state.answers):,} answers"
    left = ", ".join(f"{rater} {len(state.left(rater)):,}" for rater in state.plan.raters if state.left(rater))
    unfinished = (
        f"The study is not finished, and its figures may change; cases left in the phase {state.phase}: {left}."
    )
    remarks = () if state.finished else (unfinished,)
    say_remarks(remarks)
    if out is not None:
        write_export(state.study, measures, out)
        say(f"misstep: labels, consensus, gold labels and history are in {plain(str(out))}.")
    if html is not None:
        foot = Foot(this_line(), inputs=(f"{source}, on the cases of {Path(manifest.folder).name}",), seed=seed)
        write_file("--html", html, result_page(state.study, measures, source, foot, remarks))
    print(json_text(document(state, measures)) if json else result_text(state.study, measures, source).rstrip("\n"))
