"""Make one attempt to repair one case: the agent's run in a sandbox, and what the validators say of its patch."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.environment import Environment, replies_in
from misstep_harness.agent.loop import AgentLimits, run_agent
from misstep_harness.agent.protocols import Patcher, Policy, Task, Watcher
from misstep_harness.errors import InputError, MisstepError, UsageError
from misstep_harness.items import Item
from misstep_harness.protocols import Ask
from misstep_harness.repair.case import FAILURE, CaseFolder, RepairCase
from misstep_harness.repair.patch_judge import PatchJudge, patch_item, with_failure
from misstep_harness.repair.records import FLAKY, RepairAttempt
from misstep_harness.repair.scoring import open_case, oracle_report, score, signals_without_tests, static_analysis
from misstep_harness.trajectory import Outcome, Trajectory
from misstep_harness.workspace import Sandbox, Snapshot, Workspace
from misstep_harness.workspace.suite.report import SuiteReport

_Number = TypeVar("_Number", int, float)


class Setting(Struct, frozen=True):
    """The feedback that an agent gets while it works; how a patch is scored does not depend on it.

    With test execution it is told the verdicts of a judge of patches too: the judge is asked after the tests have
    passed (figure 1), and an agent that may not run them would learn so.
    """

    name: str
    static_analysis: bool
    test_execution: bool


SETTINGS = {
    name: Setting(name, static_analysis="static" in name, test_execution="tests" in name)
    for name in ("react", "react+static", "react+tests", "react+static+tests")
}
"""In the order of the paper's table III; the last is the one that went into production."""


def setting_named(name: str) -> Setting:
    """Return the setting of a name."""
    if name not in SETTINGS:
        raise UsageError(f"no setting {name!r}", f"Settings: {', '.join(SETTINGS)}.")
    return SETTINGS[name]


MOST_PATCH = 1 << 20
"""The longest patch that is recorded and scored, in characters: part of a patch is another patch."""


class Repairer(Struct, frozen=True):
    """What decides and what writes the edits; `notes` are the policy's counts for `extra` of the trajectory."""

    policy: Policy
    patcher: Patcher
    notes: Callable[[], Mapping[str, int]] = dict
    watcher: Watcher | None = None


MakeRepairer = Callable[["CaseWorkspace"], Repairer]
"""Makes the policy and the patcher for a case; what it may look at is the workspace as the setting allows."""


class CaseWorkspace(Struct, frozen=True):
    """A case laid out for one attempt: its workspace and, where the setting allows, its tests."""

    case: RepairCase
    workspace: Workspace
    setting: Setting
    sample: int

    def run_tests(self) -> SuiteReport:
        """Return what the oracle's tests find now; only for a setting with test execution."""
        if not self.setting.test_execution:
            raise PermissionError("this setting gives no test execution")
        return oracle_report(self.workspace, self.case)


async def attempt(
    folder: CaseFolder,
    setting: Setting,
    make: MakeRepairer,
    ask: Ask,
    *,
    sandbox: Sandbox,
    edit_format: str = "search_replace",
    limits: AgentLimits = AgentLimits(),  # noqa: B008 -- frozen
    sample: int = 0,
    name: str = "",
    patch_judge: PatchJudge | None = None,
) -> RepairAttempt:
    """Let an agent repair a case, and score its patch; whatever goes wrong in it is the attempt's `error`."""
    started = time.monotonic()
    case = folder.case
    task = with_failure(case.task, case.extra.get(FAILURE))
    done = RepairAttempt(case.id, name, setting.name, edit_format, sample)
    try:
        with await asyncio.to_thread(open_case, folder, sandbox) as workspace:
            start = await asyncio.to_thread(workspace.take)
            repairer = make(CaseWorkspace(case, workspace, setting, sample))
            done = replace(done, policy=name or repairer.policy.name)
            blank = Item(done.id, "patch", task=task)
            judged = _judging(patch_judge, blank, folder, workspace, start, setting.static_analysis)
            run, environment = await _run(folder, workspace, setting, repairer, ask, edit_format, limits, judged)
            changed = await asyncio.to_thread(workspace.changed, start)
            patch = await asyncio.to_thread(workspace.diff, start)
            texts = {path: workspace.read(path) if workspace.exists(path) else None for path in changed}
        spent = [step.tokens for step in run.steps if step.tokens is not None] + list(environment.patcher_tokens)
        done = replace(
            done,
            patched=any(edit.reply for edit in environment.edits),
            iterations=sum(step.role == "agent" for step in run.steps),
            input_tokens=_total(tokens.prompt for tokens in spent),
            output_tokens=_total(tokens.completion for tokens in spent),
            cost_usd=_total(tokens.cost_usd for tokens in spent),
            ended=str(run.extra["ended"]),
            error=str(run.extra.get("stopped", "")),
            patch=patch if len(patch) <= MOST_PATCH else "",
            rules=tuple(rule for edit in environment.edits for rule in edit.rules),
            refused=sum(bool(edit.refused) for edit in environment.edits),
            trajectory=run,
        )
        if len(patch) > MOST_PATCH:
            raise InputError(f"the patch has {len(patch):,} characters, more than {MOST_PATCH:,}: it is not scored")
        report, signals = await asyncio.to_thread(score, folder, texts, patch, sandbox)
        if signals[0].passed is None:
            message = f"the oracle is flaky: with the patch it {signals[0].text}"
            return replace(done, ended=FLAKY, error=message, signals=signals, seconds=_since(started))
        solved = bool(texts) and report.passed
        outcome = Outcome("passed" if solved else "failed", float(solved))
        run = replace(run, outcome=outcome)
        done = replace(done, solved=solved, signals=signals, trajectory=run)
        if patch_judge is not None and done.patch:
            judgement = await patch_judge.signal(patch_item(done.id, task, done.patch, signals))
            verdicts = [msgspec.to_builtins(verdict) for verdict in patch_judge.verdicts]
            run = replace(run, extra={**run.extra, "patch_judge": verdicts})
            done = replace(done, signals=(*signals, judgement), trajectory=run)
    except (MisstepError, OSError) as error:
        message = error.line() if isinstance(error, MisstepError) else f"{type(error).__name__}: {error}"
        done = replace(done, error=message)
    return replace(done, seconds=_since(started))


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _judging(
    judge: PatchJudge | None, blank: Item, folder: CaseFolder, workspace: Workspace, start: Snapshot, static: bool
) -> Callable[[], Awaitable[tuple[str, bool]]] | None:
    if judge is None:
        return None

    def so_far() -> Item:
        changed, patch = workspace.changed(start), workspace.diff(start)[:MOST_PATCH]
        signals = signals_without_tests(folder, workspace, changed, patch, static=static)
        return patch_item(blank.id, blank.task, patch, signals)

    async def judged() -> tuple[str, bool]:
        return await judge.feedback(await asyncio.to_thread(so_far))

    return judged


async def _run(
    folder: CaseFolder,
    workspace: Workspace,
    setting: Setting,
    repairer: Repairer,
    ask: Ask,
    edit_format: str,
    limits: AgentLimits,
    judged: Callable[[], Awaitable[tuple[str, bool]]] | None,
) -> tuple[Trajectory, Environment]:
    case = folder.case
    analysis = static_analysis(folder, workspace) if setting.static_analysis else None

    async def static(paths: tuple[str, ...]) -> str:
        return await asyncio.to_thread(analysis.feedback, paths) if analysis else ""

    async def tests() -> SuiteReport:
        return await asyncio.to_thread(oracle_report, workspace, case)

    environment = Environment(
        workspace,
        patcher=repairer.patcher,
        apply_reply=replies_in(edit_format),
        ask=ask,
        run_tests=tests if setting.test_execution else None,
        static_analysis=static if analysis else None,
        patch_judge=judged,
        diffs=case.diffs,
        tasks={case.id: case.task},
    )
    try:
        task = Task(case.id, case.task)
        run = await run_agent(task, repairer.policy, environment, ask, limits, watcher=repairer.watcher)
    finally:
        environment.close()
    edits = [msgspec.to_builtins(edit) for edit in environment.edits]
    failure = {FAILURE: case.extra[FAILURE]} if FAILURE in case.extra else {}
    extra = {**run.extra, "edits": edits, **repairer.notes(), **failure}
    source = replace(run.source, evidence=case.evidence)
    return replace(run, source=source, model=ask.model or None, extra=extra), environment


def _total(values: Iterable[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
