"""Make repair cases of a git repository whose tests fail: the failure bot's tasks, each laid out as a case.

The cases and the file of tasks are in the run's folder, so that a run that is gone on with finds the same ones.
"""

import shutil
from collections.abc import Callable, Collection
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import InputError
from misstep_harness.escaping import plain
from misstep_harness.journal.opened import manifest_of
from misstep_harness.places import recorded_path
from misstep_harness.progress import say
from misstep_harness.repair.case import CaseFolder, RepairCase, read_case
from misstep_harness.repair.failure_bot.rules import ENDS, RuleDecision, estimate
from misstep_harness.repair.failure_bot.tasks import RepairTask, TaskStore, write_task_case
from misstep_harness.repair.failure_bot.triage import examine, triage_repository
from misstep_harness.repair.records import RepairAttempt
from misstep_harness.workspace import Limits, Sandbox, Toolchain, own_command, project_toolchain
from misstep_harness.workspace.repository import Repository

CASES = "cases"
PROJECT = "project.json"
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


class RunRepository(Struct, frozen=True):
    """What a run found of its repository, and the file of its tasks.

    - `python`: The environment that the user named; empty where none was.
    - `shown`: The interpreter, and each place of the machine that the sandbox shows.
    """

    repository: str
    tasks: str
    python: str
    shown: tuple[str, ...]


class RepositoryTests(Struct, frozen=True):
    """How the tests of a repository are run, and where the tasks of those that fail are kept.

    - `python`: Its virtual environment or interpreter; `None` for the one that is beside its code, else the active one.
    - `tasks_file`: `None` for the one beside the repository.
    """

    command: str
    seconds: float = Limits().seconds
    uncommitted: bool = False
    python: Path | None = None
    tasks_file: Path | None = None


def tasks_beside(repository: Path) -> Path:
    """Return where the tasks of a repository are kept, so that each run on it knows those of the runs before."""
    place = repository.resolve()
    return place.parent / f"{place.name}.tasks.sqlite"


def cases_of_repository(repository: Path, tests: RepositoryTests, out: Path, sandbox: Sandbox) -> FoundCases:
    """Return the failing tests at the head of a repository as repair cases, one a cause, and those held back."""
    folder, held = out / CASES, out / HELD_BACK
    toolchain = project_toolchain(repository, tests.command, tests.python, sandbox.show)
    command, tasks_file = own_command(tests.command), (tests.tasks_file or tasks_beside(repository)).resolve()
    python = "" if tests.python is None else recorded_path(tests.python.absolute())
    places = recorded_path(repository.resolve()), recorded_path(tasks_file)
    project = RunRepository(*places, python, (toolchain.python, *toolchain.shown))
    if folder.is_dir():
        return _found_cases(out, project, toolchain)
    limits, uncommitted = Limits(seconds=tests.seconds), tests.uncommitted
    with Repository(repository) as opened:
        paths = opened.uncommitted_paths()
    if paths:
        named = ", ".join(paths[:_MOST_NAMED]) + (", …" if len(paths) > _MOST_NAMED else "")
        counts = "are taken in" if uncommitted else "do not count; --uncommitted takes them in"
        say(f"misstep: {len(paths)} files differ from the last commit and {counts}: {plain(named)}")
    out.mkdir(parents=True, exist_ok=True)
    with closing(TaskStore(tasks_file)) as store:
        tasks = triage_repository(
            repository,
            command,
            sandbox=sandbox,
            toolchain=toolchain,
            limits=limits,
            uncommitted=uncommitted,
            store=store,
        )
        examined = partial(examine, folder=repository, sandbox=sandbox, toolchain=toolchain, limits=limits)
        landed = [] if uncommitted else _landed(store, {each.task.id for each in tasks}, repository, examined)
    building = out / f"{CASES}.new"
    shutil.rmtree(building, ignore_errors=True)  # of a run that was killed
    building.mkdir()
    for triaged in tasks:
        if triaged.decision.run:
            target = building / case_name(triaged.task.id)
            write_task_case(
                triaged.task,
                repository,
                target,
                seconds=tests.seconds,
                uncommitted=uncommitted,
                python=tests.python,
            )
    firsts = [(each.task.tests, each.decision.objections[0]) for each in tasks if not each.decision.run]
    held_back = [HeldBack(named, first.rule, first.reason) for named, first in firsts]
    held.write_bytes(msgspec.json.encode([*held_back, *landed]))
    (out / PROJECT).write_bytes(msgspec.json.format(msgspec.json.encode(project)))
    building.rename(folder)
    return _found_cases(out, project, toolchain)


def _landed(
    store: TaskStore, failing: Collection[int], repository: Path, examined: Callable[..., RuleDecision]
) -> list[HeldBack]:
    """Close the open tasks whose tests pass by now, so that a diff attached to one holds no later failure back."""
    held_back: list[HeldBack] = []
    for task in store.tasks():
        # That a flaky test passes once says little.
        may_be_flaky = not task.blame and estimate(task.failures, max(task.runs, 1)).state != "failing"
        of_others = task.repository != str(repository.resolve()) or may_be_flaky
        if task.state != "open" or task.id in failing or of_others:
            continue
        for objection in examined(replace(task, attached_diff=""), at_its_commit=True).objections:
            if objection.rule in ("fix_landed", "not_reproducible"):
                store.end(task.id, "landed")
                again = "the tests pass again at the commit of the task: what they need is there now"
                reason = objection.reason if objection.rule == "fix_landed" else again
                held_back.append(HeldBack(task.tests, objection.rule, f"{reason}; task {task.id} is closed"))
    return held_back


def _found_cases(out: Path, project: RunRepository, toolchain: Toolchain) -> FoundCases:
    held = out / HELD_BACK
    items = msgspec.json.decode(held.read_bytes(), type=tuple[HeldBack, ...]) if held.is_file() else ()
    cases = (read_case(each) for each in sorted((out / CASES).iterdir()))
    return FoundCases(tuple(replace(_placed(each, project), toolchain=toolchain) for each in cases), items)


def _placed(folder: CaseFolder, project: RunRepository | None) -> CaseFolder:
    """Return a case of a run; where its repository and its tasks are, the run says and not the file of the case."""
    own = {name: value for name, value in folder.case.extra.items() if name not in ("checkout", "python", "tasks")}
    if project is not None:
        own |= {"checkout": project.repository, "tasks": project.tasks}
        own |= {"python": project.python} if project.python else {}
    return replace(folder, case=replace(folder.case, extra=own))


def _project_of(run: Path) -> RunRepository | None:
    file = run / PROJECT
    try:
        return msgspec.json.decode(file.read_bytes(), type=RunRepository) if file.is_file() else None
    except msgspec.DecodeError as error:
        message, advice = f"is not what a run wrote: {error}", "Take the run folder as it was written."
        raise InputError(message, advice, file=file) from error


def case_of(run: Path, name: str) -> CaseFolder:
    """Return a case of a run, from the run's folder or the benchmark's."""
    manifest = manifest_of(run, "Name a folder that `misstep repair run` wrote.")
    folders = [run / CASES / name, Path(manifest.folder) / name]
    for folder in folders:
        if folder.is_dir():
            return _placed(read_case(folder), _project_of(run))
    raise InputError(f"the case {name!r} is gone", "Put the benchmark back where it was.", file=folders[-1])


def _task_of(
    case: RepairCase, change: Callable[[TaskStore, int], object] = lambda _store, _task: None
) -> RepairTask | None:
    """Return the task of a case from the file that its run names, after a change of it; `None` if it has no task."""
    file = Path(str(case.extra.get("tasks", "")))
    if not file.is_file():
        return None
    with closing(TaskStore(file)) as store:
        task = next((task for task in store.tasks() if case_name(task.id) == case.id), None)
        if task is None:
            return None
        change(store, task.id)
        return store.task(task.id)


def objections_now(case: RepairCase, sandbox: Sandbox, *, uncommitted: bool) -> str:
    """Return what the rules say against repairing a case now, empty if nothing: a fix may have landed since."""
    checkout = Path(str(case.extra["checkout"]))
    task = _task_of(case)
    if task is None or not checkout.is_dir():
        return ""
    python = Path(str(case.extra["python"])) if "python" in case.extra else None
    decision = examine(
        task,
        checkout,
        sandbox=sandbox,
        toolchain=project_toolchain(checkout, case.test_command, python, sandbox.show),
        limits=Limits(seconds=case.timeout_seconds),
        uncommitted=uncommitted,
    )
    return "; ".join(f"{objection.rule}: {objection.reason}" for objection in decision.objections)


def attach_patch(case: RepairCase, patch: str) -> bool:
    """Offer a patch to the task of a case, so that no later run repairs it again; say whether it may be applied.

    It may not if the reviewers of an earlier run rejected it.
    """
    task = _task_of(case, lambda store, number: store.offer(number, patch))
    return task is None or not task.rejects(patch)


def reject_patch(run: Path, attempt: RepairAttempt, comment: str = "") -> None:
    """Take a rejected patch away from the task of its case, so that a later run may repair it in another way."""
    if (run / CASES / attempt.case).is_dir():
        case = _placed(read_case(run / CASES / attempt.case), _project_of(run)).case
        _task_of(case, lambda store, number: store.reject(number, attempt.patch, comment))
