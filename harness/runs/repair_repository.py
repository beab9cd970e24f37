"""From a git repository whose tests fail to repair cases: the failure bot's tasks, each laid out as a case.

The cases and the file of tasks are in the run's folder, so that a run that is gone on with finds the same ones.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec import Struct

from misstep.harness.errors import InputError
from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.harness.repair.case import CaseFolder, RepairCase, read_case
from misstep.harness.repair.failure_bot.environment import ENDS
from misstep.harness.repair.failure_bot.flakiness import Recorded
from misstep.harness.repair.failure_bot.repository import Repository
from misstep.harness.repair.failure_bot.task_case import write_task_case
from misstep.harness.repair.failure_bot.tasks import RepairTask, TaskStore
from misstep.harness.repair.failure_bot.triage import examine, triage_repository
from misstep.harness.repair.scoring import case_toolchain
from misstep.harness.runs.opened import manifest_of
from misstep.harness.workspace import Limits, Sandbox, own_command, project_toolchain

CASES = "cases"
TASKS = "tasks.sqlite"
HELD_BACK = "held_back.json"
_MOST_NAMED = 5


def case_name(task: int) -> str:
    """Return the name of the case of a task."""
    return f"task-{task}"


class HeldBack(Struct, frozen=True):
    """Failing tests that no agent is to repair: the first rule that says so, and why."""

    tests: tuple[str, ...]
    rule: str
    reason: str

    @property
    def line(self) -> str:
        """Return both in one line."""
        return f"{', '.join(self.tests) if all(self.tests) else 'the test command'}: {self.reason}"


class FoundCases(Struct, frozen=True):
    """What the failing tests of a repository became."""

    cases: tuple[CaseFolder, ...]
    held_back: tuple[HeldBack, ...]

    @property
    def lacks_environment(self) -> bool:
        """Return whether nothing is repaired, as what the tests need is not there."""
        return not self.cases and any(each.rule in ENDS for each in self.held_back)


def cases_of_repository(
    repository: Path,
    command: str,
    out: Path,
    sandbox: Sandbox,
    record: Sequence[Recorded] = (),
    *,
    seconds: float = Limits().seconds,
    uncommitted: bool = False,
    python: Path | None = None,
) -> FoundCases:
    """The failing tests of a repository at its head as repair cases, one a cause, and those that a rule holds back."""
    folder, held = out / CASES, out / HELD_BACK
    if folder.is_dir():
        kept = msgspec.json.decode(held.read_bytes(), type=tuple[HeldBack, ...]) if held.is_file() else ()
        return FoundCases(tuple(read_case(each) for each in sorted(folder.iterdir())), kept)
    toolchain, command = project_toolchain(repository, command, python), own_command(command)
    _say_of_files(repository, uncommitted=uncommitted)
    out.mkdir(parents=True, exist_ok=True)
    with closing(TaskStore(out / TASKS)) as store:
        tasks = triage_repository(
            repository,
            command,
            sandbox=sandbox,
            toolchain=toolchain,
            limits=Limits(seconds=seconds),
            uncommitted=uncommitted,
            record=record,
            file_task=store.file_task,
        )
    building = out / f"{CASES}.new"
    building.mkdir(exist_ok=True)
    for triaged in tasks:
        if triaged.decision.run:
            target = building / case_name(triaged.task.id)
            write_task_case(triaged.task, repository, target, seconds=seconds, uncommitted=uncommitted, python=python)
    held_back = [
        HeldBack(triaged.task.tests, triaged.decision.objections[0].rule, triaged.decision.objections[0].reason)
        for triaged in tasks
        if not triaged.decision.run
    ]
    held.write_bytes(msgspec.json.encode(held_back))
    building.rename(folder)
    return FoundCases(tuple(read_case(each) for each in sorted(folder.iterdir())), tuple(held_back))


def _say_of_files(repository: Path, *, uncommitted: bool) -> None:
    with Repository(repository) as opened:
        paths = opened.uncommitted_paths()
    if paths:
        named = ", ".join(paths[:_MOST_NAMED]) + (", …" if len(paths) > _MOST_NAMED else "")
        counts = "are taken in" if uncommitted else "do not count; --uncommitted takes them in"
        say(f"misstep: {len(paths)} files differ from the last commit and {counts}: {plain(named)}")


def case_of(run: Path, name: str) -> CaseFolder:
    """Return a case of a run, where it stands: in the run's folder, or in the benchmark's."""
    manifest = manifest_of(run, "Name a folder that `misstep repair run` wrote.")
    folders = [run / CASES / name, Path(manifest.folder) / name]
    for folder in folders:
        if folder.is_dir():
            return read_case(folder)
    raise InputError(f"the case {name!r} is gone", "Put the benchmark back where it was.", file=folders[-1])


def _task_of(store: TaskStore, case: str) -> RepairTask | None:
    return next((task for task in store.tasks() if case_name(task.id) == case), None)


def objections_now(run: Path, case: RepairCase, sandbox: Sandbox, *, uncommitted: bool) -> str:
    """Return what the rules say against repairing a case now, empty if nothing: a fix may have landed since."""
    checkout = Path(str(case.extra["checkout"]))
    with closing(TaskStore(run / TASKS)) as store:
        task = _task_of(store, case.id)
    if task is None or not checkout.is_dir():
        return ""
    decision = examine(
        task,
        checkout,
        sandbox=sandbox,
        toolchain=case_toolchain(case),
        limits=Limits(seconds=case.timeout_seconds),
        uncommitted=uncommitted,
    )
    return "; ".join(f"{objection.rule}: {objection.reason}" for objection in decision.objections)


def close_task(run: Path, case: str) -> int | None:
    """Close the failure bot's task of a case, as its patch has landed; gives its number, `None` if it has none."""
    if not (run / TASKS).exists():
        return None
    with closing(TaskStore(run / TASKS)) as store:
        if task := _task_of(store, case):
            store.land(task.id)
        return task.id if task else None
