"""Tasks are kept in one file that several processes may use."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_harness.errors import InputError, UsageError
from misstep_harness.repair.failure_bot.tasks import RepairTask, TaskStore, task_text

TASK = RepairTask(("t::a",), "pytest", "assert 1 == 2", "trace", "c" * 40, blame="b" * 40, owner="Ann")

FILING = """
import sys
from pathlib import Path
from msgspec.structs import replace
from misstep_harness.repair.failure_bot.tasks import RepairTask, TaskStore
store = TaskStore(Path(sys.argv[1]))
for number in range(20):
    task = RepairTask(("t",), "pytest", "m", "t", "c", blame=f"{number}")
    store.file_task(task)
"""


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(tmp_path / "tasks.db")


def test_a_failure_has_one_open_task_that_comes_back_as_it_was_filed(store: TaskStore) -> None:
    first = store.file_task(TASK)
    assert (first.id, first.state, bool(first.created)) == (1, "open", True)
    assert TaskStore(store.file).tasks() == [first]
    later = store.file_task(replace(TASK, commit="d" * 40, tests=("t::b",), message="other"))
    assert (later.id, later.created, later.commit) == (first.id, first.created, "d" * 40)
    assert store.tasks() == [later]
    other = store.file_task(replace(TASK, blame=""))
    assert store.end(first.id, "landed").state == "landed"
    assert [task.state for task in store.tasks()] == ["landed", "open"]
    assert store.file_task(TASK).id not in (first.id, other.id)


def test_a_diff_and_a_rejection_stay_when_the_failure_is_filed_again(store: TaskStore) -> None:
    number = store.file_task(TASK).id
    store.offer(number, "--- a\n+++ b\n")
    assert store.file_task(replace(TASK, commit="d" * 40)).attached_diff == "--- a\n+++ b\n"
    store.end(number, "rejected")
    assert store.file_task(TASK) == store.task(number)
    for other in (7, -1, 2**63):
        with pytest.raises(UsageError, match=f"no task {other}"):
            store.offer(other, "")


def test_a_task_that_cannot_be_read_is_an_error_about_its_file(store: TaskStore) -> None:
    number = store.file_task(TASK).id
    with closing(sqlite3.connect(store.file)) as rows, rows:
        rows.execute("UPDATE task SET content = ?", (b"{",))
    for read in (store.tasks, lambda: store.task(number)):
        with pytest.raises(InputError, match="cannot be used"):
            read()


def test_a_patch_that_reviewers_rejected_is_not_attached_again_and_an_agent_is_shown_it(store: TaskStore) -> None:
    one, moved, two, three = "@@ -1 +1 @@\n-a\n+b\n", "@@ -7 +7 @@\n-a\n+b\n", "-a\n+c\n", "-a\n+d\n"
    number = store.file_task(TASK).id
    assert store.offer(number, one).attached_diff == one
    assert store.offer(number, two).attached_diff == one  # the first is under review
    assert store.reject(number, two, "It hides it.").attached_diff == one
    assert store.reject(number, one).attached_diff == ""
    filed = store.file_task(replace(TASK, commit="d" * 40))
    assert [store.offer(number, diff).attached_diff for diff in (moved, two, three)] == ["", "", three]
    assert "Reviewers rejected this patch, so find another: It hides it.\n\n-a\n+c" in task_text(filed)


def test_halves_of_characters_are_kept_as_marks(store: TaskStore) -> None:
    store.file_task(replace(TASK, trace="\udcff", tests=("t\ud800",)))
    assert store.tasks()[0].trace == "?"


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
    assert sorted(int(task.blame) for task in TaskStore(file).tasks()) == list(range(20))
