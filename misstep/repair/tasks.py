"""`misstep repair tasks`: what the failure bot found in a repository, over all runs."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.options.common import Json, json_text
from misstep_harness.errors import InputError, UsageError
from misstep_harness.escaping import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misstep_harness.repair.failure_bot.tasks import RepairTask


def tasks(
    repository: Annotated[
        Path, typer.Argument(metavar="REPO", help="Git repository whose tasks are beside it, or a file of tasks.")
    ],
    number: Annotated[int | None, typer.Argument(metavar="TASK", help="Number of a task to show or close.")] = None,
    close: Annotated[
        Literal["landed", "rejected"] | None,
        typer.Option("--close", help="Close the task: a patch has landed, or nobody wants one."),
    ] = None,
    json: Json = False,
) -> None:
    """List the tasks of a repository, show one, or close it.

    The list has state, owner and tests; a task has its failure, the blamed change and the attached diff. No agent is
    asked to repair the failure of a closed task. If a patch has landed and the tests fail again, that is a new task.
    """
    import msgspec

    from misstep_harness.repair.failure_bot.tasks import TaskStore
    from misstep_harness.repair.runs.repository import tasks_beside

    if close is not None and number is None:
        raise UsageError("--close without a task", "Give its number: `misstep repair tasks REPO 1 --close landed`.")
    file = tasks_beside(repository) if repository.is_dir() else repository
    if not file.is_file():
        raise InputError("no such file of tasks", "`misstep repair run REPO` writes it.", file=file)
    with closing(TaskStore(file)) as store:
        if number is not None and close is not None:
            store.end(number, close)
        listed = store.tasks() if number is None else [store.task(number)]
    if json:
        print(json_text([msgspec.to_builtins(task) | {"id": task.id, "state": task.state} for task in listed]))
    elif close is not None:
        print(f"task {number} is closed: {close}")
    else:
        print(printable(_listed(listed) if number is None else _shown(listed[0])))


def _listed(tasks: "Sequence[RepairTask]") -> str:
    lines = (
        f"{task.id:>4}  {task.state}{', diff attached' if task.attached_diff else ''}  {task.owner or 'no owner'}  "
        f"{', '.join(task.tests)}"
        for task in tasks
    )
    return "\n".join(lines) or "No task is filed."


def _shown(task: "RepairTask") -> str:
    blame = f"{task.blame[:10]} ({task.blame_posterior:.0%})" if task.blame else "no change"
    facts = {
        "task": f"{task.id}, {task.state}, filed {task.created}",
        "tests": ", ".join(task.tests),
        "commit": task.commit[:10],
        "blame": f"{blame}{f'. {task.blame_note}' if task.blame_note else ''}",
        "owner": f"{task.owner or 'nobody'}{f': {task.owner_reason}' if task.owner_reason else ''}",
    }
    rejected = [(f"rejected diff{f': {one.comment}' if one.comment else ''}", one.diff) for one in task.rejected]
    texts = (("message", task.message), ("attached diff", task.attached_diff), *rejected)
    blocks = [f"{title}\n{text.rstrip()}" for title, text in texts if text.strip()]
    return "\n\n".join(["\n".join(f"{name:<8} {value}" for name, value in facts.items()), *blocks])
