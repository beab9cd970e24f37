"""`misstep reflect run`: run the reflexive loop on the items of a skill."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options import run_folders
from misstep.options.common import Json
from misstep.options.model import EACH_AT_ONCE, ModelOptions
from misstep.options.sandbox import SandboxOptions
from misstep.reflect.asking import (
    AgentsName,
    FailuresBetween,
    ItemBudget,
    Items,
    OwnWork,
    Skill,
    Without,
    chosen,
    refuse_ignored,
    separate,
)


def run(
    context: typer.Context,
    out: run_folders.Out,
    skill: Skill = "simulated",
    agents: AgentsName = "",
    items: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Work on this item only, after its prerequisites.")
    ] = None,
    n: Items = None,
    without: Without = None,
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Random seed of generated items and agents.")] = 0,
    time: Annotated[
        Literal["virtual", "real"] | None,
        typer.Option(
            help="Clock: virtual counts the time that agents declare, real the time that passes.",
            show_default="real with a model, otherwise virtual",
        ),
    ] = None,
    failures_between: FailuresBetween = 3,
    plateau: Annotated[
        str, typer.Option(metavar="NAME", help="Detector of plateaus: exact, keywords, cosine or embeddings.")
    ] = "keywords",
    lessons: Annotated[
        list[Path] | None, typer.Option(metavar="RUN", help="Earlier run whose lessons agents know from the start.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(min=0, help="Temperature of the model.")] = None,
    json: Json = False,
    *,
    own: OwnWork,
    budget: ItemBudget,
    asking: Annotated[ModelOptions, EACH_AT_ONCE],
    box: SandboxOptions,
) -> None:
    """Run the reflexive loop on the work items of a skill.

    Each item is planned, attempted, checked and reflected on until it is solved, escalated or over its budget. A worker
    may break the target: a failed attempt is diagnosed, and then the target is restored. --without leaves a mechanism
    out (`misstep help reflect-mechanisms`), to see what it is for.

    The skill `simulated` generates items and needs nothing; `hardening` works on a root file system in the sandbox,
    `repair` on repair cases (--cases), `command` on a project of yours (--target FILE.toml, `misstep help
    reflect-command`). Without a model, a skill's own agents work; with --model or --local a model has
    every role, and --replay answers for the model that was recorded. `misstep help reflect-skill` says how to write a
    skill. The same command continues a run that was stopped or killed, at any moment.

    The exit code is 1 if the run stopped before all items had their end.
    """
    import shlex
    import sys

    from misstep.harness.agent.clocks import RealClock, VirtualClock
    from misstep.harness.journal.records import LOOP_RECORDS
    from misstep.harness.reflexive.item_budgets import inert, refuse_too_short
    from misstep.harness.reflexive.plateau import detector
    from misstep.harness.reflexive.settings import ItemLimits, LoopSettings, mechanisms_named
    from misstep.harness.runs.reflect.chosen_agents import spent_usd
    from misstep.harness.runs.reflect.running import CHANGES, ReflectPlan, run_reflexive
    from misstep.harness.runs.reflect.skills import SkillOptions, made_skill
    from misstep.studies.reflexive.report import reflections_json, run_text
    from misstep.studies.reflexive.runs import open_reflexive_run, open_reflexive_runs, say_warnings

    refuse_ignored(context, skill, asks_model=asking.asks, unsafe=box.unsafe_no_sandbox)
    settings = LoopSettings(
        item=ItemLimits(budget.item_seconds, budget.attempts, budget.tokens, budget.usd),
        failures_between=failures_between,
        least_seconds_to_re_engage=budget.strategist_seconds,
        plateau=plateau,
        without=mechanisms_named(separate("--without", without)),
    )
    refuse_too_short(settings)
    detector(plateau)  # an unknown one is refused before anything is written
    for sentence in (never := tuple(inert(settings))):
        say(f"misstep: {sentence}")
    open_reflexive_runs(lessons or ())
    ids = tuple(separate("--items", items)) or None
    box.warn("commands run")
    work = made_skill(skill, SkillOptions(n, seed, own.cases, box.place, own.target, tuple(box.show or ())))
    settings = settings.with_commands(getattr(work, "commands", None))
    spent = spent_usd(out) if asking.asks else 0.0
    with chosen(work, agents, seed, temperature, asking, settings, spent) as (who, dials):
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
    opened = open_reflexive_run(out)
    print(reflections_json([opened]) if json else run_text(opened), end="")
    say_warnings([opened], never)
    if ended.stopped:
        say(f"misstep: stopped: {plain(ended.stopped)}")
    say(f"misstep: every event is in {plain(str(out / LOOP_RECORDS.file))}")
    if (out / CHANGES).exists():
        say(f"misstep: what the solved items changed: git apply {plain(shlex.quote(str((out / CHANGES).resolve())))}")
    if not json:
        say(f"misstep: what each mechanism did: {plain(shlex.join(['misstep', 'reflect', 'report', str(out)]))}")
    if ended.stopped or opened.scores.halted:
        raise typer.Exit(1)
