"""From a git repository whose tests fail to repair cases: the failure bot's tasks, each laid out as a case.

The cases and the file of tasks stand in the run's folder, so that a run that is gone on with finds the same ones.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from harness.errors import InputError
from harness.escaping import plain
from harness.progress import say
from harness.repair.case import CaseFolder, read_case
from harness.repair.failure_bot.flakiness import Recorded
from harness.repair.failure_bot.tasks import TaskStore
from harness.repair.failure_bot.triage import Event, Triaged, triage_repository, write_task_case
from harness.runs.standing_runs import manifest_of
from harness.workspace import Sandbox, python_toolchain

CASES = "cases"
TASKS = "tasks.sqlite"


def case_name(task: int) -> str:
    """The name of the case of a task."""
    return f"task-{task}"


def cases_of_repository(
    repository: Path, command: str, out: Path, sandbox: Sandbox, record: Sequence[Recorded] = ()
) -> list[CaseFolder]:
    """The failing tests of a repository at its head as repair cases, one a cause, without those that a rule holds back.

    Parameters
    ----------
    repository
        A git repository, of which only the commits count; nothing in it is changed.
    command
        The shell line that runs its tests.
    out
        The run's folder.
    sandbox
        Where the tests run.
    record
        Earlier outcomes of its tests, oldest first.

    Raises
    ------
    InputError
        It is no repository, the command runs no test, no test fails, or a rule holds back every task.
    """
    folder = out / CASES
    if folder.is_dir():
        return [read_case(each) for each in sorted(folder.iterdir())]
    out.mkdir(parents=True, exist_ok=True)
    with closing(TaskStore(out / TASKS)) as store:
        found = triage_repository(
            repository,
            command,
            sandbox=sandbox,
            toolchain=python_toolchain(),
            record=record,
            store=store,
            on_event=_say,
        )
    if not found:
        raise InputError("no test fails at the head of the repository", "There is nothing to repair.", file=repository)
    to_run = [triaged for triaged in found if triaged.decision.run]
    if not to_run:
        raise InputError(f"no task is to be repaired: {_held_back(found)}", "Mend that first.", file=repository)
    building = out / f"{CASES}.new"
    for triaged in to_run:
        write_task_case(triaged.task, repository, building / case_name(triaged.task.id))
    building.rename(folder)
    return [read_case(each) for each in sorted(folder.iterdir())]


def _say(event: Event) -> None:
    say(f"misstep: {event.stage}: {plain(event.text)}")


def _held_back(found: list[Triaged]) -> str:
    return "; ".join(f"{each.rule}: {each.reason}" for triaged in found for each in triaged.decision.objections)


def case_of(run: Path, name: str) -> CaseFolder:
    """A case of a run, where it stands: in the run's folder, or in the benchmark's.

    Raises
    ------
    InputError
        The benchmark has moved, or there is no such run.
    """
    manifest = manifest_of(run, "Name a folder that `misstep repair run` wrote.")
    folders = [run / CASES / name, Path(manifest.folder) / name]
    for folder in folders:
        if folder.is_dir():
            return read_case(folder)
    raise InputError(f"the case {name!r} is gone", "Put the benchmark back where it was.", file=folders[-1])


def close_task(run: Path, case: str) -> int | None:
    """Close the failure bot's task of a case, as its patch has landed; gives its number, `None` where it has none."""
    if not (run / TASKS).exists():
        return None
    with closing(TaskStore(run / TASKS)) as store:
        number = next((task.id for task in store.tasks() if case_name(task.id) == case), None)
        return None if number is None else store.change_state(number, "landed").id
