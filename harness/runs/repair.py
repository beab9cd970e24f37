"""Repair the cases of a benchmark: every attempt is made once, in a sandbox of its own, and all of it is kept.

Attempts are written as they end. The same command goes on with a run that was stopped; an attempt that was made is not
made again. A case counts only where it holds: in each of three runs its tests fail before and, with the golden patch,
pass after.
"""

import asyncio
import platform
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness.agent.loop import AgentLimits
from harness.clients import ClientSettings
from harness.clients.concurrency import run_concurrently
from harness.edits import edit_format
from harness.errors import MisstepError
from harness.evidence import noted, together
from harness.journal.inputs import digest_of, length_and_checksum, listed, part
from harness.journal.records import ATTEMPT_RECORDS, SCHEMA, Inputs, Manifest, read_records
from harness.journal.run_folder import RunInProgress, standing
from harness.progress import Progress
from harness.protocols import FittedJudge
from harness.repair.affirm import Affirmed, affirm
from harness.repair.attempt import MakeRepairer, attempt
from harness.repair.case import CaseFolder, instructed
from harness.repair.repairers import POLICIES, RepairerOptions
from harness.repair.settings import Setting
from harness.repair.validators.patch_judge import PatchJudge
from harness.repair_attempt import FLAKY, NOT_AFFIRMED, RepairAttempt, attempt_id
from harness.runs.model_requests import ConcurrentRequests, ItemAsk
from harness.runs.shards.item_runs import checked_manifest, dealt, folder_of
from harness.runs.shards.layout import Shard
from harness.trajectory import Trajectory
from harness.version import __version__
from harness.workspace import Sandbox

COMMAND = "repair run"


class RepairPlan(Struct, frozen=True):
    """What is to be done on every case.

    Parameters
    ----------
    policy, setting, edit_format
        Who decides, with which feedback, in which format edits are written.
    options
        What the policy is given.
    instructions
        Which instructions of its case an agent is given in place of the failure, `high-level` or `detailed`; none if
        empty.
    attempts
        How many times each case is attempted.
    limits
        How many commands and seconds an attempt may take.
    patch_judge
        Who judges the patches besides the validators, fitted to patches; `None` for nobody.
    """

    policy: str
    setting: Setting
    edit_format: str = "search_replace"
    options: RepairerOptions = RepairerOptions()
    instructions: str = ""
    attempts: int = 1
    limits: AgentLimits = AgentLimits()
    patch_judge: FittedJudge | None = None


class Entry(Struct, frozen=True):
    """The journal's entry for one attempt."""

    attempt: str
    cost_usd: float | None = None


class RepairSummary(Struct, frozen=True):
    """How a run ended: attempts made, attempts wanted, why it stopped early."""

    made: int
    wanted: int
    stopped: str = ""


def run_repairs(
    cases: Sequence[CaseFolder],
    out: Path,
    plan: RepairPlan,
    settings: ClientSettings,
    sandbox: Sandbox,
    *,
    workers: int = 2,
    shard: Shard | None = None,
    arguments: Sequence[str] = (),
) -> RepairSummary:
    """Make every attempt that the run in `out` does not have yet.

    Parameters
    ----------
    cases
        What is to be repaired.
    out
        The run's folder.
    plan
        What is to be done on every case.
    settings
        The client's, for a policy or a judge that asks a model.
    sandbox
        Where the code under repair runs.
    workers
        How many attempts are made at once.
    shard
        The part of the cases to repair, in a folder of its own in `out`; `None` repairs all of them.
    arguments
        The command line's.

    Raises
    ------
    UsageError
        `out` holds another run or shards that are not merged, there is no such policy or edit format, the policy lacks
        an option, or a case the instructions.
    MissingPrerequisite
        The server of the model cannot be reached; the attempts made are kept.
    KeyboardInterrupt
        Stopped; the attempts made are kept.
    """
    make: MakeRepairer = POLICIES.made(plan.policy, plan.options)
    edit_format(plan.edit_format)
    if plan.instructions:
        cases = [instructed(case, plan.instructions) for case in cases]
    manifest = checked_manifest(out, shard, _manifest(cases, plan, settings, sandbox, arguments))
    out = folder_of(out, shard)
    wanted = [(case, sample) for sample in range(plan.attempts) for case in dealt(cases, shard)]
    earlier = standing(out, manifest, ATTEMPT_RECORDS)
    if earlier is not None and earlier.finished:
        return RepairSummary(len(wanted), len(wanted))
    with RunInProgress(out, manifest, ATTEMPT_RECORDS, Entry, _entry) as run:
        if run.finished:
            return RepairSummary(len(wanted), len(wanted))
        spent = sum(entry.cost_usd or 0.0 for entry in run.entries)
        stopped = asyncio.run(
            _attempt_all(wanted, plan, make, run, replace(settings, spent_usd=spent), sandbox, workers)
        )
        made = len({entry.attempt for entry in run.entries})
        if made == len(wanted):
            run.finish(_now())
    return RepairSummary(made, len(wanted), stopped)


def recorded_attempts(run: Path) -> Iterator[RepairAttempt]:
    """The attempts of a run in the order in which they ended; raises `InputError` where there is no such run."""
    return read_records(run, ATTEMPT_RECORDS, unfinished=True)


def recorded_runs(run: Path) -> dict[tuple[str, int], Trajectory]:
    """The trajectories of a run's attempts by case and number, for the policy `replay`."""
    attempts = recorded_attempts(run)
    return {(each.case, each.sample): each.trajectory for each in attempts if each.trajectory is not None}


async def _attempt_all(
    wanted: Sequence[tuple[CaseFolder, int]],
    plan: RepairPlan,
    make: MakeRepairer,
    run: RunInProgress[RepairAttempt, Entry],
    settings: ClientSettings,
    sandbox: Sandbox,
    workers: int,
) -> str:
    """Make the attempts that are missing; returns why the run stopped early, if it did."""
    done = {entry.attempt for entry in run.entries}
    todo = [(case, sample) for case, sample in wanted if _id(case, plan, sample) not in done]
    requests = ConcurrentRequests(settings, workers)
    attempting = partial(_attempted, plan, make, requests, sandbox, {})
    try:
        with Progress("attempts", len(wanted)) as progress:
            progress.advance(len(wanted) - len(todo))
            async with aclosing(run_concurrently(attempting, todo, workers, requests.ended)) as coming:
                async for made, cost in coming:
                    run.append([made], Entry(made.id, cost))
                    progress.advance()
        requests.check()
    finally:
        await requests.close()
    return requests.over_cost_limit


async def _attempted(
    plan: RepairPlan,
    make: MakeRepairer,
    requests: ConcurrentRequests,
    sandbox: Sandbox,
    affirming: "dict[str, asyncio.Task[Affirmed]]",
    wanted: tuple[CaseFolder, int],
) -> tuple[RepairAttempt, float | None] | None:
    """One attempt and its cost; `None` where the whole run was cut off in it."""
    case, sample = wanted
    ask = ItemAsk(requests, _id(case, plan, sample), plan.options.model.name)
    judge = plan.patch_judge
    name = case.case.id
    if name not in affirming:
        affirming[name] = asyncio.create_task(asyncio.to_thread(affirm, case, sandbox))
    made = RepairAttempt(name, plan.policy, plan.setting.name, plan.edit_format, sample)
    try:
        if not (held := await affirming[name]).holds:
            made = replace(made, ended=FLAKY if held.flaky else NOT_AFFIRMED, error=held.reason)
        else:
            made = await attempt(
                case,
                plan.setting,
                make,
                ask,
                sandbox=sandbox,
                edit_format=plan.edit_format,
                limits=plan.limits,
                sample=sample,
                name=plan.policy,
                patch_judge=None if judge is None else PatchJudge(judge, ask.for_model(getattr(judge, "model", ""))),
            )
    except MisstepError:
        raise
    except Exception as error:  # noqa: BLE001 (the boundary around one attempt)
        message = " ".join(str(error).split())
        made = replace(made, error=f"{type(error).__name__}: {message}")
    return None if ask.cut_off else (made, ask.spent_usd)


def _id(case: CaseFolder, plan: RepairPlan, sample: int) -> str:
    return attempt_id(case.case.id, plan.policy, plan.setting.name, plan.edit_format, sample)


def _entry(made: RepairAttempt, noted: Entry | None) -> Entry:
    return noted if noted is not None and noted.attempt == made.id else Entry(made.id, made.cost_usd)


def _manifest(
    cases: Sequence[CaseFolder], plan: RepairPlan, client: ClientSettings, sandbox: Sandbox, arguments: Sequence[str]
) -> Manifest:
    model = plan.options.model
    settings: dict[str, Any] = {
        "policy": plan.policy,
        "setting": plan.setting.name,
        "format": plan.edit_format,
        "attempts": plan.attempts,
        "iterations": plan.limits.iterations,
        "seconds": plan.limits.seconds,
        "seed": plan.options.seed,
        "sandbox": sandbox.name,
        **noted(together(one.case.evidence for one in cases)),
    }
    if plan.instructions:
        settings["instructions"] = plan.instructions
    if model.name:
        form = {"temperature": model.temperature, "max_tokens": model.max_tokens, "form": model.form}
        settings |= {"model": model.name, "base_url": client.base_url or "", **form}
    if plan.patch_judge is not None:
        settings["patch_judge"] = plan.patch_judge.settings()
    return Manifest(
        schema=SCHEMA,
        command=COMMAND,
        arguments=list(arguments),
        misstep=__version__,
        python=platform.python_version(),
        started=_now(),
        settings=settings,
        inputs=inputs_of_cases(cases),
        folder=str(cases[0].folder.parent.resolve()) if cases else "",
    )


def inputs_of_cases(cases: Sequence[CaseFolder]) -> Inputs:
    """Every file of the cases: names within the case, lengths and checksums."""
    parts, size = [], 0
    for case in cases:
        for path in sorted(each for each in case.folder.rglob("*") if each.is_file() and not each.is_symlink()):
            length, checksum = length_and_checksum(path)
            size += length
            parts.append(part(f"{case.case.id}/{path.relative_to(case.folder).as_posix()}", length, checksum))
    return Inputs(len(parts), size, digest_of(parts), parts=listed(parts))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
