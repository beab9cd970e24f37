"""Tasks are kept in one file that several processes may use."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep.harness.errors import InputError, UsageError
from misstep.harness.repair.failure_bot.tasks import RepairTask, TaskStore

TASK = RepairTask(("t::a",), "pytest", "assert 1 == 2", "trace", "c" * 40, blame="b" * 40, owner="Ann")

FILING = """
import sys
from pathlib import Path
from msgspec.structs import replace
from misstep.harness.repair.failure_bot.tasks import RepairTask, TaskStore
store = TaskStore(Path(sys.argv[1]))
for number in range(40):
    task = RepairTask(("t",), "pytest", "m", "t", "c", blame=f"{number}")
    kept = store.file_task(task)
    assert store.task(kept.id).blame == f"{number}"
"""


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(tmp_path / "tasks.db")


def test_a_task_comes_back_as_it_was_filed(store: TaskStore) -> None:
    filed = store.file_task(TASK)
    assert (filed.id, filed.state) == (1, "open")
    assert filed.created
    assert store.task(1) == filed
    assert TaskStore(store.file).tasks("open") == [filed]


def test_a_failure_has_one_open_task(store: TaskStore) -> None:
    first = store.file_task(TASK)
    assert store.file_task(replace(TASK, tests=("t::b",), message="other")).id == first.id
    assert store.file_task(replace(TASK, blame="")).id != first.id
    store.change_state(first.id, "landed")
    assert store.file_task(TASK).id != first.id


def test_a_task_that_is_open_already_is_brought_up_to_date(store: TaskStore) -> None:
    first = store.file_task(TASK)
    store.attach(first.id, "--- a\n+++ b\n")
    later = store.file_task(replace(TASK, commit="d" * 40, tests=("t::a", "t::b")))
    assert (later.id, later.created, later.commit) == (first.id, first.created, "d" * 40)
    assert store.task(first.id) == later
    assert later.attached_diff == "--- a\n+++ b\n"


def test_a_closed_task_is_not_opened_beside_another_open_one(store: TaskStore) -> None:
    first = store.file_task(TASK).id
    store.change_state(first, "rejected")
    store.file_task(TASK)
    with pytest.raises(UsageError, match="another open task"):
        store.change_state(first, "open")
    assert store.task(first).state == "rejected"


def test_a_diff_stays_attached(store: TaskStore) -> None:
    number = store.file_task(TASK).id
    store.attach(number, "--- a\n+++ b\n")
    store.change_state(number, "fixed")
    kept = store.task(number)
    assert (kept.attached_diff, kept.state, kept.owner) == ("--- a\n+++ b\n", "fixed", "Ann")


def test_halves_of_characters_are_kept_as_marks(store: TaskStore) -> None:
    number = store.file_task(replace(TASK, trace="\udcff", tests=("t\ud800",))).id
    assert store.task(number).trace == "?"


def test_a_task_that_is_none_is_said(store: TaskStore) -> None:
    with pytest.raises(UsageError, match="no task 9"):
        store.task(9)


@pytest.mark.parametrize("content", [b"something else", b"SQLite format 3\0 broken"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content * 100)
    with pytest.raises(InputError, match="tasks"):
        TaskStore(tmp_path / "file")


def test_two_processes_file_the_same_failures_once(tmp_path: Path) -> None:
    file = tmp_path / "tasks.db"
    started = [subprocess.Popen([sys.executable, "-c", FILING, str(file)], stderr=subprocess.PIPE) for _ in range(2)]
    for process in started:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said.decode()
    assert sorted(int(task.blame) for task in TaskStore(file).tasks()) == list(range(40))
