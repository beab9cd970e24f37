"""Repair the cases of a benchmark: every attempt is made once, in a sandbox of its own, and all of it is kept.

A case counts only where it holds: in each of three runs its tests fail before and, with the golden patch, pass after.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.loop import AgentLimits
from misstep_harness.agent.protocols import WatcherSettings
from misstep_harness.clients import ClientSettings
from misstep_harness.edits import edit_format
from misstep_harness.errors import MisstepError
from misstep_harness.journal.inputs import digest_of, length_and_checksum, listed, part
from misstep_harness.journal.records import Inputs
from misstep_harness.repair.attempt import MakeRepairer, Setting, attempt
from misstep_harness.repair.case import CaseFolder, RepairCase, instructed, with_test_changes
from misstep_harness.repair.patch_judge import PatchJudge
from misstep_harness.repair.records import ATTEMPT_RECORDS, FLAKY, NOT_AFFIRMED, RepairAttempt, attempt_id
from misstep_harness.repair.repairers import POLICIES, RepairerOptions
from misstep_harness.repair.scoring import Affirmed, affirm, case_toolchain
from misstep_harness.runs.kind import RunKind, Units
from misstep_harness.runs.model_requests import ItemAsk, ModelRequests
from misstep_harness.trajectory import noted, together
from misstep_harness.workspace import Sandbox
from misstep_harness.workspace.trees import regular_files

if TYPE_CHECKING:
    from misstep_harness.judges.runnable import RunnableJudge

COMMAND = "repair run"


def no_objection(_case: RepairCase) -> str:
    """Return that nothing speaks against repairing a case."""
    return ""


def nothing_more(_case: RepairCase, _patch: str) -> None:
    """Do nothing more with a patch that solves its case."""


class RepairPlan(Struct, frozen=True):
    """The work on every case.

    - `instructions`: Which instructions replace the failure, `high-level` or `detailed`; none if empty.
    - `instructions_by`: Who wrote them, where it was not the case's own maker.
    - `attempts`: How many times each case is attempted.
    - `change_tests`: Whether agents may change tests, with which their patches are then scored.
    - `objections`: Says what speaks against repairing a case, right before its agent would start; empty if nothing.
    - `solved`: Is given a case and each patch that solves it, at once, in case the run is killed.
    """

    policy: str
    setting: Setting
    options: RepairerOptions = RepairerOptions()
    instructions: str = ""
    attempts: int = 1
    limits: AgentLimits = AgentLimits()
    patch_judge: "RunnableJudge | None" = None
    instructions_by: str = ""
    change_tests: bool = False
    observation: WatcherSettings | None = None
    objections: Callable[[RepairCase], str] = no_objection
    solved: Callable[[RepairCase, str], object] = nothing_more


class Repairs(RunKind[tuple[CaseFolder, int], RepairAttempt]):
    """Attempts at cases, each once; `client` is that of the model."""

    command = COMMAND
    noun = "attempts"
    records = ATTEMPT_RECORDS

    def __init__(self, cases: Sequence[CaseFolder], plan: RepairPlan, client: ClientSettings, sandbox: Sandbox) -> None:
        POLICIES.make(plan.policy, plan.options)  # one that cannot be made is refused now
        edit_format(plan.options.edit_format)
        instructed_cases = [instructed(case, plan.instructions) for case in cases] if plan.instructions else cases
        self._cases = [with_test_changes(case) for case in instructed_cases] if plan.change_tests else instructed_cases
        self._plan, self._client, self._sandbox = plan, client, sandbox
        self._affirming: dict[str, asyncio.Task[Affirmed]] = {}
        self.folder = str(cases[0].folder.parent.resolve()) if cases else ""
        toolchains = (case_toolchain(case, sandbox.show) for case in cases)
        places = (place for each in toolchains for place in (*each.shown, *map(str, sandbox.show)))
        self.shown = tuple(dict.fromkeys(places))

    @cached_property
    def _make(self) -> MakeRepairer:  # not before the work: what makes repairers need not be pickled
        make: MakeRepairer = POLICIES.make(self._plan.policy, self._plan.options)
        return make

    def settings(self) -> dict[str, Any]:
        """Return the plan, the sandbox and the model."""
        plan, model = self._plan, self._plan.options.model
        settings: dict[str, Any] = {
            "policy": plan.policy,
            "setting": plan.setting.name,
            "format": plan.options.edit_format,
            "attempts": plan.attempts,
            "iterations": plan.limits.iterations,
            "seconds": plan.limits.seconds,
            "seed": plan.options.seed,
            "sandbox": self._sandbox.name,
            **noted(together(case.case.evidence for case in self._cases)),
        }
        if plan.instructions:
            settings["instructions"] = plan.instructions
        if plan.change_tests:
            settings["change_tests"] = "tests may change"
        if plan.instructions_by:
            settings["instructions_by"] = plan.instructions_by
        if model.name:
            form = {"temperature": model.temperature, "max_tokens": model.max_tokens, "form": model.form}
            settings |= {"model": model.name, "base_url": self._client.base_url or "", **form}
        if plan.options.patcher_model:
            settings["patcher_model"] = plan.options.patcher_model
        if plan.patch_judge is not None:
            settings["patch_judge"] = plan.patch_judge.settings
        return settings | (plan.observation.settings() if plan.observation is not None else {})

    def inputs(self) -> Inputs:
        """Return every file of the cases."""
        return inputs_of_cases(self._cases)

    def units(self) -> Units[tuple[CaseFolder, int]]:
        """Return each case with the number of each attempt."""
        wanted = [(case, sample) for sample in range(self._plan.attempts) for case in self._cases]
        return Units(len(wanted), wanted)

    def id_of(self, unit: tuple[CaseFolder, int]) -> str:
        """Return the id of an attempt."""
        plan, (case, sample) = self._plan, unit
        return attempt_id(case.case.id, plan.policy, plan.setting.name, plan.options.edit_format, sample)

    def recorded_id(self, record: RepairAttempt) -> str:
        """Return the id of an attempt."""
        return record.id

    def cost_of(self, record: RepairAttempt) -> float | None:
        """Return the cost of an attempt."""
        return record.cost_usd

    async def do(
        self, unit: tuple[CaseFolder, int], requests: ModelRequests
    ) -> tuple[RepairAttempt, float | None] | None:
        """Make an attempt; whatever it raises costs that attempt alone."""
        plan, (case, sample) = self._plan, unit
        ask = ItemAsk(requests, self.id_of(unit), plan.options.model.name)
        judge = plan.patch_judge
        patch_judge = None if judge is None else PatchJudge(judge, ask.for_model(judge.model))
        name = case.case.id
        if name not in self._affirming:
            self._affirming[name] = asyncio.create_task(asyncio.to_thread(self._affirmed, case))
        result = RepairAttempt(name, plan.policy, plan.setting.name, plan.options.edit_format, sample)
        try:
            if not (held := await self._affirming[name]).holds:
                result = replace(result, ended=FLAKY if held.flaky else NOT_AFFIRMED, error=held.reason)
            else:
                result = await self._observed(unit, ask, patch_judge)
                if result.solved:
                    await asyncio.to_thread(plan.solved, case.case, result.patch)
        except MisstepError:
            raise
        except Exception as error:  # noqa: BLE001 (the boundary around one attempt)
            message = " ".join(str(error).split())
            result = replace(result, error=f"{type(error).__name__}: {message}")
        return None if ask.cut_off else (result, ask.spent_usd)

    def _affirmed(self, case: CaseFolder) -> Affirmed:
        objections = self._plan.objections(case.case)
        return Affirmed(False, objections) if objections else affirm(case, self._sandbox)

    async def _observed(
        self, unit: tuple[CaseFolder, int], ask: ItemAsk, patch_judge: PatchJudge | None
    ) -> RepairAttempt:
        plan, (case, sample) = self._plan, unit

        async def attempted(make: MakeRepairer) -> RepairAttempt:
            return await attempt(
                case,
                plan.setting,
                make,
                ask,
                sandbox=self._sandbox,
                edit_format=plan.options.edit_format,
                limits=plan.limits,
                sample=sample,
                name=plan.policy,
                patch_judge=patch_judge,
            )

        if (how := plan.observation) is None:
            return await attempted(self._make)
        async with how.observer(self.id_of(unit), case.case.task, ask.for_model(how.model)) as observer:
            result = await attempted(lambda place: replace(self._make(place), watcher=observer))
        steps = result.trajectory.steps if result.trajectory is not None else ()
        return replace(result, observed=observer.observed(steps))


def inputs_of_cases(cases: Sequence[CaseFolder]) -> Inputs:
    """Return every file of the cases: names within the case, lengths and checksums."""
    parts, size = [], 0
    for case in cases:
        for path in sorted(regular_files(case.folder)):
            length, checksum = length_and_checksum(case.folder / path)
            size += length
            parts.append(part(f"{case.case.id}/{path}", length, checksum))
    return Inputs(len(parts), size, digest_of(parts), parts=listed(parts))
