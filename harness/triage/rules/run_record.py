"""What the record of a run shows: the agent's commands with their exit codes, how it ended, what failed in it."""

import re
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from misstep.harness.classifiers.calls.exit_codes import exit_code
from misstep.harness.classifiers.calls.history import Act, History
from misstep.harness.trajectory import Trajectory

KILLED, OUT_OF_TIME = (137, 139, 134, -9), (124,)
"""Exit codes of a command that was killed, and of one that `timeout` ended."""

_MOVES = re.compile(r"\b(?:tee|touch|mv|cp)\b")
_WRITES = re.compile(
    r">{1,2}\s*[\w./$\"'{]|\btee\b|\bsed\s+-i|\bmv\b|\bcp\b|\bpatch\b|\bwrite\w*\(|\bmkdir\b|\btar\b|\bdump\w*\("
)


class RecordedCommand(Struct, frozen=True):
    """A shell command of the agent: its step, its line, what it printed, its exit code where it is known."""

    step: int
    line: str
    output: str
    code: int | None

    @property
    def failed(self) -> bool:
        """Return whether it is known to have failed."""
        return self.code not in (None, 0)


class RunRecord(Struct, frozen=True, dict=True):
    """A run as a judge looks at it."""

    run: Trajectory

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """Return the calls of the agent, in order."""
        return tuple(History(self.run).acts)

    @cached_property
    def commands(self) -> tuple[RecordedCommand, ...]:
        """Return the shell commands, in order."""
        return tuple(_commands(self.acts))

    @cached_property
    def only_commands(self) -> bool:
        """Return whether all that changed files were shell commands, so that running them again repeats the run."""
        return not any(act.kind in ("edit", "write", "patch", "delete", "rename", "undo", "run") for act in self.acts)

    @property
    def said_last(self) -> str:
        """Return what the agent said after its last call; empty where the record ends with a call."""
        for step in reversed(self.run.steps):
            if step.role == "agent":
                return "" if step.calls else step.text
        return ""

    @property
    def unanswered(self) -> bool:
        """Return whether the last call has no answer."""
        return bool(self.acts) and self.acts[-1].result is None

    @property
    def writes(self) -> tuple[RecordedCommand, ...]:
        """Return the commands that look like they write something."""
        return tuple(command for command in self.commands if _WRITES.search(command.line))

    def makes(self, name: str) -> bool:
        """Return whether a command writes, copies or moves to a file of this path."""
        path = re.escape(name[:200])
        made = re.compile(rf">{{1,2}} ?['\"]?{path}(?![\w.])|{path}['\"], ?['\"][wax]")
        return any(
            made.search(command.line) or any(_moved_to(name[:200], line) for line in command.line.splitlines())
            for command in self.commands
            if name in command.line
        )

    def mentions(self, name: str) -> bool:
        """Return whether a command of the agent names something."""
        return any(name in command.line for command in self.commands) or any(
            name in str(act.call.arguments) for act in self.acts if act.line is None
        )


def _moved_to(name: str, line: str) -> bool:
    """Return whether a line has a command that makes or moves files, and the name behind it."""
    moves = _MOVES.search(line)
    return moves is not None and name in line[moves.end() :]


def _commands(acts: tuple[Act, ...]) -> Iterator[RecordedCommand]:
    for act in acts:
        if act.line is not None and act.kind != "finish":
            yield RecordedCommand(act.step, act.line, act.result.text if act.result is not None else "", exit_code(act))
