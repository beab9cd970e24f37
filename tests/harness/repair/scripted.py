"""A policy that mends the case of `tests.harness.repair.cases`, and fails where a test says so."""

from misstep.harness.repair.attempt import CaseWorkspace, MakeRepairer, Repairer
from misstep.harness.repair.repairers import RepairerOptions
from tests.harness.agent.folders import ScriptedPatcher
from tests.harness.agent.test_loop import Scripted

ATTEMPTED: list[str] = []
FAILING: set[str] = set()

_EDIT = "edit file_path='price.py' instructions='add'"
_REPLY = "price.py\n<<<<<<< SEARCH\n        found -= price\n=======\n        found += price\n>>>>>>> REPLACE\n"


def scripted(options: RepairerOptions) -> MakeRepairer:  # noqa: ARG001
    """Repairers that read, edit and exit."""

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
