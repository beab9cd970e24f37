"""Find among the open tasks of a repository those that say already what a failing test is."""

from collections.abc import Sequence

from misstep_harness.repair.failure_bot.flakiness import estimate
from misstep_harness.repair.failure_bot.grouping import failure_of, normalised
from misstep_harness.repair.failure_bot.reproduce import CommitRuns, failure_in
from misstep_harness.repair.failure_bot.tasks import RepairTask
from misstep_harness.workspace.suite.report import FailedTest

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
