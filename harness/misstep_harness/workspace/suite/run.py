"""Runs a project's tests in a workspace and reads what they found."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from msgspec.structs import replace

from misstep_harness.errors import MisstepError
from misstep_harness.workspace.package_scripts import plain_command
from misstep_harness.workspace.sandbox import Finished, Limits
from misstep_harness.workspace.suite.command import (
    REPORT,
    WRAPPED,
    counts_tests,
    is_script,
    names_tests,
    runner_of,
    suite_command,
    takes_names,
    unittest_name,
)
from misstep_harness.workspace.suite.javascript import from_json
from misstep_harness.workspace.suite.output import from_output
from misstep_harness.workspace.suite.report import SuiteCounts, SuiteReport, from_junit_xml
from misstep_harness.workspace.workspace import Workspace

How = Literal["alone", "whole", "either"]
"""How chosen tests are run: by naming them to their framework, with all others, or with all others where they were not
seen alone."""


def run_suite(
    workspace: Workspace, command: str, tests: Sequence[str] = (), limits: Limits | None = None, *, how: How = "either"
) -> SuiteReport:
    """Run chosen tests, or all where none is named; nothing is left in the workspace.

    All have passed where the command ended by itself with 0 and, if its runner counts, at least one test ran and none
    failed; chosen ones where each was seen to pass as well, whatever others do. A runner that was to write a report and
    wrote none has not passed: the program may have left early. An empty name stands for the whole command.
    """
    command = plain_line(workspace, command)
    wanted = [] if "" in tests else list(tests)
    if not wanted or how == "whole":
        return _once(workspace, command, wanted, (), limits)
    alone = _once(workspace, command, wanted, wanted, limits)
    is_said = "{tests}" in command or (takes_names(command) and _says_of(alone, wanted))
    if how == "alone" or alone.passed or alone.ended != "exited" or is_said:
        return alone
    whole = _once(workspace, command, wanted, (), limits)
    return whole if _says_of(whole, wanted) or whole.ended != "exited" else alone


def plain_line(workspace: Workspace, command: str) -> str:
    """Return a test command with the scripts of the packages of a tree in the place of what starts them."""

    def read(path: str) -> str | None:
        return workspace.read(path).decode("utf-8", "replace") if workspace.exists(path) else None

    return plain_command(command, read, workspace.files)


def is_of(test: str, wanted: str) -> bool:
    """Whether a test that was reported is the one that was asked for, or one of its parameters, class or file."""
    file, _, rest = wanted.partition("::")
    if is_script(file):  # TAP names a file where a test failed, and none where it passed
        return test in (wanted, rest) or test.startswith(f"{wanted}::")
    if test == wanted or test.startswith((f"{wanted}::", f"{wanted}[", f"{wanted} [", f"{wanted}/")):
        return True
    parts = unittest_name(wanted).split(".")
    names = [".".join(parts[place:]) for place in range(len(parts))]
    return "::" not in test and any(test == name or test.startswith(f"{name}.") for name in names)


def breaks(failed: str, wanted: str) -> bool:
    """Return whether a failure is that of the test that was asked for, or of its class, its module or its file."""
    return is_of(failed, wanted) or wanted.startswith(f"{failed}::") or is_of(wanted, unittest_name(failed))


def _says_of(report: SuiteReport, wanted: Sequence[str]) -> bool:
    """Return whether a run says something of the tests that were asked for: one fails, or all were seen to pass."""
    if any(breaks(test.id, each) for test in report.failed for each in wanted):
        return True
    return report.seen is not None and all(any(is_of(test, each) for test in report.seen) for each in wanted)


def _once(
    workspace: Workspace, command: str, wanted: Sequence[str], named: Sequence[str], limits: Limits | None
) -> SuiteReport:
    _forget_report(workspace)
    line = (WRAPPED if runner_of(command) == "exit_code" else "") + suite_command(command, named)
    try:
        done = workspace.run(["/bin/sh", "-c", line], limits=limits)
        counts = _counts(workspace, command, done)
        all_passed = counts.ran > 0 and not counts.failed if counts else not counts_tests(command)
        report = SuiteReport(
            passed=done.ended == "exited" and done.exit_code == 0 and all_passed,
            ran=counts.ran if counts else None,
            seen=counts.passed if counts else None,
            skipped=counts.skipped if counts else 0,
            failed=counts.failed if counts else (),
            ended=done.ended,
            exit_code=done.exit_code,
            output=done.output,
            seconds=done.seconds,
        )
    finally:
        _forget_report(workspace)
    if not wanted or report.seen is None or not (names_tests(command, wanted) or _says_of(report, wanted)):
        return report
    failed = tuple(test for test in report.failed if any(breaks(test.id, each) for each in wanted))
    ended_well = report.ended == "exited" and (report.exit_code == 0 or bool(report.failed))
    passed = ended_well and not failed and _says_of(report, wanted)
    return replace(report, passed=passed, failed=failed if failed or passed else report.failed)


def _counts(workspace: Workspace, command: str, done: Finished) -> SuiteCounts | None:
    runner = runner_of(command)
    if runner in ("pytest", "junit", "jest", "mocha", "exit_code"):
        with suppress(MisstepError, OSError):
            data = workspace.read(REPORT)
            return from_json(data, REPORT) if data[:1] == b"{" else from_junit_xml(data, REPORT)
    return None if runner in ("pytest", "junit") else from_output(done.output)


def _forget_report(workspace: Workspace) -> None:
    if workspace.exists(REPORT):
        workspace.remove(REPORT)
