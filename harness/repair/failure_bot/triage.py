"""The failure bot from end to end: failing tests of a repository become tasks with trace, blamed change and owner."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from harness.agent.code_index.symbols import language_of
from harness.errors import InputError
from harness.repair.case import BEFORE, Case, write_case
from harness.repair.failure_bot.bisect import Bisection, find_change
from harness.repair.failure_bot.change_point import STEADY, Outcome
from harness.repair.failure_bot.flakiness import Flakiness, FlakinessPrior, Recorded, rerun
from harness.repair.failure_bot.grouping import Group, group_failures, joined
from harness.repair.failure_bot.owner import Owner, owners
from harness.repair.failure_bot.repository import Commit, Repository
from harness.repair.failure_bot.reproduce import CommitRuns, file_of, outcome_of, reproduce
from harness.repair.failure_bot.rules import Decision, Situation, decide
from harness.repair.failure_bot.tasks import RepairTask, TaskStore
from harness.workspace import Sandbox, Toolchain

_MOST_COMMITS = 256
"""How far back the search goes, along first parents."""

_MOST_BISECTIONS = 20
"""For how many causes at most the change is looked for."""

_SUSPICION = 50.0
"""How many times likelier a change that another failure began with is the cause of this one too."""


class Options(Struct, frozen=True):
    """What is known of the tests, and what is looked for.

    Attributes
    ----------
    bisect_flaky
        Whether the change is looked for as well where the test is flaky.
    deterministic
        Whether the tests are known not to be flaky, so that log2 n runs tell the change.
    flakiness
        What is held of a test before any run.
    """

    bisect_flaky: bool = False
    deterministic: bool = False
    flakiness: FlakinessPrior = FlakinessPrior()


class Event(Struct, frozen=True):
    """Something that was done: which stage, and what it found."""

    stage: str
    text: str


class Triaged(Struct, frozen=True):
    """A task, whether the agent is to run on it, and what that rests on."""

    task: RepairTask
    decision: Decision
    flakiness: Flakiness
    bisection: Bisection | None
    owners: tuple[Owner, ...]
    group: Group


def triage_repository(
    folder: Path,
    command: str,
    *,
    sandbox: Sandbox,
    toolchain: Toolchain,
    options: Options | None = None,
    record: Sequence[Recorded] = (),
    store: TaskStore | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> list[Triaged]:
    """Reproduce the failures at the head, tell flaky tests, group, bisect, find owners, file tasks, ask the rules.

    Parameters
    ----------
    folder
        A git repository, of which only the commits count, not the files as they stand; nothing in it is changed.
    command
        The shell line that runs its tests.
    record
        Earlier outcomes of its tests, oldest first.
    store
        Where tasks are filed; where none is given, they have no id.

    Raises
    ------
    InputError
        It is no git repository, or the command runs no test.
    """
    options = options or Options()
    with (
        Repository(folder) as repository,
        CommitRuns(repository, command, sandbox=sandbox, toolchain=toolchain) as runs,
    ):
        return _Triage(repository, runs, options, record, store, on_event).all()


class _Triage:
    def __init__(
        self,
        repository: Repository,
        runs: CommitRuns,
        options: Options,
        record: Sequence[Recorded],
        store: TaskStore | None,
        on_event: Callable[[Event], None],
    ) -> None:
        self.repository, self.runs, self.options, self.record, self.store = repository, runs, options, record, store
        self._on_event = on_event
        self.commit = repository.head
        self.suspected: dict[str, float] = {}

    def tell(self, stage: str, text: str) -> None:
        """Tell of something that was done."""
        self._on_event(Event(stage, text))

    def all(self) -> list[Triaged]:
        """Each task with all that it rests on."""
        found = reproduce(self.runs, self.commit.id)
        self.tell("reproduce", f"{len(found.failing)} failing at {self.commit.short} ({self.commit.subject})")
        if not found.failing:
            return []
        states = self._flakiness([test.id for test in found.failing])
        paths = self.repository.paths(self.commit.id)
        groups = _apart(group_failures(found.failing, paths), states)
        self.tell("group", f"{len(found.failing)} failures have {len(groups)} causes")
        bisections = [self._bisect(group.failures[0].id, states) for group in groups[:_MOST_BISECTIONS]]
        bisections += [None] * (len(groups) - len(bisections))
        of = {group.failures[0].id: found for group, found in zip(groups, bisections, strict=True)}
        blamed = [found.change.id if found and found.change else "" for found in bisections]
        return [self._filed(group, states, of[group.failures[0].id]) for group in joined(groups, blamed)]

    def _flakiness(self, tests: Sequence[str]) -> dict[str, Flakiness]:
        def again(asked: Sequence[str]) -> set[str]:
            report = self.runs.report(self.commit.id, [test for test in asked if test])
            return {test for test in asked if outcome_of(report, test) == "failed"}

        found = rerun(
            again,
            tests,
            first=set(tests),
            record=self.record,
            prior=self.options.flakiness,
        )
        for test, state in found.items():
            earlier = f"; {state.recorded} earlier outcomes" if state.recorded else ""
            said = f"{state.state} ({state.failures} of {state.runs} runs failed{earlier})"
            self.tell("flakiness", f"{test or 'the command'}: {said}")
        return found

    def _bisect(self, test: str, states: dict[str, Flakiness]) -> Bisection | None:
        state = states[test]
        if state.state == "flaky" and not self.options.bisect_flaky:
            return None
        history = self.repository.first_parents(self.commit.id, _MOST_COMMITS)

        def told(commit: Commit, outcome: Outcome, posterior: float) -> None:
            self.tell("bisect", f"{test or 'the command'} at {commit.short}: {outcome} (best answer {posterior:.0%})")

        failed: Outcome = "failed"
        passed: Outcome = "passed"
        seen = [failed] * state.failures + [passed] * (state.runs - state.failures)
        found = find_change(
            history,
            lambda commit: self.runs.outcome(commit, test),
            at_newest=seen,
            suspected=self.suspected,
            prior=STEADY if self.options.deterministic else None,
            on_run=told,
        )
        if found.change is not None:
            self.suspected[found.change.id] = _SUSPICION
            self.tell(
                "blame", f"{found.change.short} {found.change.subject} ({found.posterior:.1%}, {found.runs} runs)"
            )
        return found

    def _filed(self, group: Group, states: dict[str, Flakiness], bisection: Bisection | None) -> Triaged:
        first = group.failures[0]
        change = bisection.change if bisection is not None else None
        file = file_of(first.id, set(self.repository.paths(self.commit.id)))
        found = owners(self.repository, self.commit.id, file, change)
        task = RepairTask(
            tests=tuple(test.id for test in group.failures),
            command=self.runs.command,
            message=first.message,
            trace=first.trace,
            commit=self.commit.id,
            repository=str(self.repository.folder.resolve()),
            blame=change.id if change else "",
            blame_posterior=bisection.posterior if bisection and change else 0.0,
            diff=self.repository.diff(change) if change else "",
            owner=found[0].name if found else "",
            owner_reason=found[0].reason if found else "",
            flakiness=states[first.id].flaky,
        )
        if self.store is not None:
            task = self.store.file_task(task)
        situation = Situation(
            task,
            failed_at_task=True,
            flakiness=states[first.id],
            blamed=change is not None or states[first.id].state == "flaky",
        )
        decision = decide(situation)
        for objection in decision.objections:
            self.tell("rules", f"{objection.rule}: {objection.reason}")
        self.tell(
            "task", f"{task.id or 'not filed'}: {', '.join(task.tests) or 'the command'} for {task.owner or 'nobody'}"
        )
        return Triaged(task, decision, states[first.id], bisection, found, group)


def _apart(groups: Sequence[Group], states: dict[str, Flakiness]) -> list[Group]:
    """The groups, flaky failures apart from the others: they may look alike and have other causes."""
    found = []
    for group in groups:
        for flaky in (False, True):
            members = tuple(test for test in group.failures if (states[test.id].state == "flaky") == flaky)
            if members:
                found.append(Group(members, group.causes))
    return found


def examine(
    task: RepairTask,
    folder: Path,
    *,
    sandbox: Sandbox,
    toolchain: Toolchain,
    options: Options | None = None,
) -> Decision:
    """Ask the rules anew at the head of the branch, right before the agent would run.

    A closed task and one with a diff are told from the task alone; otherwise its tests are run, again and again until
    it is known whether the first of them is flaky.
    """
    options = options or Options()
    situation = Situation(task, blamed=bool(task.blame))
    if not (decision := decide(Situation(task))).run:
        return decision
    with (
        Repository(folder) as repository,
        CommitRuns(repository, task.command, sandbox=sandbox, toolchain=toolchain) as runs,
    ):
        head = repository.head
        since = 0
        if head.id != task.commit:
            since = max(1, len(repository.first_parents(head.id, 10_000, after=task.commit)) - 1)
        tests = [test for test in task.tests if test]
        report = runs.report(head.id, tests)
        failed = {test for test in task.tests if outcome_of(report, test) == "failed"}
        situation = replace(situation, failed_at_head=bool(failed), commits_since=since)
        if failed:
            test = next(one for one in task.tests if one in failed)
            named = [test] if test else []
            states = rerun(
                lambda _: {test} if outcome_of(runs.report(head.id, named), test) == "failed" else set(),
                [test],
                first=failed,
                prior=options.flakiness,
            )
            situation = replace(situation, flakiness=states[test])
    return decide(situation)


def task_text(task: RepairTask, change: Commit | None = None) -> str:
    """What an agent is told of a task: the failure, its trace, and the change that it began with."""
    number = len(task.tests)
    lines = [
        f"{number} test{'s' * (number > 1)} failed: {', '.join(task.tests)}",
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
    """What `get_diff_details` calls the blamed change."""
    return task.blame[:10]


def write_task_case(task: RepairTask, folder: Path, case_folder: Path) -> Case:
    """Write a task as a repair case: the tree at its commit, the failing tests as oracle, the blamed change as diff.

    Parameters
    ----------
    folder
        The git repository.
    case_folder
        The folder to make; its name is the case's id.

    Raises
    ------
    InputError
        No single test is named, so that there is no oracle.
    """
    if not all(task.tests):
        raise InputError("the test command names no failing test", "Use pytest, unittest or JUnit XML ({junit}).")
    with Repository(folder) as repository:
        change = repository.commit(task.blame) if task.blame else None
        described = repository.described(change) if change else ""
        repository.export(task.commit, case_folder / BEFORE)
        file = file_of(task.tests[0], set(repository.paths(task.commit)))
    case = Case(
        id=case_folder.name,
        language=language_of(file) or "unknown",
        task=task_text(task, change),
        test_command=task.command,
        oracle=task.tests,
        diffs={diff_number(task): described} if change else {},
        extra={"commit": task.commit},
    )
    write_case(case, case_folder)
    return case
