"""`misstep experiment run`: live sessions of a scripted agent, each in an arm of the experiment."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.options import run_folders
from misstep.options.common import Json, Seed, refuse_given
from misstep.options.groups import Only
from misstep.options.model import MODEL_OPTIONS, ModelOptions, client_settings, with_local_model
from misstep.options.sandbox import NEVER_WITHOUT, ObserveOptions, SandboxOptions
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.generate.voice import WordingSet
from misstep_harness.progress import say

_NO_PRICES = Only(
    "model", "base_url", "rpm", "tpm", "max_cost", "price_in", "price_out", "cache", "record", "replay", "local"
)


Design = Annotated[
    Literal["shadow", "ab"],
    typer.Option(help="Arms: detection with and without guidance (shadow), or guidance and no observer (ab)."),
]


def run(
    context: typer.Context,
    n: Annotated[int, typer.Option("--n", min=2, metavar="N", help="Number of sessions.")],
    out: run_folders.Out,
    seed: Seed = 0,
    design: Design = "shadow",
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the experiment; it decides who is in which arm.")
    ] = "live",
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Steps of the agent between two questions.")] = 5,
    delay: Annotated[
        int, typer.Option(min=1, metavar="N", help="Steps that the detector's answer takes, on average.")
    ] = 2,
    detector: Annotated[str, typer.Option(metavar="NAME", help="Detector: rules, or package.module:name.")] = "rules",
    cases: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Repair cases of your own to work on, in place of generated projects."),
    ] = None,
    wordings: Annotated[
        WordingSet, typer.Option(help="Set of texts that users and agents speak from: development or scoring.")
    ] = "scoring",
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Number of sessions at once.")] = 4,
    json: Json = False,
    *,
    observing: Annotated[ObserveOptions, Only("observe", "observe_every")],
    asking: Annotated[ModelOptions, _NO_PRICES],
    box: Annotated[SandboxOptions, NEVER_WITHOUT],
) -> None:
    """Run an experiment with a scripted agent.

    The agent repairs small generated projects with real tools and tests. By its seed it misbehaves, and
    follows, half follows or ignores what it is told. A hash of the experiment's name and the unit decides the arm: the
    unit is the session in a shadow experiment, the engineer in an A/B test. The detector's answer comes after a drawn
    number of steps, so that the same seed gives the same sessions on any machine.

    With --model a model works on the tasks instead. Nothing is planted then: the report compares what sessions cost.
    With --cases its tasks are repair cases of your own (`misstep help repair-case`), one after the other and again;
    each session is a unit. With --observe the detector looks on in real time and no step waits for it, so that runs
    differ from machine to machine. The same command continues a run that was stopped.

    misstep experiment run --n 200 --seed 1 --out run
    """
    from misstep.experiment.own_cases import OwnCases
    from misstep_analysis.observer.experiments.report import open_experiment, report_of_run
    from misstep_harness.agent.protocols import ModelSettings
    from misstep_harness.observer.detectors import asks_a_model, check_model
    from misstep_harness.observer.experiment.observing import Beside
    from misstep_harness.observer.experiment.running import ExperimentPlan, ExperimentRun
    from misstep_harness.repair.case import read_cases
    from misstep_harness.runs.run import Asking, carry_out
    from misstep_harness.workspace import find_sandbox

    if observing.observe:
        refuse_given(context, {"detector", "every", "delay"}, "--observe names the detector, in real time")
    if cases is not None:
        if not (asking.model or asking.local):
            raise UsageError("--cases without a model", "Name one with --model; the script has generated tasks.")
        refuse_given(context, {"wordings"}, "no script speaks in your own cases")
    if not asking.asks and not (observing.observe and asks_a_model(observing.observe)):
        refuse_given(context, MODEL_OPTIONS, "the scripted agent asks no model")
    check_model(detector, asking.model or ("local" if asking.local else ""), alone=False)
    own = OwnCases(tuple(read_cases(cases))) if cases is not None else None
    with with_local_model(asking) as known, run_folders.kept_when_stopped(out):
        settings = ModelSettings(known.model, seed=seed)
        beside, live = Beside(detector, every, delay), observing.observation(known.model)
        plan = ExperimentPlan(design, n, seed, name, beside, wordings, settings, live, own)
        client = client_settings(known)
        kind = ExperimentRun(plan, find_sandbox(box.place).showing(box.show or ()), client)
        ended = carry_out(kind, out, Asking(client, workers), arguments=sys.argv[1:])
    if ended.done < n:
        say(f"misstep: stopped; {ended.done:,} of {n:,} sessions are done, and the same command goes on with it.")
        raise typer.Exit(1)
    findings = report_of_run(open_experiment(out))
    print(findings.json() if json else findings.text(), end="\n" if json else "")
    again = shlex.join(["misstep", "experiment", "report", str(out), "--html", "F.html"])
    say(f"misstep: `{plain(again)}` writes a page")
