"""Small tasks that really run: one test fails before the change that is asked for, and none after it."""

from pathlib import Path
from random import Random

import pytest

from misstep_harness.generate.projects import LIMITS, TEST_COMMAND, RunnableTask, make_runnable_task
from misstep_harness.generate.voice import Voice
from misstep_harness.workspace import find_sandbox, open_workspace, python_toolchain
from misstep_harness.workspace.suite.report import SuiteReport
from misstep_harness.workspace.suite.run import run_suite

TOOLS = ("search_code", "search_method")


def _task(seed: int, limit: str = "") -> RunnableTask:
    random = Random(seed)  # noqa: S311 (made-up data)
    return make_runnable_task(random, Voice(random, "development"), limit, TOOLS)


def _report(files: dict[str, str], folder: Path) -> SuiteReport:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    tools = python_toolchain()
    with open_workspace(
        folder, sandbox=find_sandbox(), read_only=tools.read_only, environment=tools.environment
    ) as workspace:
        return run_suite(workspace, TEST_COMMAND)


@pytest.mark.parametrize("seed", range(4))
def test_one_test_fails_before_the_change_and_none_after_it(seed: int, tmp_path: Path) -> None:
    task = _task(seed)
    before = _report(task.files, tmp_path / "before")
    assert [task.function.name in test.id for test in before.failed] == [True]
    assert _report(task.solved_files, tmp_path / "after").passed


@pytest.mark.parametrize("seed", range(4))
def test_the_change_is_in_one_file_alone(seed: int) -> None:
    task = _task(seed)
    assert [path for path in task.files if task.files[path] != task.solved_files[path]] == [task.change.path]


@pytest.mark.parametrize("limit", LIMITS)
def test_what_is_ruled_out_is_named_in_the_request(limit: str) -> None:
    task = _task(5, limit)
    assert task.forbidden in task.request
    assert len(task.request) > len(_task(5).request)


def test_the_same_seed_gives_the_same_task() -> None:
    assert _task(9, "only_path").files == _task(9, "only_path").files
    assert _task(9, "only_path").request == _task(9, "only_path").request
