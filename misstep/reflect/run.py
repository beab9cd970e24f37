"""`misstep reflect run`: run the reflexive loop on the items of a skill."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options import model as model_options
from misstep.options import rate as rate_options
from misstep.options import run_folders
from misstep.options.common import Json
from misstep.reflect.asking import (
    AgentsName,
    Cases,
    FailuresBetween,
    Items,
    Sandboxes,
    Skill,
    Without,
    chosen,
    finite,
    refuse_ignored,
    separate,
)


def run(
    context: typer.Context,
    out: run_folders.Out,
    skill: Skill = "simulated",
    agents: AgentsName = "",
    items: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Item to work on, with those that it comes after.")
    ] = None,
    n: Items = None,
    cases: Cases = None,
    without: Without = None,
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Random seed of generated items and agents.")] = 0,
    time: Annotated[
        Literal["virtual", "real"] | None,
        typer.Option(
            help="Clock: virtual counts the time that agents declare, real the time that passes.",
            show_default="real with a model, otherwise virtual",
        ),
    ] = None,
    item_seconds: Annotated[
        float,
        typer.Option(min=1, metavar="S", callback=finite, help="Time limit per item, in seconds on the run's clock."),
    ] = 1200.0,
    attempts: Annotated[int, typer.Option(min=1, metavar="N", help="Limit of attempts per item.")] = 100,
    tokens: Annotated[int | None, typer.Option(min=1, metavar="N", help="Limit of tokens per item.")] = None,
    usd: Annotated[
        float | None, typer.Option(min=0, metavar="X", callback=finite, help="Cost limit per item, in US dollars.")
    ] = None,
    failures_between: FailuresBetween = 3,
    plateau: Annotated[
        str, typer.Option(metavar="NAME", help="Detector of plateaus: exact, keywords, cosine or embeddings.")
    ] = "keywords",
    lessons: Annotated[
        list[Path] | None, typer.Option(metavar="RUN", help="Earlier run whose lessons agents know from the start.")
    ] = None,
    model: model_options.Model = "",
    base_url: model_options.BaseUrl = "",
    temperature: Annotated[float | None, typer.Option(min=0, callback=finite, help="Temperature of the model.")] = None,
    rpm: rate_options.Rpm = None,
    tpm: rate_options.Tpm = None,
    max_cost: model_options.MaxCost = None,
    prices: model_options.Prices = None,
    price_in: model_options.PriceIn = None,
    price_out: model_options.PriceOut = None,
    cache: model_options.CacheFile = None,
    record: model_options.Record = None,
    replay: model_options.Replay = None,
    local: model_options.Local = False,
    sandbox: Sandboxes = "auto",
    unsafe_no_sandbox: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Run commands without a sandbox, with limits alone.")
    ] = False,
    json: Json = False,
) -> None:
    """Run the reflexive loop on the work items of a skill.

    Each item is planned, attempted, checked and reflected on until it is solved, escalated or over its budget. A worker
    may break the target: a failed attempt is diagnosed, and then the target is restored. --without leaves a mechanism
    out (`misstep help reflect-mechanisms`), to see what it is for.

    The skill `simulated` generates items and needs nothing; `hardening` works on a root file system in the sandbox,
    `repair` on repair cases (--cases). Without a model, a skill's own agents work; with --model or --local a model has
    every role, and --replay answers for the model that was recorded. `misstep help reflect-skill` says how to write a
    skill. The same command continues a run that was stopped or killed, at any moment.

    The exit code is 1 if the run stopped before all items had their end.
    """
    import shlex
    import sys

    from misstep.harness.agent.clocks import RealClock, VirtualClock
    from misstep.harness.journal.records import LOOP_RECORDS
    from misstep.harness.reflexive.inert import inert
    from misstep.harness.reflexive.plateau import detector
    from misstep.harness.reflexive.settings import ItemLimits, LoopSettings, mechanisms_named
    from misstep.harness.runs.reflect.running import ReflectPlan, run_reflexive
    from misstep.harness.runs.reflect.skills import SkillOptions, made_skill
    from misstep.studies.reflexive.report import reflections_json, run_text
    from misstep.studies.reflexive.runs import open_reflexive_run, open_reflexive_runs, say_warnings

    refuse_ignored(context, skill, asks_model=bool(model or local or replay is not None), unsafe=unsafe_no_sandbox)
    asking = model_options.ModelOptions(
        model, base_url, max_cost, prices, cache, record, replay, local, price_in, price_out, rpm=rpm, tpm=tpm
    )
    settings = LoopSettings(
        item=ItemLimits(item_seconds, attempts, tokens, usd),
        failures_between=failures_between,
        plateau=plateau,
        without=mechanisms_named(separate("--without", without)),
    )
    detector(plateau)  # what there is not is said before anything is written
    for sentence in (never := tuple(inert(settings))):
        say(f"misstep: {sentence}")
    open_reflexive_runs(lessons or ())
    ids = tuple(separate("--items", items)) or None
    place = "unsandboxed" if unsafe_no_sandbox else sandbox
    if unsafe_no_sandbox:
        say("misstep: commands run without a sandbox, as --unsafe-no-sandbox asks.")
    work = made_skill(skill, SkillOptions(n, seed, cases, place))
    with chosen(work, agents, seed, temperature, asking, settings, out) as (who, dials):
        plan = ReflectPlan(work, who.name, who.agents, dials, seed, ids, tuple(lessons or ()))
        is_real = time == "real" or (time is None and who.requests is not None)
        with run_folders.kept_when_stopped(out):
            ended = run_reflexive(
                plan,
                out,
                RealClock() if is_real else VirtualClock(),
                client=who.client,
                requests=who.requests,
                arguments=sys.argv[1:],
            )
    found = open_reflexive_run(out)
    print(reflections_json([found]) if json else run_text(found), end="")
    say_warnings([found], never)
    if ended.stopped:
        say(f"misstep: stopped: {plain(ended.stopped)}")
    say(f"misstep: every event is in {plain(str(out / LOOP_RECORDS.file))}")
    if not json:
        say(f"misstep: what each mechanism did: {plain(shlex.join(['misstep', 'reflect', 'report', str(out)]))}")
    if ended.stopped or found.scores.halted:
        raise typer.Exit(1)
