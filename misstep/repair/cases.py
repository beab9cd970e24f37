"""The cases that `misstep repair run` is about."""

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.repair.case import CaseFolder
    from harness.workspace import Sandbox


def named_cases(
    cases: Path, test_command: str, outcomes: Path | None, out: Path, sandbox: "Sandbox"
) -> "list[CaseFolder]":
    """The repair cases in a folder, or those that the failing tests of a git repository become.

    Raises
    ------
    UsageError
        An option is for the other of the two.
    InputError
        There is no case, or one breaks the form; or no test of the repository fails.
    """
    from harness.repair.case import CASE, read_cases

    is_repository = (cases / ".git").exists() and not (cases / CASE).exists()
    if is_repository != bool(test_command):
        found = "a git repository without --test-command" if is_repository else "--test-command with repair cases"
        raise UsageError(found, "Give --test-command with a git repository, and only with one.")
    if not is_repository:
        if outcomes is not None:
            raise UsageError("--outcomes with repair cases", "Give --outcomes with a git repository only.")
        return list(read_cases(cases))
    from harness.repair.failure_bot.flakiness import read_record
    from harness.runs.repair_repository import cases_of_repository

    record = read_record(outcomes) if outcomes is not None else []
    return cases_of_repository(cases, test_command, out, sandbox, record)
