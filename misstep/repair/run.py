"""`misstep repair run`: run a repair agent on every case of a benchmark, in a sandbox."""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec.structs import replace

from misstep.options import run_folders
from misstep.options.common import Json
from misstep.options.model import EACH_AT_ONCE, ModelOptions
from misstep.options.sandbox import ObserveOptions, SandboxOptions
from misstep.options.spread import SpreadOptions
from misstep.repair.asking import AgentOptions, PatchJudgeOptions, opened, refuse_ignored
from misstep.repair.cases import RepositoryOptions, named_cases, told_cases
from misstep.repair.ending import print_scores
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_harness.repair.case import RepairCase

_AT_ONCE = 2


def objections_to(begun: Collection[str], objections: "Callable[[RepairCase], str]", case: "RepairCase") -> str:
    """Return what speaks against repairing a case now; nothing where the run has begun with it."""
    return "" if case.id in begun else objections(case)


def run(
    context: typer.Context,
    cases: Annotated[
        Path, typer.Argument(metavar="CASES", help="Folder of repair cases, one case, or a git repository.")
    ],
    out: run_folders.Out,
    setting: Annotated[
        str, typer.Option(help="Feedback to the agent: react, react+static, react+tests or react+static+tests.")
    ] = "react+static+tests",
    instructions: Annotated[
        Literal["high-level", "detailed"] | None,
        typer.Option(help="Instructions that the agent gets instead of the failure."),
    ] = None,
    attempts: Annotated[int, typer.Option(min=1, metavar="K", help="Number of attempts per case.")] = 1,
    iterations: Annotated[int, typer.Option(min=1, metavar="N", help="Limit of commands per attempt.")] = 40,
    seconds: Annotated[float, typer.Option(min=1, metavar="S", help="Time limit per attempt, in seconds.")] = 900.0,
    sample: Annotated[int | None, typer.Option(min=1, metavar="N", help="Repair a random sample of N cases.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed for the sample and for policies that choose.")] = 0,
    json: Json = False,
    *,
    agent: AgentOptions,
    repository: RepositoryOptions,
    patches: PatchJudgeOptions,
    observing: ObserveOptions,
    asking: Annotated[ModelOptions, EACH_AT_ONCE],
    spread: SpreadOptions,
    box: SandboxOptions,
) -> None:
    """Repair programs whose tests fail.

    Each case has a sandbox of its own; its patch is checked and kept.

    CASES is a folder of repair cases (see `misstep help repair-case`), or a git repository with --test-command, whose
    failing test becomes a case. Without a model the policy `search` tries small changes where the failure leads. With
    --patch-judge a judge says of each patch whether an engineer would land it; with test execution the agent is told.
    The same command continues a run that was stopped; no attempt is made twice. With
    --observe an observer looks on and steers the agent back; no step of the agent waits for it.

    By default this process makes two attempts at once. With --workers N as many processes make one each, and with
    --dask the workers of a cluster, which have to see the cases; RUN is written here.
    """
    import sys

    from misstep_analysis.repair.recorded_runs import open_repair_run
    from misstep_harness.agent.loop import AgentLimits
    from misstep_harness.journal.opened import open_of
    from misstep_harness.journal.records import MANIFEST
    from misstep_harness.repair.attempt import setting_named
    from misstep_harness.repair.case import sampled_cases
    from misstep_harness.repair.records import ATTEMPT_RECORDS
    from misstep_harness.repair.runs.repair import COMMAND, RepairPlan, Repairs
    from misstep_harness.runs.run import Asking, carry_out
    from misstep_harness.runs.spread import open_workers
    from misstep_harness.workspace import find_sandbox

    refuse_ignored(
        context, agent.policy, patches.patch_judge, observing.observe, instructions, unsafe=box.unsafe_no_sandbox
    )
    if spread.dask and repository.test_command:
        raise UsageError("--dask with a git repository", "Make repair cases of it first, or leave --dask out.")
    isolation = find_sandbox(box.place).showing(box.show or ())
    box.warn("the code under repair runs")
    named = named_cases(cases, repository, out, isolation)
    with_texts, written_by = told_cases(named.cases, instructions, agent.instructions_from)
    chosen = sampled_cases(list(with_texts), sample, seed)
    # A case that this run has begun with passed the rules then; the diff that is attached by now is its own.
    earlier = open_of(out, COMMAND).read(ATTEMPT_RECORDS) if (out / MANIFEST).is_file() else ()
    begun = {each.case for each in earlier}
    with opened(replace(agent, seed=seed), asking, patches, observing) as models:
        plan = RepairPlan(
            agent.policy,
            setting_named("react" if agent.policy == "direct" else setting),
            models.options,
            instructions=instructions or "",
            instructions_by=written_by,
            attempts=attempts,
            limits=AgentLimits(iterations, seconds),
            patch_judge=models.patch_judge,
            change_tests=agent.change_tests,
            observation=models.observation,
            objections=partial(objections_to, begun, named.objections),
            solved=named.solved,
        )
        asked = Asking(models.client, spread.workers or _AT_ONCE)
        with run_folders.kept_when_stopped(out), open_workers(spread.over([cases])) as workers:
            repairs = Repairs(chosen, plan, models.client, isolation)
            ended = carry_out(repairs, out, asked, workers=workers, arguments=sys.argv[1:])
    print_scores(open_repair_run(out), named, json=json, plumbing=bool(asking.local and patches.patch_judge))
    if ended.done < ended.wanted:
        why = f": {plain(ended.stopped)}" if ended.stopped else ""
        say(f"misstep: stopped{why}. {ended.done:,} of {ended.wanted:,} attempts were made.")
        raise typer.Exit(1)
    if named.lacks_environment:
        raise typer.Exit(1)
