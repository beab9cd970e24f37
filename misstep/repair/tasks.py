"""`misstep repair tasks`: what the failure bot found in a repository, over all runs."""

from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.harness.errors import InputError
from misstep.harness.escaping import printable
from misstep.options.common import Json, command_app, json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misstep.harness.repair.failure_bot.tasks import TaskStore

app = command_app(has_commands=True)

Place = Annotated[
    Path, typer.Argument(metavar="REPO", help="Git repository whose tasks are beside it, or a file of tasks.")
]
Number = Annotated[int, typer.Argument(metavar="TASK", help="Number of the task.")]


@app.callback()
def tasks() -> None:
    """List, show and close tasks, or attach a patch to one."""


@app.command("list")
def list_tasks(place: Place, json: Json = False) -> None:
    """List the tasks with their state, owner and tests."""
    import msgspec

    with _opened(place) as store:
        tasks = store.tasks()
    if json:
        print(json_text([msgspec.to_builtins(task) | {"id": task.id, "state": task.state} for task in tasks]))
        return
    for task in tasks:
        attached = ", diff attached" if task.attached_diff else ""
        print(printable(f"{task.id:>4}  {task.state}{attached}  {task.owner or 'no owner'}  {', '.join(task.tests)}"))
    if not tasks:
        print("No task is filed.")


@app.command()
def show(place: Place, number: Number) -> None:
    """Show a task: tests, failure, blamed change and attached diff."""
    with _opened(place) as store:
        task = store.task(number)
    blame = f"{task.blame[:10]} ({task.blame_posterior:.0%})" if task.blame else "no change"
    facts = {
        "task": f"{task.id}, {task.state}, filed {task.created}",
        "tests": ", ".join(task.tests),
        "commit": task.commit[:10],
        "blame": f"{blame}{f'. {task.blame_note}' if task.blame_note else ''}",
        "owner": f"{task.owner or 'nobody'}{f': {task.owner_reason}' if task.owner_reason else ''}",
    }
    print(printable("\n".join(f"{name:<8} {value}" for name, value in facts.items())))
    rejected = [(f"rejected diff{f': {one.comment}' if one.comment else ''}", one.diff) for one in task.rejected]
    for title, text in (("message", task.message), ("attached diff", task.attached_diff), *rejected):
        if text.strip():
            print(f"\n{printable(title)}\n{printable(text.rstrip())}")


@app.command()
def attach(
    place: Place, number: Number, diff: Annotated[Path, typer.Argument(metavar="DIFF", help="Unified diff.")]
) -> None:
    """Attach a diff to a task; no agent is then asked for one."""
    try:
        text = diff.read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "Name a unified diff.", file=diff) from error
    if not any(line.startswith("@@") for line in text.splitlines()):
        raise InputError("is not a unified diff", "Write one with `git diff`.", file=diff)
    with _opened(place) as store:
        store.attach(number, text)
    print(f"the diff is attached to task {number}")


@app.command()
def close(
    place: Place,
    number: Number,
    state: Annotated[
        Literal["landed", "rejected"],
        typer.Option("--as", help="Why: a patch has landed, or nobody wants one."),
    ] = "landed",
) -> None:
    """Close a task.

    No agent is asked to repair its failure. If a patch has landed and the tests fail again, that is a new task.
    """
    with _opened(place) as store:
        store.end(number, state)
    print(f"task {number} is closed: {state}")


@contextmanager
def _opened(place: Path) -> "Iterator[TaskStore]":
    from misstep.harness.repair.failure_bot.tasks import TaskStore
    from misstep.harness.runs.repair_repository import tasks_beside

    file = tasks_beside(place) if place.is_dir() else place
    if not file.is_file():
        raise InputError("no such file of tasks", "`misstep repair run REPO` writes it.", file=file)
    with closing(TaskStore(file)) as store:
        yield store
