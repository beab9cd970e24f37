"""Live sessions on repair cases of the user's: a model repairs one, with the observer of its arm."""

from collections.abc import Sequence

from msgspec.structs import replace

from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.errors import MisstepError
from misstep_harness.journal.records import Inputs
from misstep_harness.live_session import LiveArm, LiveSession
from misstep_harness.observer.experiment.observing import Beside, observer_of, paced
from misstep_harness.observer.experiment.session import failed_calls, tokens_of
from misstep_harness.observer.observer import LiveObservation
from misstep_harness.protocols import Ask
from misstep_harness.repair.attempt import CaseWorkspace, MakeRepairer, Repairer, attempt, setting_named
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.repairers import POLICIES, RepairerOptions
from misstep_harness.repair.runs.repair import inputs_of_cases
from misstep_harness.trajectory import Source, Trajectory, together
from misstep_harness.workspace import Sandbox

_SETTING = "react+static+tests"
MODEL = "model"
"""The policy that repairs."""


class OwnCases:
    """Repair cases as the tasks of an experiment."""

    policy = MODEL

    def __init__(self, cases: Sequence[CaseFolder]) -> None:
        self._cases = cases
        self.evidence = together(one.case.evidence for one in cases)
        self.folder = str(cases[0].folder.parent.resolve())

    def inputs(self) -> Inputs:
        """Return every file of the cases."""
        return inputs_of_cases(self._cases)

    def name_of(self, index: int) -> str:
        """Return the id of the session with a number."""
        return _session_name(*self._attempt(index))

    async def session(
        self,
        index: int,
        arm: LiveArm,
        beside: Beside,
        how: LiveObservation | None,
        sandbox: Sandbox,
        ask: Ask,
        model: ModelSettings,
    ) -> LiveSession:
        """Run the session with a number; its seed is not told."""
        return await _case_session(*self._attempt(index), arm, beside, how, sandbox, ask, model)

    def _attempt(self, index: int) -> tuple[CaseFolder, int]:
        return self._cases[index % len(self._cases)], index // len(self._cases)


async def _case_session(
    case: CaseFolder,
    sample: int,
    arm: LiveArm,
    beside: Beside,
    how: LiveObservation | None,
    sandbox: Sandbox,
    ask: Ask,
    model: ModelSettings,
) -> LiveSession:
    """Run the attempt `sample` at a case; its seed is not told."""
    item, policy = _session_name(case, sample), MODEL
    make: MakeRepairer = POLICIES.make(policy, RepairerOptions(model=model, seed=model.seed or 0))
    blank = Trajectory(item, Source("misstep", evidence=case.case.evidence), case.case.task)
    async with observer_of(blank, arm, beside, how, ask) as observer:

        def watched(place: CaseWorkspace) -> Repairer:
            repairer = make(place)
            return replace(repairer, policy=paced(repairer.policy, observer), watcher=observer)

        done = await attempt(case, setting_named(_SETTING), watched, ask, sandbox=sandbox, sample=sample, name=policy)
    if done.trajectory is None:
        raise MisstepError(f"the case {case.case.id} cannot be worked on: {done.error}", "See `misstep repair check`.")
    run = replace(done.trajectory, id=item, source=blank.source)
    (prompt, output), (calls, failed) = tokens_of(run.steps), failed_calls(run.steps)
    return LiveSession(
        item=item,
        seed=0,
        arm=arm,
        unit=item,
        version=policy,
        n_steps=calls,
        calls=calls,
        failed_calls=failed,
        input_tokens=prompt,
        output_tokens=output,
        seconds=round(sum(step.seconds or 0.0 for step in run.steps), 3),
        engineer_interventions=int(not done.solved),
        solved=done.solved,
        ended=done.ended,
        observed=observer.observed(run.steps) if observer else None,
        last_step=len(run.steps) - 1,
        trajectory=run,
    )


def _session_name(case: CaseFolder, sample: int) -> str:
    """Return the id of a session on a case."""
    return f"{case.case.id}-{sample:03}"
