"""`misstep reflect ablation`: the loop with each mechanism left out in turn, over several seeds."""

from pathlib import Path
from typing import Annotated

import typer

from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options import run_folders
from misstep.options.common import Json
from misstep.options.sandbox import NEVER_WITHOUT, SandboxOptions
from misstep.reflect.asking import (
    AgentsName,
    FailuresBetween,
    Items,
    OwnWork,
    Skill,
    StrategistSeconds,
    Without,
    refuse_ignored,
    separate,
)


def ablation(
    context: typer.Context,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs; an unfinished ablation is continued.")],
    skill: Skill = "simulated",
    agents: AgentsName = "",
    seeds: Annotated[
        int, typer.Option(min=2, metavar="N", help="Number of seeds; each configuration runs once with each.")
    ] = 16,
    first_seed: Annotated[int, typer.Option(min=0, metavar="S", help="First seed.")] = 0,
    n: Items = None,
    without: Without = None,
    failures_between: FailuresBetween = 3,
    strategist_seconds: StrategistSeconds = 120.0,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Number of processes.")] = 2,
    json: Json = False,
    *,
    own: OwnWork,
    box: Annotated[SandboxOptions, NEVER_WITHOUT],
) -> None:
    """Run the loop with each mechanism left out, and compare.

    The loop runs whole, without each mechanism, and without all of them; the tables say what it solves and wastes. With
    --without, only the mechanisms that it names are left out one by one (`misstep help reflect-mechanisms`). Time is
    virtual. All configurations of a seed have the same items, so that they are compared in pairs; p-values are adjusted
    for all of them.

    The same command continues an ablation that was stopped. `misstep reflect report DIR --out F.html` makes its page.
    """
    import sys

    from misstep.harness.reflexive.item_budgets import inert, refuse_too_short
    from misstep.harness.reflexive.settings import MECHANISMS, LoopSettings, mechanisms_named
    from misstep.harness.runs.reflect.ablation import AblationPlan, run_ablation
    from misstep.harness.runs.reflect.chosen_agents import agents_of_skill
    from misstep.harness.runs.reflect.skills import SkillOptions, made_skill

    refuse_ignored(context, skill, asks_model=False)
    options = SkillOptions(n, first_seed, own.cases, box.place, own.target, tuple(box.show or ()))
    named = mechanisms_named(separate("--without", without))
    settings = LoopSettings(failures_between=failures_between, least_seconds_to_re_engage=strategist_seconds)
    refuse_too_short(settings)
    plan = AblationPlan(
        tuple(range(first_seed, first_seed + seeds)),
        skill,
        options,
        agents_of_skill(made_skill(skill, options), agents, first_seed).name,
        tuple(name for name in MECHANISMS if name in named or not named),
        settings,
    )
    for sentence in (never := tuple(inert(plan.settings))):
        say(f"misstep: {sentence}")
    with run_folders.kept_when_stopped(out):
        loop_runs = run_ablation(plan, out, processes=workers, arguments=sys.argv[1:])
    from misstep.studies.reflexive.report import reflections_json, reflections_text
    from misstep.studies.reflexive.runs import open_reflexive_runs, say_warnings

    runs = open_reflexive_runs([run.folder for run in loop_runs])
    print(reflections_json(runs) if json else reflections_text(runs), end="")
    say_warnings(runs, never)
    say(f"misstep: the runs are in {plain(str(out))}")
