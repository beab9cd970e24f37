"""A run as a rule looks at it: the commands with their exit codes, how it ended, what tests and logs say of it."""

import re
from functools import cached_property
from typing import Generic, TypeVar

from msgspec import Struct

from misstep_harness.classifiers.error_lines import exit_code
from misstep_harness.classifiers.history import Act, History
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.logs import TestsLog, own_words, tests_log
from misstep_harness.triage.protocols import ReadOnlyAccess, TextAccess
from misstep_harness.triage.records import Evidence
from misstep_harness.triage.rules.events import Event, harness_event, limit_event
from misstep_harness.triage.rules.failures import TestFailure, last_lines, read_failure

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

    def evidence(self, lines: int = 0) -> Evidence:
        """Return it with the last lines of what it printed, or with the beginning of that."""
        printed = last_lines(self.output, lines) if lines else self.output[:200]
        return Evidence("step", str(self.step), f"{self.line[:200]}\n{printed}")


AccessOfRun = TypeVar("AccessOfRun", bound=TextAccess, covariant=True)


class RunRecord(Generic[AccessOfRun]):
    """What an access gives of a run, each part read once; without a record it has no acts."""

    def __init__(self, access: AccessOfRun) -> None:
        self.access = access

    @property
    def run(self) -> Trajectory | None:
        """Return the trajectory."""
        return self.access.trajectory

    @cached_property
    def log(self) -> TestsLog:
        """Return what the tests printed."""
        return tests_log(self.access.logs)

    @cached_property
    def failure(self) -> TestFailure:
        """Return how the tests failed, by what they printed."""
        return read_failure(self.log.text)

    @cached_property
    def own(self) -> dict[str, str]:
        """Name → text of what the harness wrote itself."""
        return own_words(self.access.logs, self.run, self.access.instruction)

    @cached_property
    def limit(self) -> Event | None:
        """Return a limit that the machine broke and not the agent."""
        return limit_event(self.access.logs, self.access.case.file.limits.memory_mb)

    @cached_property
    def event(self) -> Event | None:
        """Return what broke by the harness's own words."""
        return self.limit or harness_event(self.own)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """Return the calls of the agent, in order."""
        return () if self.run is None else tuple(History(self.run).acts)

    @cached_property
    def commands(self) -> tuple[RecordedCommand, ...]:
        """Return the shell commands, in order."""
        return tuple(
            RecordedCommand(act.step, act.line, act.result.text if act.result is not None else "", exit_code(act))
            for act in self.acts
            if act.line is not None and act.kind != "finish"
        )

    @property
    def last(self) -> RecordedCommand | None:
        """Return the last command."""
        return self.commands[-1] if self.commands else None

    @property
    def only_commands(self) -> bool:
        """Return whether all that changed files were shell commands, so that running them again repeats the run."""
        return not any(act.kind in ("edit", "write", "patch", "delete", "rename", "undo", "run") for act in self.acts)

    @property
    def said_last(self) -> str:
        """Return what the agent said after its last call; empty where the record ends with a call."""
        steps = () if self.run is None else reversed(self.run.steps)
        return next(("" if step.calls else step.text for step in steps if step.role == "agent"), "")

    @property
    def broke_off(self) -> bool:
        """Return whether the agent began and did not come to an end of its own."""
        if not self.acts or self.acts[-1].kind == "finish":
            return False
        killed = self.last is not None and self.last.code in KILLED
        return self.acts[-1].result is None or not self.said_last or killed

    @property
    def writes(self) -> tuple[RecordedCommand, ...]:
        """Return the commands that look like they write something."""
        return tuple(command for command in self.commands if _WRITES.search(command.line))

    def makes(self, name: str) -> bool:
        """Return whether a command writes, copies or moves to a file of this path."""
        path = re.escape(name[:200])
        pattern = re.compile(rf">{{1,2}} ?['\"]?{path}(?![\w.])|{path}['\"], ?['\"][wax]")
        return any(
            pattern.search(command.line) or any(_moved_to(name[:200], line) for line in command.line.splitlines())
            for command in self.commands
            if name in command.line
        )

    def mentions(self, name: str) -> bool:
        """Return whether a command of the agent names something."""
        return any(name in command.line for command in self.commands) or any(
            name in str(act.call.arguments) for act in self.acts if act.line is None
        )


TextRun = RunRecord[TextAccess]
FilesRun = RunRecord[ReadOnlyAccess]


def _moved_to(name: str, line: str) -> bool:
    moves = _MOVES.search(line)
    return moves is not None and name in line[moves.end() :]
