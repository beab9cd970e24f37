"""Tests run several times on one result: always the same outcome, or one that changes."""

from collections.abc import Callable

from msgspec import Struct

from misstep.harness.records.attribution import Evidence
from misstep.harness.triage.protocols import Replica, Result, SandboxAccess
from misstep.harness.triage.rules.failures import TestFailure, last_lines, read_failure
from misstep.harness.workspace import Finished
from misstep.harness.workspace.suite_output import saw_tests


class TestRun(Struct, frozen=True):
    """One run of the tests: what was run, and how it ended."""

    __test__ = False  # no test of pytest's

    command: str
    finished: Finished

    @property
    def passed(self) -> bool:
        """Return whether the tests passed: the command ended well, and not because it ran none."""
        return self.finished.exit_code == 0 and self.seen

    @property
    def seen(self) -> bool:
        """Return whether any test ran, as far as the output says; a run of none has neither passed nor failed."""
        return saw_tests(self.finished.output)

    @property
    def evidence(self) -> Evidence:
        """Return the command with its output."""
        finished = self.finished
        ended = f"exit code {finished.exit_code}" if finished.ended == "exited" else f"ended by {finished.ended}"
        return Evidence("command", self.command, f"{ended}\n{last_lines(finished.output)}")


class TestRuns:
    """The runs of the tests on one result so far.

    - `prepare`: What is done in each fresh replica before, such as the agent's commands; its tests are laid afterwards.
    """

    __test__ = False

    def __init__(
        self, access: SandboxAccess, result: Result, prepare: Callable[[Replica], object] | None = None
    ) -> None:
        self._access, self._result, self._prepare = access, result, prepare
        self.runs: list[TestRun] = []

    def more(self, count: int) -> "TestRuns":
        """Run the tests until they have run `count` times, or have passed and failed; each time in a fresh replica."""
        while len(self.runs) < count and not self.changing:
            self.runs.append(self._once(len(self.runs)))
        return self

    def _once(self, number: int) -> TestRun:
        command = self._access.case.file.test_command
        with self._access.replica(self._result, tests=self._prepare is None) as replica:
            if self._prepare is not None:
                self._prepare(replica)
            if number == 0 or self._prepare is not None:
                finished = replica.test()
            else:  # another seed for the order in which Python's sets come
                command = f"PYTHONHASHSEED={number} {command}"
                finished = replica.run(f"export PYTHONHASHSEED={number}\n{self._access.case.file.test_command}")
        return TestRun(f"on {self._result}: {command}", finished)

    @property
    def changing(self) -> bool:
        """Return whether the tests passed and failed on the same result."""
        return len({run.passed for run in self.runs if run.seen}) > 1

    @property
    def passed(self) -> bool:
        """Return whether all runs passed."""
        return bool(self.runs) and all(run.passed for run in self.runs)

    @property
    def failed(self) -> bool:
        """Return whether all runs failed."""
        return any(run.seen for run in self.runs) and not any(run.passed for run in self.runs)

    @property
    def silent(self) -> bool:
        """Return whether no test ran in any run."""
        return bool(self.runs) and not any(run.seen for run in self.runs)

    @property
    def failure(self) -> TestFailure:
        """Return how the first failing run failed."""
        return read_failure(next((run.finished.output for run in self.runs if not run.passed), ""))

    @property
    def timed_out(self) -> bool:
        """Return whether every failing run was ended by the clock."""
        failing = [run for run in self.runs if not run.passed]
        return bool(failing) and all(run.finished.ended == "time" for run in failing)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Return a failing and a passing run, if there are such."""
        failing, passing = (next((run for run in self.runs if run.passed == how), None) for how in (False, True))
        return tuple(run.evidence for run in (failing, passing) if run is not None)

    def always_failing(self) -> frozenset[str]:
        """Return the tests that fail in every run, by name."""
        sets = [read_failure(run.finished.output).tests for run in self.runs]
        return frozenset.intersection(*sets) if sets else frozenset()

    def ever_failing(self) -> frozenset[str]:
        """Return the tests that fail in any run, by name."""
        return frozenset().union(*(read_failure(run.finished.output).tests for run in self.runs))
