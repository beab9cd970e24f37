"""`misstep repair review`: packages for reviewers, and what they decided."""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.options.common import command_app
from misstep_harness.errors import UsageError

if TYPE_CHECKING:
    from misstep_harness.repair.records import RepairAttempt

app = command_app(has_commands=True)

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a repair run.")]
Attempt = Annotated[str, typer.Argument(metavar="ATTEMPT", help="Case or attempt, as `repair report --json` names it.")]
By = Annotated[str, typer.Option(help="Name of the reviewer; by default the user's.")]
Comment = Annotated[str, typer.Option(help="Comment on the patch.")]


@app.callback()
def review() -> None:
    """Review patches: write a package, accept, reject."""


@app.command()
def package(
    run: Run, attempt: Attempt, out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write.")]
) -> None:
    """Write a review package.

    It has the patch, the task, the checks' signals, and the agent's run as a page.
    """
    from misstep_analysis.repair.report import PAGE, write_package
    from misstep_harness.repair.runs.patches import add_review
    from misstep_harness.repair.runs.repository import case_of

    record = _attempt(run, attempt)
    write_package(run, record, case_of(run, record.case), out)
    add_review(run, record, "published", "misstep")
    print(out / PAGE)


@app.command()
def accept(run: Run, attempt: Attempt, by: By = "", comment: Comment = "") -> None:
    """Accept a patch."""
    _decide(run, attempt, "accepted", by, comment)


@app.command()
def reject(run: Run, attempt: Attempt, by: By = "", comment: Comment = "") -> None:
    """Reject a patch; its review ends."""
    from misstep_harness.repair.runs.repository import reject_patch

    reject_patch(run, _decide(run, attempt, "rejected", by, comment), comment)


def _decide(run: Path, attempt: str, event: Literal["accepted", "rejected"], by: str, comment: str) -> "RepairAttempt":
    from misstep_harness.repair.runs.patches import add_review

    record = _attempt(run, attempt)
    added = add_review(run, record, event, by or getpass.getuser(), comment)
    print(f"{added.event}: {added.attempt}")
    return record


def _attempt(run: Path, named: str) -> "RepairAttempt":
    """Return the attempt of this name, or the first of this case that solves it."""
    from misstep_harness.journal.opened import open_of
    from misstep_harness.repair.records import ATTEMPT_RECORDS
    from misstep_harness.repair.runs.patches import reviews_of, state_of

    attempts = list(open_of(run, "repair run").read(ATTEMPT_RECORDS))
    same = [each for each in attempts if named in (each.id, each.case)]
    if not same:
        reviews = reviews_of(run)
        states = (f"{each.id} ({state_of(each.id, reviews)})" for each in attempts if each.solved)
        advice = f"Name one of {', '.join(states) or 'another run: no attempt of this one solves its case'}."
        raise UsageError(f"no attempt {named!r} in {run}", advice)
    return next((each for each in same if each.solved), same[0])
