"""Turn failing tests of a repository into tasks with trace, blamed change and owner."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from misstep.harness.errors import TimeSpent
from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.harness.repair.failure_bot.change_point import Bisection, Outcome, Prior, find_change
from misstep.harness.repair.failure_bot.flakiness import Flakiness, Recorded, estimate, rerun
from misstep.harness.repair.failure_bot.grouping import group_failures, innermost, joined
from misstep.harness.repair.failure_bot.owner import owners
from misstep.harness.repair.failure_bot.repository import Commit, Repository
from misstep.harness.repair.failure_bot.reproduce import CommitRuns, failing_tests, outcome_of
from misstep.harness.repair.failure_bot.rules import (
    Objection,
    RepositoryFiles,
    RuleDecision,
    Situation,
    decide,
    lacking,
    silent,
    stopped_by,
)
from misstep.harness.repair.failure_bot.tasks import RepairTask
from misstep.harness.repair.validators.test_files import file_of
from misstep.harness.workspace import Limits, Sandbox, Toolchain, install_line
from misstep.harness.workspace.suite.command import takes_names, unittest_name
from misstep.harness.workspace.suite.report import FailedTest, SuiteReport
from misstep.harness.workspace.suite.run import How, plain_line

_MOST_COMMITS = 256
_MOST_BISECTIONS = 20
_MOST_SLOW = 3
"""At how many commits the tests may meet their time limit before the search for the change is given up."""

_ORDER_RUNS = 2
"""How often a test that always fails with the others, and passed without them once, is run without them again."""

_MOST_SINCE = 10_000
_PRIOR = Prior()

_SUSPICION = 50.0
"""How many times likelier a change that another failure began with is the cause of this one too."""


class Triaged(Struct, frozen=True):
    """A task, whether the agent is to run on it, and what its first test is."""

    task: RepairTask
    decision: RuleDecision
    flakiness: Flakiness


def triage_repository(
    folder: Path,
    command: str,
    *,
    sandbox: Sandbox,
    toolchain: Toolchain,
    limits: Limits = Limits(),  # noqa: B008 -- frozen
    uncommitted: bool = False,
    record: Sequence[Recorded] = (),
    file_task: Callable[[RepairTask], RepairTask] = lambda task: task,
) -> list[Triaged]:
    """Reproduce the failures at the head, tell flaky tests, group, bisect, find owners, file tasks, ask the rules."""
    with (
        Repository(folder, uncommitted=uncommitted) as repository,
        CommitRuns(repository, command, sandbox=sandbox, toolchain=toolchain, limits=limits) as runs,
    ):
        return _Triage(runs, limits, record, file_task).all()


class _Triage:
    def __init__(
        self,
        runs: CommitRuns,
        limits: Limits,
        record: Sequence[Recorded],
        file_task: Callable[[RepairTask], RepairTask],
    ) -> None:
        self.runs, self.limits, self.record, self._file_task = runs, limits, record, file_task
        self.repository = runs.repository
        self.commit = runs.repository.head
        self.paths = set(self.repository.paths(self.commit.id))
        self.project = RepositoryFiles(self.paths, self._text, install_line(runs.toolchain))
        self.suspected: dict[str, float] = {}
        self.seen_alone: dict[str, Outcome] = {}  # the first run of each test without the others
        self.lacks: dict[str, Objection] = {}
        self.sound: set[str] = set()  # the tests that passed at an earlier commit

    def all(self) -> list[Triaged]:
        """Return each task with what it rests on."""
        limit = f"{self.limits.seconds:.0f} s at most for each run"
        _tell("reproduce", f"running {self.runs.command!r} at {self.commit.short} ({self.commit.subject}), {limit}")
        report = self.runs.report(self.commit.id)
        failing = failing_tests(report, self.runs.command)
        _tell("reproduce", f"{len(failing)} failing at {self.commit.short} ({self.commit.subject})")
        if not failing:
            return []
        for test in failing:
            lack = stopped_by(report) if not test.id else None
            if lack := lack or lacking(test, self.project) or self._lacked_before(test):
                self.lacks[test.id] = lack
        states = self._flakiness([test.id for test in failing if test.id not in self.lacks])
        states |= {test: estimate(1, 1) for test in self.lacks}
        # Apart by what is flaky and by what the environment lacks: failures may look alike, with other causes.
        apart: defaultdict[tuple[int, bool, str], list[FailedTest]] = defaultdict(list)
        for place, alike in enumerate(group_failures(failing, self.paths)):
            for test in alike:
                rule = self.lacks[test.id].rule if test.id in self.lacks else ""
                apart[place, states[test.id].state == "flaky", rule].append(test)
        groups = [tuple(apart[key]) for key in sorted(apart)]
        _tell("group", f"{len(failing)} failures have {len(groups)} causes")
        of = {group[0].id: self._bisect(group, states, report) for group in groups[:_MOST_BISECTIONS]}
        blamed = [one.change.id if (one := of.get(group[0].id)) and one.change else "" for group in groups]
        return [self._filed(group, states, of.get(group[0].id)) for group in joined(groups, blamed)]

    def _text(self, path: str) -> str | None:
        return self.repository.text(self.commit.id, path)

    def _lacked_before(self, test: FailedTest) -> Objection | None:
        """Return what lacks by a failure to import at the head, at the oldest commit and between: no search is made."""
        lack = lacking(test, self.project, has_passed=False)
        history = self.repository.first_parents(self.commit.id, _MOST_COMMITS)
        tried = {history[0].id, history[len(history) // 2].id} - {self.commit.id}
        failed = lack and all(self.runs.outcome(commit, test.id, "whole") == "failed" for commit in tried)
        return lack if failed else None

    def how(self, test: str) -> How:
        """Return how a test is run: with all others unless it was seen to fail without them."""
        return "alone" if self.seen_alone.get(test) == "failed" else "whole"

    def _flakiness(self, tests: Sequence[str]) -> dict[str, Flakiness]:
        states = rerun(self._rerun, tests, self.record)
        for test in tests:
            if self.seen_alone.get(test) == "passed" and states[test].state == "failing":
                # It is flaky if it fails alone as well.
                again = [self._outcomes([test], "alone")[test] for _ in range(_ORDER_RUNS)]
                if "failed" in again:
                    runs = states[test].runs + again.count("passed") + 1
                    states[test] = estimate(states[test].failures, runs)
                else:
                    _tell("flakiness", f"{test} fails after other tests only: it is repaired with all of them")
            state = states[test]
            earlier = f"; {state.recorded} earlier outcomes" if state.recorded else ""
            unseen = f"; {state.unseen} more did not show it, so it goes on as failing" if state.unseen else ""
            counts = f"{state.failures} of {state.runs} runs failed{earlier}{unseen}"
            _tell("flakiness", f"{test or 'the command'}: {state.state} ({counts})")
        return states

    def _rerun(self, tests: Sequence[str]) -> dict[str, bool]:
        names = takes_names(plain_line(self.runs.workspace(self.commit.id), self.runs.command))
        alone = [test for test in tests if test and names and self.seen_alone.get(test, "failed") == "failed"]
        outcomes = self._outcomes(alone, "alone")
        for test in alone:
            if self.seen_alone.setdefault(test, outcomes[test]) != "failed":
                why = "passes alone" if outcomes[test] == "passed" else "cannot be run alone"
                _tell("flakiness", f"{test} {why}: from here on it is run with all others")
        outcomes |= self._outcomes([test for test in tests if self.how(test) == "whole"], "whole")
        return {test: outcome == "failed" for test, outcome in outcomes.items() if outcome in ("failed", "passed")}

    def _outcomes(self, tests: Sequence[str], how: How) -> dict[str, Outcome]:
        if not tests:
            return {}
        what = f"the {len(tests)} undecided tests alone" if how == "alone" else "the whole command"
        _tell("flakiness", f"running {what} again")
        report = self.runs.report(self.commit.id, tests, how)
        return {test: outcome_of(report, test) for test in tests}

    def _bisect(
        self, group: tuple[FailedTest, ...], states: dict[str, Flakiness], report: SuiteReport
    ) -> Bisection | None:
        test = group[0].id
        state, name = states[test], test or "the command"
        if test in self.lacks or state.state == "flaky":
            return None
        history = self.repository.first_parents(self.commit.id, _MOST_COMMITS)
        called = self._called(test, history)
        slow: set[str] = set()

        def run(commit: str) -> Outcome:
            report = self.runs.report(commit, [called[commit]], self.how(test))
            slow.update([commit] if report.ended == "time" else [])
            if len(slow) >= _MOST_SLOW:
                raise TimeSpent("the tests do not end within their time at several commits")
            outcome = outcome_of(report, called[commit])
            self.sound.update([test] if outcome == "passed" else [])
            return outcome

        def tell(commit: Commit, outcome: Outcome, posterior: float) -> None:
            _tell("bisect", f"{name} at {commit.short}: {outcome} (best answer {posterior:.0%})")

        outcomes: list[Outcome] = ["failed"] * state.failures
        outcomes += ["passed"] * (state.runs - state.failures)
        try:
            answer = find_change(history, run, at_newest=outcomes, suspected=self.suspected, prior=_PRIOR, on_run=tell)
        except TimeSpent as error:
            _tell("bisect", f"{name}: {error.line()}, so no change is blamed")
            return None
        if test not in self.sound:  # it passed at no commit: what does the environment lack?
            lack = lacking(group[0], self.project, has_passed=False)
            is_silent = not test and report.ran is None and innermost(group[0].trace, self.paths) is None
            if lack := lack or (silent(report.output) if is_silent else None):
                self.lacks |= {failure.id: lack for failure in group}
                return None
        if change := answer.change:
            self.suspected[change.id] = _SUSPICION
            _tell("blame", f"{change.short} {change.subject} ({answer.posterior:.1%}, {answer.runs} runs)")
        return answer

    def _called(self, test: str, history: Sequence[Commit]) -> dict[str, str]:
        """Return what a test is called at each commit: its file may have been renamed."""
        earlier = self.repository.renames(history[0].id, history[-1].id)
        path, called = file_of(test, self.paths), dict[str, str]()
        for commit in reversed(history):
            called[commit.id] = test
            if old := earlier.get((commit.id, path)):
                forms = (path, old), (unittest_name(path), unittest_name(old))
                test = next((was + test.removeprefix(now) for now, was in forms if test.startswith(now)), test)
                path = old
        return called

    def _filed(
        self, group: tuple[FailedTest, ...], states: dict[str, Flakiness], bisection: Bisection | None
    ) -> Triaged:
        first, state = group[0], states[group[0].id]
        change = bisection.change if bisection is not None else None
        file, place = file_of(first.id, self.paths), innermost(first.trace, self.paths)
        people = owners(self.repository, self.commit.id, file, change, place)
        task = RepairTask(
            tests=tuple(test.id for test in group),
            command=self.runs.command,
            message=first.message,
            trace=first.trace,
            commit=self.commit.id,
            repository=str(self.repository.folder.resolve()),
            blame=change.id if change else "",
            blame_posterior=bisection.posterior if bisection and change else 0.0,
            diff=self.repository.diff(change) if change else "",
            owner=people[0].name if people else "",
            owner_reason=people[0].reason if people else "",
            alone=self.how(first.id) == "alone",
            flakiness=state.flaky,
        )
        task = self._file_task(task)
        lack = self.lacks.get(first.id)
        blamed = change is not None or state.state == "flaky"
        decision = RuleDecision((lack,)) if lack else decide(Situation(task, flakiness=state, blamed=blamed))
        for objection in decision.objections:
            _tell("rules", f"{objection.rule}: {objection.reason}")
        tests = ", ".join(task.tests) or "the command"
        _tell("task", f"{task.id or 'not filed'}: {tests} for {task.owner or 'nobody'}")
        return Triaged(task, decision, state)


def _tell(stage: str, text: str) -> None:
    say(f"misstep: {stage}: {plain(text)}")


def examine(
    task: RepairTask, folder: Path, *, sandbox: Sandbox, toolchain: Toolchain, limits: Limits, uncommitted: bool = False
) -> RuleDecision:
    """Ask the rules anew at the head of the branch, right before the agent would run."""
    decision = decide(Situation(task))
    with (
        Repository(folder, uncommitted=uncommitted) as repository,
        CommitRuns(repository, task.command, sandbox=sandbox, toolchain=toolchain, limits=limits) as runs,
    ):
        head = repository.head
        if not decision.run or head.id == task.commit:
            return decision
        since = max(1, len(repository.first_parents(head.id, _MOST_SINCE, after=task.commit)) - 1)
        how: How = "alone" if task.alone else "whole"
        report = runs.report(head.id, task.tests, how)
        outcomes = {test: outcome_of(report, test) for test in task.tests}
        failing = next((test for test, outcome in outcomes.items() if outcome == "failed"), None)
        if failing is None:
            all_pass = set(outcomes.values()) == {"passed"}  # a test that was not seen has neither passed nor failed
            return decide(Situation(task, failed_at_head=False if all_pass else None, commits_since=since))

        def again(_: Sequence[str]) -> dict[str, bool]:
            outcome = outcome_of(runs.report(head.id, [failing], how), failing)
            return {failing: outcome == "failed"} if outcome in ("failed", "passed") else {}

        state = rerun(again, [failing])[failing]
    return decide(Situation(task, failed_at_head=True, commits_since=since, flakiness=state, blamed=bool(task.blame)))
