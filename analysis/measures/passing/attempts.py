"""Attempts of systems at tasks, counted: passed, failed, and without an answer."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from misstep.analysis.measures.paired_systems import Cell

Lack = Literal["missing", "unreadable"]
"""Why an attempt has no outcome: none is given, or what is given cannot be read as one."""


class TaskCounts(Struct, frozen=True):
    """The attempts of one system at one task; `unanswered` ones have no outcome, which is neither a pass nor a fail."""

    passed: int = 0
    failed: int = 0
    unanswered: int = 0

    @property
    def attempts(self) -> int:
        """Return all of them."""
        return self.passed + self.failed + self.unanswered

    @property
    def answered(self) -> Cell:
        """Return the attempts with an outcome, and how many of these passed."""
        return self.passed + self.failed, self.passed

    @property
    def all(self) -> Cell:
        """Return all attempts, those without an outcome as failed, and how many passed."""
        return self.attempts, self.passed

    def __add__(self, other: "TaskCounts") -> "TaskCounts":
        """Return the attempts of both."""
        return TaskCounts(self.passed + other.passed, self.failed + other.failed, self.unanswered + other.unanswered)


class Unanswered(Struct, frozen=True):
    """Attempts without an outcome: whose, at which task, where that stands, and what stands there instead."""

    system: str
    task: str
    where: str
    lack: Lack
    found: str = ""
    attempts: int = 1


class SystemAttempts(Struct, frozen=True):
    """What one system did: task → its attempts, and those without an outcome one by one.

    `evidence` is `generated` where the tasks were made with known faults.
    """

    name: str
    tasks: Mapping[str, TaskCounts]
    unanswered: tuple[Unanswered, ...] = ()
    evidence: Literal["generated", "real"] = "real"

    def lacking(self, lack: Lack) -> int:
        """Return how many attempts have no outcome for this reason."""
        return sum(one.attempts for one in self.unanswered if one.lack == lack)


class PassAttempts(Struct, frozen=True):
    """The attempts of one or several systems, and remarks on how they were read."""

    systems: tuple[SystemAttempts, ...]
    remarks: tuple[str, ...] = ()


def together(parts: Iterable[PassAttempts]) -> PassAttempts:
    """Attempts from several sources; those of a system that is in more than one of them are added up, which is said."""
    systems: dict[str, SystemAttempts] = {}
    remarks: list[str] = []
    for part in parts:
        remarks += part.remarks
        for one in part.systems:
            before = systems.get(one.name)
            if before is None:
                systems[one.name] = one
                continue
            remarks.append(f"the attempts of {one.name} from several places are put together")
            tasks = dict(before.tasks)
            for task, counts in one.tasks.items():
                tasks[task] = tasks.get(task, TaskCounts()) + counts
            evidence = before.evidence if before.evidence == one.evidence else "real"
            systems[one.name] = SystemAttempts(one.name, tasks, before.unanswered + one.unanswered, evidence)
    return PassAttempts(tuple(systems.values()), tuple(dict.fromkeys(remarks)))
