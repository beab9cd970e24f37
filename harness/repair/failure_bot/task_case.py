"""A task of the failure bot as a repair case: what an agent is told, and the tree that it works on."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from misstep.harness.agent.code_index.symbols import language_of
from misstep.harness.repair.case import BEFORE, RepairCase, write_case
from misstep.harness.repair.failure_bot.grouping import frames
from misstep.harness.repair.failure_bot.repository import Commit, Repository
from misstep.harness.repair.failure_bot.tasks import RepairTask
from misstep.harness.repair.validators.test_files import file_of
from misstep.harness.workspace import Limits

_FAILED_AS_WHOLE = "The test command failed; it names no test."


def task_text(task: RepairTask, change: Commit | None = None) -> str:
    """Return what an agent is told of a task: the failure, its trace, and the change that it began with."""
    number = len(task.tests)
    lines = [
        f"{number} test{'s' * (number > 1)} failed: {', '.join(task.tests)}" if all(task.tests) else _FAILED_AS_WHOLE,
        "",
        task.message,
        "",
        task.trace.rstrip(),
    ]
    if task.blame:
        subject = f" ({change.subject}, by {change.author})" if change else ""
        lines += ["", f"The failure began with the change {diff_number(task)}{subject}."]
    return "\n".join(lines).strip() + "\n"


def diff_number(task: RepairTask) -> str:
    """Return what `get_diff_details` calls the blamed change."""
    return task.blame[:10]


def write_task_case(
    task: RepairTask,
    folder: Path,
    case_folder: Path,
    *,
    seconds: float = Limits().seconds,
    uncommitted: bool = False,
    python: Path | None = None,
    tasks_file: Path | None = None,
) -> RepairCase:
    """Write a task as a repair case: the tree at its commit, the failing tests as oracle, the blamed change as diff."""
    with Repository(folder, uncommitted=uncommitted) as repository:
        change = repository.commit(task.blame) if task.blame else None
        described = repository.described(change) if change else ""
        repository.export(task.commit, case_folder / BEFORE)
        paths = set(repository.paths(task.commit))
    places = [file_of(task.tests[0], paths), *(frame.path for frame in reversed(frames(task.trace, paths)))]
    case = RepairCase(
        id=case_folder.name,
        language=next(filter(None, map(language_of, filter(None, places))), None) or _commonest_language(paths),
        task=task_text(task, change),
        test_command=task.command,
        oracle=task.tests,
        timeout_seconds=seconds,
        alone=task.alone,
        diffs={diff_number(task): described} if change else {},
        extra={
            "commit": task.commit,
            "checkout": str(folder.resolve()),
            **({"python": str(python.absolute())} if python else {}),
            **({"tasks": str(tasks_file)} if tasks_file else {}),
        },
    )
    write_case(case, case_folder)
    return case


def _commonest_language(paths: Collection[str]) -> str:
    known = Counter(language for path in paths if (language := language_of(path)))
    return known.most_common(1)[0][0] if known else "unknown"
