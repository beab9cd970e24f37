"""Run the reflexive loop with each mechanism left out in turn, over seeds: an ablation as one resumable piece of work.

    ABLATION/whole/seed-0/                    a run as `reflect run` makes it
    ABLATION/without_snapshots/seed-0/
    ABLATION/earlier/seed-0/                  the run whose lessons all others with that seed begin with

All runs of a seed have the same items and draws, so that configurations are compared in pairs. Time is virtual.
"""

import multiprocessing
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.clocks import VirtualClock
from misstep_harness.errors import UsageError
from misstep_harness.journal.run_folder import PROGRESS, locked, make_folder
from misstep_harness.progress import Progress
from misstep_harness.reflexive.runs.running import ReflectPlan, run_reflexive
from misstep_harness.reflexive.runs.skills import SkillOptions, made_skill
from misstep_harness.reflexive.settings import ALL, MECHANISMS, LoopSettings
from misstep_harness.runs.spread import MOST_WORKERS, Spread, available, in_order

WHOLE = "whole"
EARLIER = "earlier"
_WITHOUT = "without_"
_EARLIER_SEEDS = 1_000_000
"""What is added to a seed for the run before: other items, other chances."""


class AblationPlan(Struct, frozen=True):
    """What is to be compared: each configuration runs once with each of the seeds, which are the seeds of the skill."""

    seeds: tuple[int, ...]
    skill: str = "simulated"
    options: SkillOptions = SkillOptions()
    agents: str = "mixed"
    mechanisms: tuple[str, ...] = tuple(MECHANISMS)
    settings: LoopSettings = LoopSettings()


class AblationRun(Struct, frozen=True):
    """One run of an ablation: its configuration, what that leaves out, its seed and its folder."""

    configuration: str
    without: frozenset[str]
    seed: int
    folder: Path


def configurations(mechanisms: Sequence[str]) -> dict[str, frozenset[str]]:
    """Configuration → what it leaves out: nothing, each mechanism, all of them."""
    single = {f"{_WITHOUT}{name}": frozenset({name}) for name in mechanisms}
    return {WHOLE: frozenset(), **single, f"{_WITHOUT}{ALL}": frozenset(MECHANISMS)}


def runs_of(plan: AblationPlan, out: Path) -> list[AblationRun]:
    """Return the runs of an ablation by configuration, without the run whose lessons they begin with."""
    unknown = [name for name in plan.mechanisms if name not in MECHANISMS]
    if unknown:
        raise UsageError(f"unknown mechanism {unknown[0]!r}", f"Known: {', '.join(MECHANISMS)}.")
    return [
        AblationRun(name, without, seed, out / name / f"seed-{seed}")
        for name, without in configurations(plan.mechanisms).items()
        for seed in plan.seeds
    ]


def run_ablation(
    plan: AblationPlan, out: Path, *, processes: int | None = None, arguments: Sequence[str] = ()
) -> list[AblationRun]:
    """Run all that is missing in `out`, a seed in each process."""
    runs = runs_of(plan, out)
    skill = made_skill(plan.skill, plan.options)
    if plan.agents not in skill.agents:
        raise UsageError(f"the skill {plan.skill} has no agents {plan.agents!r}", f"Known: {', '.join(skill.agents)}.")
    pieces = ((plan, seed, out, tuple(arguments)) for seed in plan.seeds)
    make_folder(out)
    with locked(out / PROGRESS), Progress("seeds", len(plan.seeds)) as progress:
        try:
            for _ in in_order(
                _run_seed,
                pieces,
                Spread(processes or min(available(), MOST_WORKERS, len(plan.seeds))),
                lambda piece: f"seed {piece[1]}",
            ):
                progress.advance()
        finally:
            (out / PROGRESS).unlink(missing_ok=True)
    return runs


def _run_seed(piece: tuple[AblationPlan, int, Path, tuple[str, ...]]) -> None:
    """Make all runs with a seed; in a process of its own it leaves the terminal to its parent."""
    plan, seed, out, arguments = piece
    if multiprocessing.parent_process() is not None:
        os.environ["TERM"] = "dumb"
    before = AblationRun(EARLIER, frozenset(), seed + _EARLIER_SEEDS, out / EARLIER / f"seed-{seed}")
    _run_one(plan, before, (), arguments)
    for run in runs_of(replace(plan, seeds=(seed,)), out):
        _run_one(plan, run, (before.folder,), arguments)


def _run_one(plan: AblationPlan, run: AblationRun, lessons_from: tuple[Path, ...], arguments: tuple[str, ...]) -> None:
    skill = made_skill(plan.skill, replace(plan.options, seed=run.seed))
    run_reflexive(
        ReflectPlan(
            skill=skill,
            agents_name=plan.agents,
            agents=skill.agents[plan.agents](run.seed),
            settings=replace(plan.settings, without=plan.settings.without | run.without),
            seed=run.seed,
            lessons_from=lessons_from,
        ),
        run.folder,
        VirtualClock(),
        arguments=arguments,
    )
