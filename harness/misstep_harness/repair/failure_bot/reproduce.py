"""Running a test command in the sandbox on the tree of a commit, and what that says of one test."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.repair.failure_bot.change_search import Outcome
from misstep_harness.repair.failure_bot.rules import RepositoryFiles, lacking
from misstep_harness.workspace import (
    Limits,
    Sandbox,
    Snapshot,
    Toolchain,
    Workspace,
    install_line,
    open_workspace,
    own_command,
    project_toolchain,
)
from misstep_harness.workspace.repository import Repository
from misstep_harness.workspace.suite.report import STOPPED, FailedTest, SuiteReport, last_line
from misstep_harness.workspace.suite.run import How, breaks, is_of, run_suite

KEPT = 4
"""How many commits' trees are held at once: a search goes back and forth between a few."""

_SECONDS = 120.0
_NOT_STARTED = (126, 127)
_CUT_SHORT = (2, 3)
"""What pytest ends with where it was interrupted, as by a file that it cannot import, or broke."""
_SHOWN = 6_000
_LONGEST_LINE = 60_000
_UNKNOWN_TO_UNITTEST = "unittest.loader._FailedTest"
_MISSING = re.compile(r"(?:has no attribute|No module named) '([^'\n]{1,200})'")


class CommitRuns:
    """A test command on the trees of a repository's commits, as a context manager; the work tree is not touched."""

    def __init__(
        self,
        repository: Repository,
        command: str,
        *,
        sandbox: Sandbox,
        toolchain: Toolchain,
        limits: Limits | None = None,
    ) -> None:
        self.repository, self.command = repository, command
        self._sandbox, self.toolchain, self._limits = sandbox, toolchain, limits
        self._open: dict[str, tuple[Workspace, Snapshot, ExitStack]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._close(next(iter(self._open)))

    def report(self, commit: str, tests: Sequence[str] = (), how: How = "either") -> SuiteReport:
        """Run tests at a commit, all of the command's where none is named."""
        workspace = self.workspace(commit)
        if sum(map(len, tests)) > _LONGEST_LINE:
            how = "whole"  # no shell takes such a line; what is asked about is among all of them
        return run_suite(workspace, self.command, tests, self._limits, how=how)

    def workspace(self, commit: str) -> Workspace:
        """Return the tree of a commit as it was committed, open until some other trees have been asked for."""
        if commit in self._open:
            workspace, snapshot, closing = self._open.pop(commit)
            workspace.restore(snapshot)
        else:
            while len(self._open) >= KEPT:
                self._close(next(iter(self._open)))
            with ExitStack() as opening:
                folder = Path(opening.enter_context(TemporaryDirectory(prefix="misstep-commit-")))
                tree = self.repository.export(commit, folder / "tree")
                # Unlike in a repair case the seed of hashes is left free: a test may be flaky by their order.
                opened = open_workspace(
                    tree,
                    sandbox=self._sandbox,
                    read_only=self.toolchain.read_only,
                    environment=self.toolchain.environment,
                    checkout=self.toolchain.checkout,
                )
                workspace = opening.enter_context(opened)
                snapshot = workspace.take()
                closing = opening.pop_all()
        self._open[commit] = workspace, snapshot, closing
        return workspace

    def _close(self, commit: str) -> None:
        self._open.pop(commit)[2].close()

    def outcome(self, commit: str, test: str, how: How = "either") -> Outcome:
        """Run one test at a commit, the whole command where the id is empty."""
        return outcome_of(self.report(commit, [test], how), test)


def failing_tests(report: SuiteReport, command: str) -> tuple[FailedTest, ...]:
    """Return the tests that failed; if the command names none, one without id: the whole command."""
    if report.failed or report.passed:
        return tuple({test.id: test for test in reversed(report.failed)}.values())[::-1]
    if report.exit_code in _NOT_STARTED:
        raise InputError(
            f"the test command {command!r} cannot be started in the sandbox: {report.output.strip()[-300:]}",
            "Install the packages of the project (`npm ci` for a package.json), or give a command whose programs are"
            " part of the system or of this Python.",
        )
    if report.ended == "exited" and report.ran == 0:
        raise InputError(f"the test command {command!r} runs no test", "Give a command that finds some.")
    reason = last_line(report.output) or f"it ended with exit code {report.exit_code}"
    message = f"the tests were stopped: {STOPPED[report.ended]}" if report.ended != "exited" else reason
    return (FailedTest("", message, report.output[-_SHOWN:]),)


def failure_in(report: SuiteReport, test: str) -> FailedTest | None:
    """Return how a run says that a test failed; the whole command, which has no id, by its last line."""
    if test:
        return next((failed for failed in report.failed if failed.id == test), None)
    line = last_line(report.output) or f"it ended with exit code {report.exit_code}"
    return None if report.passed else FailedTest("", line, report.output[-_SHOWN:])


def outcome_of(report: SuiteReport, test: str) -> Outcome:
    """Return what a run says of one test.

    A test that is not there, or is skipped, does not fail; one whose file cannot be imported at that commit, or
    that meets a limit, says nothing, unless that is the failure itself. The whole command, which has no id, says
    nothing where a limit ended it.
    """
    if report.exit_code in _NOT_STARTED or report.ended not in ("exited", "signal"):
        return "undecided"
    if not test:
        return "passed" if report.passed else "failed"
    if any(failed.id == test for failed in report.failed):
        return "failed"
    if any(is_of(passed_test, test) for passed_test in report.seen or ()):
        return "passed"
    if report.failed and all(_is_absent(failed, test) for failed in report.failed):
        return "absent"
    is_whole = report.exit_code not in _CUT_SHORT and report.seen is not None
    if is_whole and not any(breaks(failed.id, test) for failed in report.failed):
        return "absent"
    if report.passed:
        return "passed"
    if report.ended != "exited" or report.failed or report.ran is None:
        return "undecided"
    return "absent" if report.ran == 0 else "undecided"


def _is_absent(failed: FailedTest, test: str) -> bool:
    """Return whether unittest says that it knows no such test: its module, its class or its own name is not there."""
    if not failed.id.startswith(_UNKNOWN_TO_UNITTEST):
        return False
    missing = _MISSING.search(failed.message)
    return missing is not None and missing.group(1) in (*test.split("."), test.rpartition(".")[0].rpartition(".")[0])


class ProjectTrial(Struct, frozen=True):
    """What the sandbox showed of a project, and what its tests did at the last commit.

    - `mounts`: The places of the machine outside the project that the sandbox shows.
    - `built`: The files that its installation wrote, which no commit has.
    - `lacks`: What the environment may lack, by the failures, with the line that installs it.
    """

    python: str
    shown: tuple[str, ...]
    works: bool
    report: SuiteReport
    built: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()


def try_project(folder: Path, command: str, python: Path | None, sandbox: Sandbox) -> ProjectTrial:
    """Run the tests of the last commit once, with the project's own interpreter and packages."""
    toolchain = project_toolchain(folder, command, python, sandbox.show)
    limits = Limits(seconds=_SECONDS)
    with (
        Repository(folder) as repository,
        CommitRuns(repository, own_command(command), sandbox=sandbox, toolchain=toolchain, limits=limits) as runs,
    ):
        head = repository.head.id
        report, built, paths = runs.report(head), repository.built, repository.paths(head)
        project = RepositoryFiles(paths, lambda path: repository.text(head, path), install_line(toolchain))
        failing = report.failed or (() if report.passed else (FailedTest("", "", report.output[-_SHOWN:]),))
        lack = {test.id: missing for test in failing if (missing := lacking(test, project, has_passed=False))}
    shown = toolchain.checkout.shown if toolchain.checkout else ()
    works = report.passed or (report.ran or 0) > len(lack)
    reasons = tuple(dict.fromkeys(each.reason for each in lack.values()))
    mounts = tuple(map(str, dict.fromkeys((*toolchain.read_only, *sandbox.show))))
    return ProjectTrial(toolchain.python, shown, works, report, built, reasons, mounts)
