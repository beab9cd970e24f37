"""Agentless: the issue texts of SWE-bench Lite classed by hand, whether they say enough and whether they say too much.

One row of `classifications.csv.gz`, one a task, the texts shortened:

    instance_id,problem_statement,patch,test_patch,description quality,solution in description,line location,…
    some__project-1,"It fails when …",diff --git …,diff --git …,Info in NL,No solution,None,Stacktrace,Keywords

The labels are of a task, not of a run. `agentless_classes` asks what the text says of the problem, and shows the text
alone; `agentless_classes-solution` what it says of the solution, and shows the gold patch as well. The item has where
the text says the place of the edit, for breakdowns; nobody is shown it.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter
from misstep_harness.datasets.upstream import csv_rows
from misstep_harness.protocols import ReadFile

NAME = "agentless_classes"
RATER = "authors"
SOLUTION = "solution"


class _Task(Struct, frozen=True):
    instance_id: str
    problem_statement: str
    patch: str
    quality: str = field(name="description quality")
    solution: str = field(name="solution in description")
    line: str = field(name="line location")
    function: str = field(name="function location")
    file: str = field(name="file location")


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (no trajectories in this set)
    """Write both questions."""
    tasks = list(classed_tasks(folder))
    questions = SetWriter(NAME, folder, out)
    questions.write(
        [_item(task, "") for task in tasks], [Gold(task.instance_id, RATER, task.quality) for task in tasks]
    )
    questions.write(
        [_item(task, task.patch) for task in tasks],
        [Gold(task.instance_id, RATER, task.solution) for task in tasks],
        further=SOLUTION,
    )


def classed_tasks(folder: Path) -> Iterator[_Task]:
    """Return every task with its classes."""
    return csv_rows(folder / "classifications.csv.gz", _Task)


def _item(task: _Task, patch: str) -> Item:
    project = task.instance_id.partition("__")[0]
    places = {"line": task.line, "function": task.function, "file": task.file}
    return Item(
        id=task.instance_id,
        kind="text",
        text=task.problem_statement,
        patch=patch,
        extra={"project": project, "places": places},
    )
