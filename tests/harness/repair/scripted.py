"""A policy that mends the case of `tests.harness.repair.cases`, and fails where a test says so."""

import asyncio
from collections.abc import Sequence

from misstep_harness.agent.actions import Action
from misstep_harness.agent.protocols import Task
from misstep_harness.intervention import INTERVENTION
from misstep_harness.protocols import Ask
from misstep_harness.repair.attempt import CaseWorkspace, MakeRepairer, Repairer
from misstep_harness.repair.repairers import RepairerOptions
from misstep_harness.trajectory import Step
from tests.harness.agent.folders import ScriptedPatcher
from tests.harness.agent.test_loop import Scripted

ATTEMPTED: list[str] = []
FAILING: set[str] = set()

_EDIT = "edit file_path='price.py' instructions='add'"
_REPLY = "price.py\n<<<<<<< SEARCH\n        found -= price\n=======\n        found += price\n>>>>>>> REPLACE\n"


def scripted(options: RepairerOptions) -> MakeRepairer:  # noqa: ARG001
    def make(place: CaseWorkspace) -> Repairer:
        name = place.case.id
        ATTEMPTED.append(name)
        if name in FAILING:
            raise KeyboardInterrupt
        if f"{name} raises" in FAILING:
            raise ZeroDivisionError("a policy may raise anything")
        return Repairer(
            Scripted("read_file file_path='price.py'", _EDIT, "exit summary='added'"), ScriptedPatcher(_REPLY)
        )

    return make


class _GoesRound:
    """Reads one file again and again until it is told something, and then exits."""

    name = "goes_round"

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        await asyncio.sleep(0.01)  # the time that a model would take
        if any(INTERVENTION in step.extra for step in steps):
            return Action("exit", {"summary": "I was told."}, "")
        return Action("read_file", {"file_path": "price.py"}, "Once more.")


def goes_round(_: RepairerOptions) -> MakeRepairer:
    return lambda _: Repairer(_GoesRound(), ScriptedPatcher(_REPLY))
