"""The failure bot from end to end: failing tests of a repository become tasks with trace, blamed change and owner."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.errors import TimeSpent
from misstep.harness.repair.failure_bot.bisect import Bisection, find_change
from misstep.harness.repair.failure_bot.change_point import STEADY, Outcome
from misstep.harness.repair.failure_bot.environment import lacking, silent, stopped_by
from misstep.harness.repair.failure_bot.flakiness import Flakiness, FlakinessPrior, Recorded, estimate, rerun
from misstep.harness.repair.failure_bot.grouping import Group, group_failures, innermost, joined
from misstep.harness.repair.failure_bot.owner import Owner, owners
from misstep.harness.repair.failure_bot.repository import Commit, Repository
from misstep.harness.repair.failure_bot.reproduce import CommitRuns, outcome_of, reproduce
from misstep.harness.repair.failure_bot.rules import Objection, RuleDecision, Situation, decide
from misstep.harness.repair.failure_bot.tasks import RepairTask, TaskStore
from misstep.harness.repair.validators.test_files import file_of
from misstep.harness.workspace import Limits, Sandbox, Toolchain
from misstep.harness.workspace.suite_command import takes_names
from misstep.harness.workspace.suite_report import FailedTest, SuiteReport
from misstep.harness.workspace.suite_run import How

_MOST_COMMITS = 256
"""How far back the search goes, along first parents."""

_MOST_BISECTIONS = 20
"""For how many causes at most the change is looked for."""

_MOST_SLOW = 3
"""At how many commits the tests may meet their time limit before the search for the change is given up."""

_ORDER_RUNS = 2
"""How often a test that always fails with the others, and passed without them once, is run without them again."""

_SUSPICION = 50.0
"""How many times likelier a change that another failure began with is the cause of this one too."""


class Options(Struct, frozen=True):
    """What is known of the tests, and what is looked for.

    - `bisect_flaky`: Whether the change is looked for as well where the test is flaky.
    - `deterministic`: Whether the tests are known not to be flaky, so that log2 n runs tell the change.
    - `flakiness`: What is held of a test before any run.
    - `limits`: What one run of the tests may take.
    - `uncommitted`: Whether the files as they stand are the head, not those of the last commit.
    """

    bisect_flaky: bool = False
    deterministic: bool = False
    flakiness: FlakinessPrior = FlakinessPrior()
    limits: Limits = Limits()
    uncommitted: bool = False


class FailureEvent(Struct, frozen=True):
    """Something that was done: which stage, and what it found."""

    stage: str
    text: str


class Triaged(Struct, frozen=True):
    """A task, whether the agent is to run on it, and what that rests on."""

    task: RepairTask
    decision: RuleDecision
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
    on_event: Callable[[FailureEvent], None] = lambda _: None,
) -> list[Triaged]:
    """Reproduce the failures at the head, tell flaky tests, group, bisect, find owners, file tasks, ask the rules."""
    options = options or Options()
    with (
        Repository(folder, uncommitted=options.uncommitted) as repository,
        CommitRuns(repository, command, sandbox=sandbox, toolchain=toolchain, limits=options.limits) as runs,
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
        on_event: Callable[[FailureEvent], None],
    ) -> None:
        self.repository, self.runs, self.options, self.record, self.store = repository, runs, options, record, store
        self._on_event = on_event
        self.commit = repository.head
        self.paths = set(repository.paths(self.commit.id))
        self.suspected: dict[str, float] = {}
        self.seen_alone: dict[str, Outcome] = {}  # the first run of each test without the others
        self.lacks: dict[str, Objection] = {}
        self.sound: set[str] = set()  # the tests that passed at an earlier commit

    def tell(self, stage: str, text: str) -> None:
        """Tell of something that was done."""
        self._on_event(FailureEvent(stage, text))

    def all(self) -> list[Triaged]:
        """Return each task with all that it rests on."""
        limit = f"{self.options.limits.seconds:.0f} s at most for each run"
        self.tell("reproduce", f"running {self.runs.command!r} at {self.commit.short} ({self.commit.subject}), {limit}")
        found = reproduce(self.runs, self.commit.id)
        self.tell("reproduce", f"{len(found.failing)} failing at {self.commit.short} ({self.commit.subject})")
        if not found.failing:
            return []
        for test in found.failing:
            lack = stopped_by(found.report) if not test.id else None
            if lack := lack or lacking(test, self.paths, self._text):
                self.lacks[test.id] = lack
        states = self._flakiness([test.id for test in found.failing if test.id not in self.lacks])
        states |= {test: estimate(1, 1, prior=self.options.flakiness) for test in self.lacks}
        groups = _apart(group_failures(found.failing, self.paths), states, self.lacks)
        self.tell("group", f"{len(found.failing)} failures have {len(groups)} causes")
        bisections = [self._bisect(group, states, found.report) for group in groups[:_MOST_BISECTIONS]]
        bisections += [None] * (len(groups) - len(bisections))
        of = {group.failures[0].id: found for group, found in zip(groups, bisections, strict=True)}
        blamed = [found.change.id if found and found.change else "" for found in bisections]
        return [self._filed(group, states, of[group.failures[0].id]) for group in joined(groups, blamed)]

    def _text(self, path: str) -> str | None:
        return self.repository.text(self.commit.id, path)

    def _never_sound(self, test: FailedTest, report: SuiteReport) -> Objection | None:
        """What the environment lacks for a test that passed at no commit; none where the project's own code fails."""
        if test.id in self.sound:
            return None
        lack = lacking(test, self.paths, self._text, has_passed=False)
        is_silent = not test.id and report.ran is None and innermost(test.trace, self.paths) is None
        return lack or (silent(report.output) if is_silent else None)

    def how(self, test: str) -> How:
        """Return how a test is run: with all others where it was not seen to fail without them."""
        return "alone" if self.seen_alone.get(test) == "failed" else "whole"

    def _flakiness(self, tests: Sequence[str]) -> dict[str, Flakiness]:
        def again(asked: Sequence[str]) -> dict[str, bool]:
            names = takes_names(self.runs.command)
            alone = [test for test in asked if test and names and self.seen_alone.get(test, "failed") == "failed"]
            said = self._outcomes(alone, "alone")
            for test in alone:
                if self.seen_alone.setdefault(test, said[test]) != "failed":
                    why = "passes alone" if said[test] == "passed" else "cannot be run alone"
                    self.tell("flakiness", f"{test} {why}: from here on it is run with all others")
            said |= self._outcomes([test for test in asked if self.how(test) == "whole"], "whole")
            return {test: outcome == "failed" for test, outcome in said.items() if outcome in ("failed", "passed")}

        found = rerun(
            again,
            tests,
            first=set(tests),
            record=self.record,
            prior=self.options.flakiness,
        )
        for test in tests:
            if self.seen_alone.get(test) == "passed" and found[test].state == "failing":
                found[test] = self._by_order(test, found[test])
            state = found[test]
            earlier = f"; {state.recorded} earlier outcomes" if state.recorded else ""
            unseen = f"; {state.unseen} more did not show it, so it goes on as failing" if state.unseen else ""
            said = f"{state.state} ({state.failures} of {state.runs} runs failed{earlier}{unseen})"
            self.tell("flakiness", f"{test or 'the command'}: {said}")
        return found

    def _outcomes(self, tests: Sequence[str], how: How) -> dict[str, Outcome]:
        """Return what one run at the head says of tests; nothing is run for none."""
        if not tests:
            return {}
        what = f"the {len(tests)} undecided tests alone" if how == "alone" else "the whole command"
        self.tell("flakiness", f"running {what} again")
        report = self.runs.report(self.commit.id, tests, how)
        return {test: outcome_of(report, test) for test in tests}

    def _by_order(self, test: str, state: Flakiness) -> Flakiness:
        """What a test is that always fails with the others and passed alone: flaky where it fails alone as well."""
        again = [self._outcomes([test], "alone")[test] for _ in range(_ORDER_RUNS)]
        if "failed" in again:
            passed = again.count("passed") + 1
            return estimate(state.failures, state.runs + passed, prior=self.options.flakiness)
        self.tell("flakiness", f"{test} fails after other tests only: it is repaired with all of them")
        return state

    def _bisect(self, group: Group, states: dict[str, Flakiness], report: SuiteReport) -> Bisection | None:
        test = group.failures[0].id
        state = states[test]
        if test in self.lacks or (state.state == "flaky" and not self.options.bisect_flaky):
            return None
        history = self.repository.first_parents(self.commit.id, _MOST_COMMITS)
        slow: set[str] = set()

        def run(commit: str) -> Outcome:
            report = self.runs.report(commit, [test], self.how(test))
            slow.update([commit] if report.ended == "time" else [])
            if len(slow) >= _MOST_SLOW:
                raise TimeSpent("the tests do not end within their time at several commits")
            outcome = outcome_of(report, test)
            self.sound.update([test] if outcome == "passed" else [])
            return outcome

        def told(commit: Commit, outcome: Outcome, posterior: float) -> None:
            self.tell("bisect", f"{test or 'the command'} at {commit.short}: {outcome} (best answer {posterior:.0%})")

        failed: Outcome = "failed"
        passed: Outcome = "passed"
        seen = [failed] * state.failures + [passed] * (state.runs - state.failures)
        try:
            found = find_change(
                history,
                run,
                at_newest=seen,
                suspected=self.suspected,
                prior=STEADY if self.options.deterministic else None,
                on_run=told,
            )
        except TimeSpent as error:
            self.tell("bisect", f"{test or 'the command'}: {error.line()}, so no change is blamed")
            return None
        if lack := self._never_sound(group.failures[0], report):
            self.lacks |= {failure.id: lack for failure in group.failures}
            return None
        if found.change is not None:
            self.suspected[found.change.id] = _SUSPICION
            self.tell(
                "blame", f"{found.change.short} {found.change.subject} ({found.posterior:.1%}, {found.runs} runs)"
            )
        return found

    def _filed(self, group: Group, states: dict[str, Flakiness], bisection: Bisection | None) -> Triaged:
        first = group.failures[0]
        change = bisection.change if bisection is not None else None
        file = file_of(first.id, self.paths)
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
            alone=self.how(first.id) == "alone",
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
        lack = self.lacks.get(first.id)
        decision = RuleDecision(run=False, objections=(lack,)) if lack else decide(situation)
        for objection in decision.objections:
            self.tell("rules", f"{objection.rule}: {objection.reason}")
        self.tell(
            "task", f"{task.id or 'not filed'}: {', '.join(task.tests) or 'the command'} for {task.owner or 'nobody'}"
        )
        return Triaged(task, decision, states[first.id], bisection, found, group)


def _apart(groups: Sequence[Group], states: dict[str, Flakiness], lacks: Mapping[str, Objection]) -> list[Group]:
    """The groups, apart by what is flaky and by what the environment lacks: they may look alike, with other causes."""
    found: dict[tuple[int, bool, str], list[FailedTest]] = {}
    for place, group in enumerate(groups):
        for test in group.failures:
            rule = lacks[test.id].rule if test.id in lacks else ""
            found.setdefault((place, states[test.id].state == "flaky", rule), []).append(test)
    return [Group(tuple(found[key]), groups[key[0]].causes) for key in sorted(found)]


def examine(
    task: RepairTask,
    folder: Path,
    *,
    sandbox: Sandbox,
    toolchain: Toolchain,
    options: Options | None = None,
) -> RuleDecision:
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
        CommitRuns(repository, task.command, sandbox=sandbox, toolchain=toolchain, limits=options.limits) as runs,
    ):
        head = repository.head
        since = 0
        if head.id != task.commit:
            since = max(1, len(repository.first_parents(head.id, 10_000, after=task.commit)) - 1)
        how: How = "alone" if task.alone else "whole"
        report = runs.report(head.id, task.tests, how)
        failed = {test for test in task.tests if outcome_of(report, test) == "failed"}
        situation = replace(situation, failed_at_head=bool(failed), commits_since=since)
        if failed:
            test = next(one for one in task.tests if one in failed)

            def again(_: Sequence[str]) -> dict[str, bool]:
                outcome = outcome_of(runs.report(head.id, [test], how), test)
                return {test: outcome == "failed"} if outcome in ("failed", "passed") else {}

            states = rerun(
                again,
                [test],
                first=failed,
                prior=options.flakiness,
            )
            situation = replace(situation, flakiness=states[test])
    return decide(situation)
