"""Runs a project's tests in a workspace and reads what they found."""

from collections.abc import Sequence

from harness.errors import MisstepError
from harness.workspace.sandbox import Finished, Limits
from harness.workspace.suite_command import REPORT, runner_of, suite_command
from harness.workspace.suite_report import SuiteCounts, SuiteReport, from_junit_xml, from_unittest
from harness.workspace.workspace import Workspace


def run_suite(
    workspace: Workspace, command: str, tests: Sequence[str] = (), limits: Limits | None = None
) -> SuiteReport:
    """Run chosen tests, or all where none is named; nothing is left in the workspace.

    They have passed where the command ended by itself with 0 and, if its runner counts, at least one test ran and none
    failed. A runner that was to write a report and wrote none has not passed: the program may have left early.

    Raises
    ------
    UsageError
        The command is empty.
    SandboxFailed
        The command was never started.
    """
    line = suite_command(command, tests)
    _forget_report(workspace)
    done = workspace.run(["/bin/sh", "-c", line], limits=limits)
    try:
        return _report(done, _counts(workspace, command, done), counts_tests=runner_of(command) != "exit_code")
    finally:
        _forget_report(workspace)


def _counts(workspace: Workspace, command: str, done: Finished) -> SuiteCounts | None:
    runner = runner_of(command)
    if runner == "unittest":
        return from_unittest(done.output)
    if runner == "exit_code":
        return None
    try:
        return from_junit_xml(workspace.read(REPORT), REPORT)
    except (MisstepError, OSError):
        return None


def _report(done: Finished, counts: SuiteCounts | None, *, counts_tests: bool) -> SuiteReport:
    all_passed = counts.ran > 0 and not counts.failed if counts else not counts_tests
    return SuiteReport(
        passed=done.ended == "exited" and done.exit_code == 0 and all_passed,
        ran=counts.ran if counts else None,
        skipped=counts.skipped if counts else 0,
        failed=counts.failed if counts else (),
        ended=done.ended,
        exit_code=done.exit_code,
        output=done.output,
        seconds=done.seconds,
    )


def _forget_report(workspace: Workspace) -> None:
    if workspace.exists(REPORT):
        workspace.remove(REPORT)
