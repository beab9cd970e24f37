"""Policies that decide nothing: a recorded run done again in the same words, and one edit without a loop (table II)."""

from collections.abc import Sequence

from misstep.harness.agent.actions import Action
from misstep.harness.agent.loop import AgentStopped
from misstep.harness.agent.protocols import PatchRequest, Task
from misstep.harness.protocols import Ask
from misstep.harness.trajectory import Step, Trajectory


class ReplayPolicy:
    """Enters the commands of a recorded trajectory in their order; `RecordedPatcher` replays its edits."""

    name = "replay"

    def __init__(self, recorded: Trajectory) -> None:
        self._calls = [(step.text, call) for step in recorded.steps for call in step.calls if step.role == "agent"]
        self._id = recorded.id

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """Return the next recorded command; raises `AgentStopped` behind the last."""
        done = sum(len(step.calls) for step in steps)
        if done >= len(self._calls):
            raise AgentStopped(f"the recorded run {self._id!r} has no more than {done} commands")
        thought, call = self._calls[done]
        if isinstance(call.arguments, str):
            return Action(call.name, thought=thought, command=call.arguments, error=call.parse_error or "no arguments")
        return Action(call.name, {name: str(value) for name, value in call.arguments.items()}, thought)


class RecordedPatcher:
    """Gives the recorded replies of the patching sub-agent in their order, whatever is asked."""

    def __init__(self, recorded: Trajectory) -> None:
        self._replies = [str(edit.get("reply", "")) for edit in recorded.extra.get("edits", ())]
        self._done = 0

    async def patch(self, request: PatchRequest, ask: Ask) -> str:  # noqa: ARG002
        """Return the next recorded reply; raises `AgentStopped` behind the last."""
        if self._done >= len(self._replies):
            raise AgentStopped(f"the recorded run has no more than {self._done} replies of its patching sub-agent")
        self._done += 1
        return self._replies[self._done - 1]


class DirectPolicy:
    """Enters one edit and ends the run; whatever the edit came to is not looked at."""

    name = "direct"

    def __init__(self, path: str, instruction: str) -> None:
        self._edit = Action("edit", {"file_path": path, "instructions": instruction})

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """Return the edit, and the end behind it."""
        is_patched = any(step.role == "agent" for step in steps)
        return Action("exit", {"summary": "The patcher was asked once."}) if is_patched else self._edit
