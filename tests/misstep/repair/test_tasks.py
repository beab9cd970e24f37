"""`misstep repair tasks`: the list, one task, and its end."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from misstep_harness.repair.failure_bot.tasks import RejectedPatch, RepairTask, TaskStore
from tests.misstep.as_a_user import misstep

DIFF = "--- a\n+++ b\n"
TASK = RepairTask(
    ("t::a",),
    "pytest",
    "assert 1 == 2",
    "trace",
    "c" * 40,
    owner="Ann",
    attached_diff=DIFF,
    rejected=(RejectedPatch("-a\n+b\n", "It hides it."),),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with closing(TaskStore(tmp_path / "shop.tasks.sqlite")) as store:
        store.file_task(TASK)
    (tmp_path / "shop").mkdir()
    return store.file


def test_the_tasks_beside_a_repository_are_listed_one_is_shown_and_closed(file: Path) -> None:
    shop = file.parent / "shop"
    assert misstep("repair", "tasks", shop).stdout == "   1  open, diff attached  Ann  t::a\n"
    shown = misstep("repair", "tasks", shop, "1").stdout
    assert "commit   cccccccccc\nblame    no change\nowner    Ann\n\nmessage\nassert 1 == 2\n\nattached diff" in shown
    assert "rejected diff: It hides it.\n-a\n+b\n" in shown
    assert misstep("repair", "tasks", shop, "1", "--close", "rejected").stdout == "task 1 is closed: rejected\n"
    [task] = json.loads(misstep("repair", "tasks", file, "--json").stdout)
    assert (task["id"], task["state"], task["tests"]) == (1, "rejected", ["t::a"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone"], "no such file of tasks"),
        (["shop.tasks.sqlite", "2"], "no task 2"),
        (["shop.tasks.sqlite", "--close", "landed"], "--close without a task"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(file: Path, arguments: list[str], message: str) -> None:
    done = misstep("repair", "tasks", *arguments, cwd=file.parent)
    assert (done.returncode, message in done.stderr) == (2, True)
