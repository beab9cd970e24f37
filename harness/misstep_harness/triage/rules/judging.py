"""A run judged by rule: a failed one by what its access allows, one that passed by the checks of passes."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from misstep_harness.triage.passes import attribute_pass
from misstep_harness.triage.protocols import ReadOnlyAccess, SandboxAccess, TextAccess
from misstep_harness.triage.records.triage_case import OUTCOME_FORM, Outcome
from misstep_harness.triage.rules import read_only, sandbox, text
from misstep_harness.triage.rules.interrupted import interrupted, unreliable_pass
from misstep_harness.triage.rules.run_record import RunRecord, TextRun
from misstep_harness.triage.rules.verdicts import Attribution, Undecided
from misstep_harness.triage.texts import lines_of_outcome, recorded_outcome
from misstep_harness.workspace.suite.output import saw_tests

Decide = Callable[[RunRecord[Any]], Attribution | Undecided]


def by_texts(access: TextAccess) -> Attribution | Undecided:
    """Return a run judged by its texts."""
    return _judged(access, text.read)


def by_files(access: ReadOnlyAccess) -> Attribution | Undecided:
    """Return a run judged by its files."""
    return _judged(access, read_only.inspect)


def by_running(access: SandboxAccess) -> Attribution | Undecided:
    """Return a run judged by running tests and solutions; whether it passed is found out where it is not recorded."""
    return _judged(access, sandbox.investigate, lambda: _found_out(access))


def _found_out(access: SandboxAccess) -> Outcome | None:
    if not access.case.file.test_command or not access.case.part("workspace"):
        return None
    with access.replica("workspace") as replica:
        done = replica.test()
    return "passed" if done.exit_code == 0 and saw_tests(done.output) else "failed"


def _judged(
    access: TextAccess, failed: Decide, find_out: Callable[[], Outcome | None] = lambda: None
) -> Attribution | Undecided:
    run, outcome = RunRecord(access), recorded_outcome(access)
    if (broken := interrupted(run, outcome)) is not None:
        return broken
    lines = lines_of_outcome(access)
    outcome = outcome or find_out() or (None if lines else _outcome_of(run))
    if outcome is None:
        why = "Two lines contradict each other on" if lines else "Nothing says"
        return Undecided(f"{why} whether the run passed. {OUTCOME_FORM}", lines)
    if outcome == "passed" and (doubtful := unreliable_pass(run)) is not None:
        return doubtful
    decided = attribute_pass(access) if outcome == "passed" else failed(run)
    return replace(decided, evidence=(*decided.evidence, *lines)) if lines else decided


def _outcome_of(run: TextRun) -> Outcome | None:
    if run.failure.tests or run.failure.raised:
        return "failed"
    return "passed" if text.all_passed(run.log.text, run.failure) else None
