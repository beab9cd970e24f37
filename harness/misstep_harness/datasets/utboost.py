"""UTBoost: tasks of SWE-bench whose tests were too weak, and lists of tests that the harness read wrongly from logs.

One task of `original_lite.json.gz` or `reparsed_lite.json.gz`, and one row of `tasks.csv` without its last columns:

    {"some__project-1": {"FAIL_TO_PASS": ["test_a (app.Case)"], "PASS_TO_PASS": ["Fields are not equal."]}}

    instance_id,in_lite,in_verified,weak_tests,augmented_fail_to_pass,reparsed_lite,reparsed_verified
    some__project-1,1,0,1,2,1,0

The benchmark asks of each name in the lists of Lite whether it is still in its list after upstream derived it with
another parser; most of the removed names are lines of documentation. Weak tests are known of the tasks that have them
and of no other, so that they cannot be labels. A changed list need not change the verdict on any patch.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter
from misstep_harness.datasets.upstream import csv_rows, json_file
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile

NAME = "utboost"
RATER = "second_parser"


class _Lists(Struct, frozen=True):
    """The tests of a task that must pass after the solution: those that failed before, those that passed before."""

    fail_to_pass: tuple[str, ...] = field(name="FAIL_TO_PASS")
    pass_to_pass: tuple[str, ...] = field(name="PASS_TO_PASS")

    def by_name(self) -> dict[str, tuple[str, ...]]:
        return {"FAIL_TO_PASS": self.fail_to_pass, "PASS_TO_PASS": self.pass_to_pass}


class _Task(Struct, frozen=True):
    instance_id: str
    in_lite: bool
    in_verified: bool
    weak_tests: bool
    reparsed_lite: bool
    reparsed_verified: bool


class _Name(Struct, frozen=True):
    task: str
    list: str
    place: int
    test: str
    kept: bool

    @property
    def item_id(self) -> str:
        return f"{self.task}/{self.list}/{self.place}"


def load(folder: Path, out: Path, read: ReadFile) -> None:  # noqa: ARG001 (no trajectories in this set)
    """Write the names in the harness's lists as items, and whether the second parser keeps each as its gold label."""
    names = list(_names(folder))
    SetWriter(NAME, folder, out).write(
        (_item(name) for name in names),
        (Gold(name.item_id, RATER, "kept" if name.kept else "removed") for name in names),
    )


def tasks(folder: Path) -> Iterator[_Task]:
    """Return every task of the set."""
    return csv_rows(folder / "tasks.csv", _Task)


def _names(folder: Path) -> Iterator[_Name]:
    path = folder / "original_lite.json.gz"
    before = json_file(path, dict[str, _Lists])
    after = json_file(folder / "reparsed_lite.json.gz", dict[str, _Lists])
    if before.keys() != after.keys():
        alone = min(before.keys() ^ after.keys())
        raise InputError("the task is only in one of the lists before and after", file=path, field=alone)
    for task, lists in sorted(before.items()):
        for which, tests in lists.by_name().items():
            left = set(after[task].by_name()[which])
            for place, test in enumerate(tests):
                yield _Name(task, which, place, test, test in left)


def _item(name: _Name) -> Item:
    project = name.task.partition("__")[0]
    return Item(
        id=name.item_id,
        kind="text",
        text=name.test,
        extra={"project": project, "list": name.list, "cluster": name.task},
    )
