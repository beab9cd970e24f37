"""Turn failing tests of a repository into tasks with trace, blamed change and owner."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import TimeSpent
from misstep_harness.escaping import plain
from misstep_harness.progress import say
from misstep_harness.repair.failure_bot.change_search import (
    Bisection,
    Likeliest,
    Outcome,
    Prior,
    Sight,
    find_change,
    never_passed,
)
from misstep_harness.repair.failure_bot.owner import owners
from misstep_harness.repair.failure_bot.reproduce import CommitRuns, failing_tests, failure_in, outcome_of
from misstep_harness.repair.failure_bot.rules import (
    Flakiness,
    Objection,
    RepositoryFiles,
    RuleDecision,
    Situation,
    decide,
    estimate,
    lacking,
    rerun,
    silent,
    stopped_by,
)
from misstep_harness.repair.failure_bot.tasks import (
    RepairTask,
    SameFailure,
    TaskStore,
    failure_of,
    group_failures,
    innermost,
    joined,
    normalised,
)
from misstep_harness.repair.validators import file_of
from misstep_harness.workspace import Limits, Sandbox, Toolchain, install_line
from misstep_harness.workspace.repository import Commit, Repository
from misstep_harness.workspace.suite.command import takes_names, unittest_name
from misstep_harness.workspace.suite.report import FailedTest, SuiteReport
from misstep_harness.workspace.suite.run import How, plain_line

NO_TIME = "no change is blamed: the tests do not end within their time at several commits"
_UNSHALLOW = "The clone is shallow: `git fetch --unshallow` brings the commits before."
_LONGEST = 160


def note_of(answer: Bisection, history: Sequence[Commit], message: str, messages: Mapping[str, str]) -> str:
    """Return what an answer assumes, or why it blames nobody; `messages` are of commits that fail otherwise."""
    parts = _blamed(answer) if answer.change else [_nobody(answer, history)]
    if answer.change and answer.earlier:
        commits = _names(answer.earlier)
        other = next((messages[commit.id] for commit in answer.earlier[::-1] if commit.id in messages), "")
        said = f": {_short(other)} there, {_short(message)} today" if other else ""
        parts.append(f"The test has failed since {commits}, but the messages differ{said}.")
    if history[0].is_cut and not answer.passes:
        parts.append(_UNSHALLOW)
    return " ".join(parts)


def _blamed(answer: Bisection) -> list[str]:
    before = answer.before
    there = "the last commit that was seen to pass" if answer.passes else "where today's failure was not seen"
    since = f" after {before.short}, {there}" if before else ""
    parts = [
        f"It assumes a single change from passing to this failure{since}, and independent runs:"
        " one rate of failing before the change, a higher one from it on."
    ]
    count, run = answer.later
    if count:
        parts.append(f"Of {count} later commit{'s' * (count > 1)} {run} {'was' if run == 1 else 'were'} run.")
    return parts


def _nobody(answer: Bisection, history: Sequence[Commit]) -> str:
    if not answer.decided:
        return f"no change is blamed: {answer.runs} runs do not tell which (the likeliest has {answer.posterior:.0%})."
    if answer.changes:
        names = _names(answer.changes)
        why = "No run tells which, as the tests cannot be run there."
        return f"one of {len(answer.changes)} changes is to blame: {names}. {why}"
    began = answer.began
    if began is not None and began != history[0]:
        return f"no change is to blame: the test never passed. It has failed so since {_names([began])}."
    ends = history[0].is_cut or bool(history[0].parents)
    where = f"in the {len(history)} commits that were searched" if ends else "in the history"
    return f"no change is to blame: the test never passed {where}."


def _names(commits: Sequence[Commit]) -> str:
    return ", ".join(f"{commit.short} ({commit.subject}, by {commit.author})" for commit in commits)


def _short(message: str) -> str:
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return f"`{line[:_LONGEST]}`"


_MOST_COMMITS = 256
_MOST_BETWEEN = 4
"""At how many commits since the task was filed its test is run, to see a fault that was mended and returned."""


class KnownTasks:
    """The tasks that were filed before, and the runs that tell whether one still holds at the head."""

    def __init__(self, tasks: Sequence[RepairTask], runs: CommitRuns) -> None:
        self._runs, self._repository, self._head = runs, runs.repository, runs.repository.head.id
        folder = str(self._repository.folder.resolve())
        ours = [task for task in tasks if (task.repository, task.command) == (folder, runs.command)]
        self._tasks = [task for task in ours if task.state != "landed" and task.runs]

    def among(self, failing: Sequence[FailedTest]) -> list[tuple[RepairTask, list[FailedTest]]]:
        """Return each task that still holds, with those of the failing tests that it is about."""
        by_id, taken = {test.id: test for test in failing}, set[str]()
        pairs: list[tuple[RepairTask, list[FailedTest]]] = []
        for task in self._tasks:
            tests = [by_id[name] for name in task.tests if name in by_id and name not in taken]
            if not tests or tests[0].id != task.tests[0] or not self._holds(task, tests[0]):
                continue
            taken.update(test.id for test in tests)
            pairs.append((task, tests))
        return pairs

    def _holds(self, task: RepairTask, test: FailedTest) -> bool:
        before = FailedTest(test.id, task.message, task.trace)
        if task.commit == self._head:
            is_same = normalised(failure_of(before)) == normalised(failure_of(test))
            return is_same and self._searched_as_far(task)
        landed = self._repository.first_parents(self._head, _MOST_COMMITS, after=task.commit)
        if landed[0].id != task.commit or failure_of(before) != failure_of(test) or not self._searched_as_far(task):
            return False
        if not task.blame and estimate(task.failures, task.runs).state != "failing":
            return False  # a change may have made a flaky test one that fails
        between = landed[1:-1][::-1]
        looks = [between[place * len(between) // _MOST_BETWEEN] for place in range(min(_MOST_BETWEEN, len(between)))]
        return all(self._fails_alike(task, test, commit.id) for commit in looks)

    def _searched_as_far(self, task: RepairTask) -> bool:
        """Return whether the blamed change is in the history, or no older commit is there than was searched."""
        if task.blame:
            return self._repository.is_ancestor(task.blame, self._head)
        return self._repository.first_parents(self._head, _MOST_COMMITS)[0].id == task.searched_from

    def _fails_alike(self, task: RepairTask, test: FailedTest, commit: str) -> bool:
        failure = failure_in(self._runs.report(commit, [test.id], "alone" if task.alone else "whole"), test.id)
        return failure is not None and failure_of(failure) == failure_of(test)


_MOST_BISECTIONS = 20
_MOST_SLOW = 3
"""At how many commits the tests may meet their time limit before the search for the change is given up."""

_ORDER_RUNS = 2
"""How often a test that always fails with the others, and passed without them once, is run without them again."""

_SHOWN = 200
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
    store: TaskStore | None = None,
) -> list[Triaged]:
    """Reproduce the failures at the head, tell flaky tests, group, bisect, find owners, file tasks, ask the rules.

    A failure that a task of the store describes is neither run again for flakiness nor searched for. What the
    environment lacks is an end and no task: it is not filed.
    """
    with (
        Repository(folder, uncommitted=uncommitted) as repository,
        CommitRuns(repository, command, sandbox=sandbox, toolchain=toolchain, limits=limits) as runs,
    ):
        return _Triage(runs, limits, store).all()


class _Triage:
    def __init__(
        self,
        runs: CommitRuns,
        limits: Limits,
        store: TaskStore | None,
    ) -> None:
        self.runs, self.limits = runs, limits
        self.known = KnownTasks(store.tasks() if store else (), runs)
        self._file_task = store.file_task if store else lambda task: task
        self.repository = runs.repository
        self.commit = runs.repository.head
        self.paths = set(self.repository.paths(self.commit.id))
        self.project = RepositoryFiles(self.paths, self._text, install_line(runs.toolchain))
        self.suspected: dict[str, float] = {}
        self.seen_alone: dict[str, Outcome] = {}  # the first run of each test without the others
        self.lacks: dict[str, Objection] = {}
        self.sound: set[str] = set()  # the tests that passed at an earlier commit
        self.notes: dict[str, str] = {}  # what the search for a change says of itself
        self.failures: defaultdict[str, list[FailedTest]] = defaultdict(list)  # those of each test at the head
        self.history = self.repository.first_parents(self.commit.id, _MOST_COMMITS)

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
        for test in failing:
            self.failures[test.id].append(test)
        tasks = self.known.among([test for test in failing if test.id not in self.lacks])
        already = [self._known(task, tests) for task, tests in tasks]
        known = {test.id for _, tests in tasks for test in tests}
        failing = tuple(test for test in failing if test.id not in known)
        if not failing:
            return already
        states = self._flakiness([test.id for test in failing if test.id not in self.lacks])
        states |= {test: estimate(1, 1) for test in self.lacks}
        # Apart by what is flaky and by what the environment lacks: failures may look alike, with other causes.
        apart: defaultdict[tuple[int, bool, str], list[FailedTest]] = defaultdict(list)
        for place, alike in enumerate(group_failures(failing, self.paths)):
            for test in alike:
                rule = self.lacks[test.id].rule if test.id in self.lacks else ""
                apart[place, states[test.id].state == "flaky", rule].append(test)
        groups = [tuple(apart[key]) for key in sorted(apart)]
        tests = f"{len(failing)} failing test{'s' * (len(failing) > 1)}"
        _tell("group", tests if len(groups) == len(failing) else f"{tests}, {len(groups)} kinds of failure")
        of = {group[0].id: self._bisect(group, states, report) for group in groups[:_MOST_BISECTIONS]}
        blamed = [one.change.id if (one := of.get(group[0].id)) and one.change else "" for group in groups]
        return already + [self._filed(group, states, of.get(group[0].id)) for group in joined(groups, blamed)]

    def _known(self, task: RepairTask, tests: Sequence[FailedTest]) -> Triaged:
        """Bring a task about tests that still fail to the head, with what was learnt of them when it was filed."""
        names = ", ".join(filter(None, task.tests)) or "the command"
        _tell("known", f"{names}: task {task.id} says it already: no search and no further runs for flakiness")
        state = estimate(task.failures, task.runs)
        if change := task.blame:
            self.suspected[change] = _SUSPICION
        trace = next((test.trace for test in tests if test.id == task.tests[0]), task.trace)
        task = self._file_task(replace(task, commit=self.commit.id, trace=trace))
        return Triaged(task, decide(Situation(task, flakiness=state, blamed=_is_told(task, state))), state)

    def _text(self, path: str) -> str | None:
        return self.repository.text(self.commit.id, path)

    def _lacked_before(self, test: FailedTest) -> Objection | None:
        """Return what lacks by a failure to import at the head, at the oldest commit and between: no search is made."""
        lack = lacking(test, self.project, has_passed=False)
        tried = {self.history[0].id, self.history[len(self.history) // 2].id} - {self.commit.id}
        failed = lack and all(self.runs.outcome(commit, test.id, "whole") == "failed" for commit in tried)
        return lack if failed else None

    def how(self, test: str) -> How:
        """Return how a test is run: with all others unless it was seen to fail without them."""
        return "alone" if self.seen_alone.get(test) == "failed" else "whole"

    def _flakiness(self, tests: Sequence[str]) -> dict[str, Flakiness]:
        states = rerun(self._rerun, tests)
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
            unseen = f"; {state.unseen} more did not show it, so it goes on as failing" if state.unseen else ""
            counts = f"{state.failures} of {state.runs} runs failed{unseen}"
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
        what = f"{len(tests)} undecided test{'s' * (len(tests) > 1)} alone" if how == "alone" else "the whole command"
        _tell("flakiness", f"running {what} again")
        report = self.runs.report(self.commit.id, tests, how)
        for test in tests:
            self.failures[test] += filter(None, [failure_in(report, test)])
        return {test: outcome_of(report, test) for test in tests}

    def _bisect(
        self, group: tuple[FailedTest, ...], states: dict[str, Flakiness], report: SuiteReport
    ) -> Bisection | None:
        test = group[0].id
        state, name = states[test], test or "the command"
        if test in self.lacks or state.state == "flaky":
            return None
        called, is_same = self._called(test, self.history), SameFailure(self.failures[test])
        slow: set[str] = set()
        messages: dict[str, str] = {}

        def run(commit: str) -> Sight:
            name_there = called.get(commit, test)  # a commit of a side branch is not among those that landed
            report = self.runs.report(commit, [name_there], self.how(test))
            slow.update([commit] if report.ended == "time" else [])
            if len(slow) >= _MOST_SLOW:
                raise TimeSpent("the tests do not end within their time at several commits")
            outcome = outcome_of(report, name_there)
            self.sound.update([test] if outcome == "passed" else [])
            if outcome == "failed" and (failure := failure_in(report, name_there)) and not is_same(failure):
                messages[commit] = failure.message
                return "other"
            return outcome

        def tell(commit: Commit, sight: Sight, likeliest: Likeliest | None) -> None:
            what = f"fails otherwise: {messages[commit.id]}" if sight == "other" else sight
            best = f"; likeliest so far: {likeliest[0].short} ({likeliest[1]:.0%})" if likeliest else ""
            _tell("bisect", f"{name} at {commit.short}: {' '.join(what.split())[:_SHOWN]}{best}")

        outcomes: list[Outcome] = ["failed"] * state.failures
        outcomes += ["passed"] * (state.runs - state.failures)
        try:
            answer = find_change(
                self.history,
                run,
                at_newest=outcomes,
                suspected=self.suspected,
                prior=_PRIOR,
                on_run=tell,
                side_branch=self.repository.side_branch,
            )
        except TimeSpent as error:
            _tell("bisect", f"{name}: {error.line()}, so no change is blamed")
            self.notes[test] = NO_TIME
            return None
        self.notes[test] = note_of(answer, self.history, group[0].message, messages)
        if test not in self.sound:  # it passed at no commit: what does the environment lack?
            lack = lacking(group[0], self.project, has_passed=False)
            is_silent = not test and report.ran is None and innermost(group[0].trace, self.paths) is None
            if lack := lack or (silent(report.output) if is_silent else None):
                self.lacks |= {failure.id: lack for failure in group}
                return None
        if change := answer.change:
            self.suspected[change.id] = _SUSPICION
            _tell("blame", f"{change.short} {change.subject} ({answer.posterior:.1%}, {answer.runs} runs)")
        else:
            _tell("blame", f"{name}: {self.notes[test]}")
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
            runs=state.runs,
            failures=state.failures,
            blame_note=self.notes.get(first.id, ""),
            earlier=bisection.earlier[-1].id if bisection and change and bisection.earlier else "",
            never_passed=bisection is not None and never_passed(bisection, self.history),
            searched_from=self.history[0].id,
        )
        if lack := self.lacks.get(first.id):
            _tell("environment", f"{lack.rule}: {lack.reason}; no task is filed")
            return Triaged(replace(task, owner="", owner_reason="", blame_note=""), RuleDecision((lack,)), state)
        task = self._file_task(task)
        decision = decide(Situation(task, flakiness=state, blamed=_is_told(task, state)))
        for objection in decision.objections:
            _tell("rules", f"{objection.rule}: {objection.reason}")
        tests = ", ".join(task.tests) or "the command"
        _tell("task", f"{task.id or 'not filed'}: {tests} for {task.owner or 'nobody'}")
        return Triaged(task, decision, state)


def _is_told(task: RepairTask, state: Flakiness) -> bool:
    """Return whether it is known why a task's tests fail: since a change, since they were written, or by chance."""
    return bool(task.blame) or task.never_passed or state.state == "flaky"


def _tell(stage: str, text: str) -> None:
    say(f"misstep: {stage}: {plain(text)}")


def examine(
    task: RepairTask,
    folder: Path,
    *,
    sandbox: Sandbox,
    toolchain: Toolchain,
    limits: Limits,
    uncommitted: bool = False,
    at_its_commit: bool = False,
) -> RuleDecision:
    """Ask the rules anew at the head of the branch, right before the agent would run.

    At the task's own commit its tests are run only with `at_its_commit`: the environment may have changed.
    """
    decision = decide(Situation(task))
    with (
        Repository(folder, uncommitted=uncommitted) as repository,
        CommitRuns(repository, task.command, sandbox=sandbox, toolchain=toolchain, limits=limits) as runs,
    ):
        head = repository.head
        is_there = head.id == task.commit
        if not decision.run or (is_there and not at_its_commit):
            return decision
        landed = repository.first_parents(head.id, _MOST_SINCE, after=task.commit)
        since = 0 if is_there else max(1, len(landed) - 1)
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
    return decide(
        Situation(task, failed_at_head=True, commits_since=since, flakiness=state, blamed=_is_told(task, state))
    )
