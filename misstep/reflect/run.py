"""`misstep reflect run`: run the reflexive loop on the items of a skill."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.options import run_folders
from misstep.options.common import Json, refuse_given
from misstep.options.model import EACH_AT_ONCE, ModelOptions
from misstep.options.sandbox import SandboxOptions
from misstep.reflect.ablation import run_and_compare
from misstep.reflect.asking import ItemBudget, OwnWork, Skill, chosen, refuse_ignored, separate
from misstep_harness.escaping import plain
from misstep_harness.progress import say

AgentsName = Annotated[
    str, typer.Option(metavar="NAME", help="Agents of the skill, or `model`.", show_default="the skill's first")
]
Ablate = Annotated[
    int | None,
    typer.Option(
        min=2, metavar="SEEDS", help="Compare the loop with and without each mechanism, over a number of seeds."
    ),
]


def run(
    context: typer.Context,
    out: run_folders.Out,
    skill: Skill = "simulated",
    agents: AgentsName = "",
    items: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Work on this item only, after its prerequisites.")
    ] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, max=100_000, metavar="N", help="Number of items.")] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="MECHANISM", help="Mechanism to leave out, one or several, or `all`.")
    ] = None,
    ablate: Ablate = None,
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Random seed of generated items and agents.")] = 0,
    time: Annotated[
        Literal["virtual", "real"] | None,
        typer.Option(
            help="Clock: virtual counts the time that agents declare, real the time that passes.",
            show_default="real with a model, otherwise virtual",
        ),
    ] = None,
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

    The skill `simulated` generates items and needs nothing; `repair` works on repair cases (--cases), `command` on a
    project of yours (--target FILE.toml, `misstep help reflect-command`). Without a model, a skill's own agents work;
    with --model or --local a model has every role, and --replay answers for the model that was recorded. `misstep help
    reflect-skill` says how to write a skill. The same command continues a run that was stopped or killed, at any
    moment.

    With --ablate the loop runs whole, without each mechanism, and without all of them, once with each seed from --seed
    on; the tables say what it solves and wastes. With --without, only the mechanisms that it names are left out one by
    one. Time is virtual, and the agents are the skill's own. All configurations of a seed have the same items, so that
    they are compared in pairs; p-values are adjusted for all of them.

    The exit code is 1 if the run stopped before all items had their end.
    """
    from misstep_analysis.reflexive.report import reflections_json, run_text
    from misstep_analysis.reflexive.runs import open_reflexive_run, open_reflexive_runs, say_warnings
    from misstep_harness.agent.clocks import RealClock, VirtualClock
    from misstep_harness.reflexive.item_budgets import refuse_too_short
    from misstep_harness.reflexive.plateau import detector
    from misstep_harness.reflexive.records import CHANGES, LOOP_RECORDS, MECHANISMS, inert, mechanisms_named
    from misstep_harness.reflexive.runs.running import (
        AblationPlan,
        ReflectPlan,
        agents_of_skill,
        run_reflexive,
        spent_usd,
    )
    from misstep_harness.reflexive.runs.skills import SkillOptions, made_skill

    ablated = ablate is not None
    refuse_ignored(context, skill, asks_model=asking.asks and not ablated, unsafe=box.unsafe_no_sandbox)
    if ablated:
        refuse_given(context, {"items", "time", "lessons"}, "runs of an ablation are alike but for their mechanisms")
    left_out = mechanisms_named(separate("--without", without))
    settings = budget.settings(plateau, frozenset() if ablated else left_out)
    refuse_too_short(settings)
    detector(plateau)  # an unknown one is refused before anything is written
    for sentence in (never := tuple(inert(settings))):
        say(f"misstep: {sentence}")
    open_reflexive_runs(lessons or ())
    ids = tuple(separate("--items", items)) or None
    box.warn("commands run")
    options = SkillOptions(n, seed, own.cases, box.place, own.target, tuple(box.show or ()))
    work = made_skill(skill, options)
    if ablate is not None:
        mechanisms = tuple(name for name in MECHANISMS if name in left_out or not left_out)
        named = agents_of_skill(work, agents, seed).name
        ablation = AblationPlan(tuple(range(seed, seed + ablate)), skill, options, named, mechanisms, settings)
        return run_and_compare(ablation, out, never, json=json)
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
    return None
