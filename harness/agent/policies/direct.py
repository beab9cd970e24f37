"""One file and one instruction, handed to the patching sub-agent once: no loop, no tools, no second try (table II)."""

from collections.abc import Sequence

from misstep.harness.agent.actions import Action
from misstep.harness.agent.protocols import Task
from misstep.harness.protocols import Ask
from misstep.harness.trajectory import Step


class DirectPolicy:
    """Enters one edit and ends the run; whatever the edit came to is not looked at.

    - `path`, `instruction`: The file to change, and what to change in it.
    """

    name = "direct"

    def __init__(self, path: str, instruction: str) -> None:
        self._edit = Action("edit", {"file_path": path, "instructions": instruction})

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """Return the edit, and the end behind it."""
        asked = any(step.role == "agent" for step in steps)
        return Action("exit", {"summary": "The patcher was asked once."}) if asked else self._edit
