"""A scripted agent that misbehaves on purpose, without a model: for what detects and corrects misbehaviour.

A plan is a list of acts, a seed chooses among their forms:

    work      look at files of the workspace, one after the other
    repeat    the same command again and again, whatever it shows
    fail      a command that is malformed or names what is not there, again and again
    overstep  edit a file that nobody asked to change
    give_up   exit without having changed anything
"""

import random
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from harness.agent.actions import Action
from harness.agent.loop import AgentStopped
from harness.agent.protocols import PatchRequest, Task
from harness.protocols import Ask
from harness.trajectory import Step

Kind = Literal["work", "repeat", "fail", "overstep", "give_up"]


class Act(Struct, frozen=True):
    """What to do, and for how many commands."""

    kind: Kind
    times: int = 1


class WaywardPolicy:
    """Carries out a plan, then exits.

    Parameters
    ----------
    plan
        The acts in their order.
    paths
        Files of the workspace that it may look at and edit.
    seed
        Chooses files and forms.
    """

    name = "wayward"

    def __init__(self, plan: Sequence[Act], paths: Sequence[str], seed: int = 0) -> None:
        if not paths:
            raise AgentStopped("there is no file to work on")
        self._kinds = [(place, act.kind) for place, act in enumerate(plan) for _ in range(act.times)]
        self._paths = tuple(paths)
        self._seed = seed

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """The next command of the plan; `exit` behind the last."""
        done = sum(step.role == "agent" for step in steps)
        if done >= len(self._kinds):
            return Action("exit", {"summary": "The task is done."}, thought="Everything is in order now.")
        place, kind = self._kinds[done]
        # An act keeps to one choice as long as it lasts, so that its repetitions are true ones.
        return self._command(kind, random.Random(f"{self._seed} {place}"), done)  # noqa: S311 -- no secret

    def _command(self, kind: Kind, chance: random.Random, done: int) -> Action:
        path = chance.choice(self._paths)
        if kind == "work":
            return Action("read_file", {"file_path": self._paths[done % len(self._paths)]}, thought="I read on.")
        if kind == "repeat":
            name, argument = chance.choice([("read_file", "file_path"), ("find_file", "file_name")])
            return Action(name, {argument: path}, thought="I look at this once more.")
        if kind == "fail":
            return chance.choice(
                [
                    Action("read_file", {"file_path": f"{path}.gone"}, thought="It must be here."),
                    Action("open_file", {"file_path": path}, thought="I open the file."),
                    Action("read_file", command=f"read_file {path}", error=f"After read_file stands {path!r}."),
                ]
            )
        if kind == "overstep":
            instructions = "Add a line with a remark at the top of the file."
            return Action("edit", {"file_path": path, "instructions": instructions}, thought="I tidy up as well.")
        return Action("exit", {"summary": "I could not do it."}, thought="This cannot be solved.")


class WaywardPatcher:
    """Writes a remark above a file's first line, in the search-replace format."""

    async def patch(self, request: PatchRequest, ask: Ask) -> str:  # noqa: ARG002
        """The edit; every form of it is the same."""
        first = request.content.split("\n", 1)[0]
        return f"{request.path}\n<<<<<<< SEARCH\n{first}\n=======\n# Looked at by an agent.\n{first}\n>>>>>>> REPLACE\n"
