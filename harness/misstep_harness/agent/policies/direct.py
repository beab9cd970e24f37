"""The policy `direct`: one edit without a loop (table II)."""

from collections.abc import Sequence

from misstep_harness.agent.actions import Action
from misstep_harness.agent.protocols import Task
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step


class DirectPolicy:
    """Enters one edit and ends the run; whatever the edit came to is not looked at."""

    name = "direct"

    def __init__(self, path: str, instruction: str) -> None:
        self._edit = Action("edit", {"file_path": path, "instructions": instruction})

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """Return the edit, and the end behind it."""
        is_patched = any(step.role == "agent" for step in steps)
        return Action("exit", {"summary": "The patcher was asked once."}) if is_patched else self._edit
