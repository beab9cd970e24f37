"""A run judged by rule: a failed one by what its access allows, one that passed by the checks of passes."""

from collections.abc import Callable
from typing import TypeVar

from misstep.harness.records.triage_case import OUTCOME_FORM, Outcome
from misstep.harness.triage.attributed import Attribution
from misstep.harness.triage.logs import tests_log
from misstep.harness.triage.passes import attribute_pass
from misstep.harness.triage.protocols import ReadOnlyAccess, SandboxAccess, TextAccess
from misstep.harness.triage.rules import read_only, sandbox, text
from misstep.harness.triage.rules.failures import read_failure
from misstep.harness.triage.rules.interrupted import interrupted
from misstep.harness.triage.rules.verdicts import Undecided
from misstep.harness.triage.texts import recorded_outcome
from misstep.harness.workspace.suite_output import saw_tests

AnyAccess = TypeVar("AnyAccess", bound=TextAccess)


def by_texts(access: TextAccess) -> Attribution | Undecided:
    """Return a run judged by its texts."""
    return _judged(access, text.read)


def by_files(access: ReadOnlyAccess) -> Attribution | Undecided:
    """Return a run judged by its files."""
    return _judged(access, read_only.inspect)


def by_running(access: SandboxAccess) -> Attribution | Undecided:
    """Return a run judged by running tests and solutions; whether it passed is found out where it is not recorded."""
    return _judged(access, sandbox.investigate, _found_out)


def _found_out(access: SandboxAccess) -> Outcome | None:
    if not access.case.file.test_command or not access.case.part("workspace"):
        return None
    with access.replica("workspace") as replica:
        done = replica.test()
    return "passed" if done.exit_code == 0 and saw_tests(done.output) else "failed"


def _judged(
    access: AnyAccess,
    failed: Callable[[AnyAccess], Attribution | Undecided],
    find_out: Callable[[AnyAccess], Outcome | None] = lambda _: None,
) -> Attribution | Undecided:
    outcome = recorded_outcome(access)
    broken = interrupted(access, outcome)
    if broken is not None:
        return broken
    outcome = outcome or find_out(access) or _told(tests_log(access.logs).text)
    if outcome is None:
        return Undecided(f"Nothing says whether the run passed. {OUTCOME_FORM}")
    return attribute_pass(access) if outcome == "passed" else failed(access)


def _told(log: str) -> Outcome | None:
    """Return whether the run passed, by what its tests printed."""
    failure = read_failure(log)
    if failure.tests or failure.raised:
        return "failed"
    return "passed" if text.all_passed(log, failure) else None
