"""A run judged by rule: a failed one by what its access allows, one that passed by the checks of passes."""

from collections.abc import Callable
from typing import TypeVar

from harness.triage.attributed import Attribution
from harness.triage.passes import attribute_pass
from harness.triage.protocols import ReadOnlyAccess, SandboxAccess, TextAccess
from harness.triage.rules import read_only, sandbox, text
from harness.triage.rules.failures import read_failure
from harness.triage.rules.verdicts import Undecided
from harness.triage.texts import recorded_outcome
from harness.workspace.suite_output import saw_tests

AnyAccess = TypeVar("AnyAccess", bound=TextAccess)


def by_texts(access: TextAccess) -> Attribution | Undecided:
    """A run judged by its texts."""
    return _judged(access, text.read)


def by_files(access: ReadOnlyAccess) -> Attribution | Undecided:
    """A run judged by its files."""
    return _judged(access, read_only.inspect)


def by_running(access: SandboxAccess) -> Attribution | Undecided:
    """A run judged by running tests and solutions; whether it passed is found out where it is not recorded."""
    if recorded_outcome(access) is None and access.case.file.test_command and access.case.part("workspace"):
        with access.replica("workspace") as replica:
            done = replica.test()
        passed = done.exit_code == 0 and saw_tests(done.output)
        return attribute_pass(access) if passed else sandbox.investigate(access)
    return _judged(access, sandbox.investigate)


def _judged(access: AnyAccess, failed: Callable[[AnyAccess], Attribution | Undecided]) -> Attribution | Undecided:
    outcome = recorded_outcome(access)
    if outcome == "passed":
        return attribute_pass(access)
    failure = read_failure(text.tests_log(access))
    if outcome is None and not (failure.tests or failure.raised):
        return Undecided("Nothing says whether the run passed.")
    return failed(access)
