"""`misstep repair review`: packages for reviewers, and what they decided."""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.harness.errors import UsageError
from misstep.harness.progress import say
from misstep.options.common import Json, command_app, json_text
from misstep.options.sandbox import Show
from misstep.repair.review_tables import RolloutSeed, codes, rollout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misstep.harness.records.repair_attempt import RepairAttempt

app = command_app(has_commands=True)
app.command()(codes)
app.command()(rollout)

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a repair run.")]
Attempt = Annotated[str, typer.Argument(metavar="ATTEMPT", help="Case or attempt, as `review list` names it.")]
By = Annotated[str, typer.Option(help="Name of the reviewer; by default the user's.")]
Comment = Annotated[str, typer.Option(help="Comment on the patch.")]


@app.callback()
def review() -> None:
    """Review patches: accept, reject, and record what has landed."""


@app.command("list")
def list_attempts(
    run: Run,
    share: Annotated[
        float, typer.Option(min=0, max=1, metavar="S", help="Share of the cases that a rollout has come to.")
    ] = 1.0,
    seed: RolloutSeed = 0,
    json: Json = False,
) -> None:
    """List the attempts to review, and where each review stands.

    Their patches pass their tests. With --share only those of a rollout's cases are listed (`review rollout`).
    """
    from misstep.harness.records.repair_attempt import in_share
    from misstep.harness.repair.review import reviews_of, state_of

    reviews = reviews_of(run)
    solved = [each for each in _attempts(run) if each.solved and in_share(each.case, share, seed)]
    states = [(each.id, state_of(each.id, reviews)) for each in solved]
    if json:
        print(json_text([{"attempt": name, "state": state} for name, state in states]))
    else:
        none = f"No attempt {'in this share' if share < 1 else 'of this run'} solves its case."
        print("\n".join(f"{state:<18} {name}" for name, state in states) or none)


@app.command()
def package(
    run: Run, attempt: Attempt, out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write.")]
) -> None:
    """Write a review package.

    It has the patch, the task, the checks' signals, and the agent's run as a page.
    """
    from misstep.harness.repair.review import add_review
    from misstep.harness.runs.repair_repository import case_of
    from misstep.studies.repair_report import PAGE, write_package

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
    from misstep.harness.runs.repair_repository import reject_patch

    _decide(run, attempt, "rejected", by, comment)
    reject_patch(run, _attempt(run, attempt), comment)


@app.command()
def land(
    run: Run,
    attempt: Attempt,
    repository: Annotated[Path, typer.Option(metavar="REPO", help="Git repository in which the patch has landed.")],
    revision: Annotated[str, typer.Option(help="Revision to test, such as main.")] = "HEAD",
    by: By = "",
    comment: Comment = "",
    python: Annotated[Path | None, typer.Option(metavar="VENV", help="Virtual environment of REPO.")] = None,
    sandbox: Annotated[str, typer.Option(help="Sandbox: auto, bubblewrap or sandlock.")] = "auto",
    show: Show = None,
) -> None:
    """Record that an accepted patch has landed.

    Its test must pass at the revision; then its task is closed.
    """
    from misstep.harness.repair.review import report_at
    from misstep.harness.runs.repair_repository import case_of, close_task
    from misstep.harness.workspace import find_sandbox

    record = _attempt(run, attempt)
    case = case_of(run, record.case)
    report = report_at(repository, revision, case.case, find_sandbox(sandbox).showing(show or ()), python)
    if not report.passed:
        say(f"misstep: the test does not pass at {revision} of {repository}, so nothing was recorded.")
        print(report.feedback())
        raise typer.Exit(1)
    _decide(run, attempt, "landed", by, comment)
    if closed := close_task(case.case):
        print(f"task {closed} is closed")


def _decide(run: Path, attempt: str, event: Literal["accepted", "rejected", "landed"], by: str, comment: str) -> None:
    from misstep.harness.repair.review import add_review

    added = add_review(run, _attempt(run, attempt), event, by or getpass.getuser(), comment)
    print(f"{added.event}: {added.attempt}")


def _attempts(run: Path) -> "Iterator[RepairAttempt]":
    from misstep.harness.journal.records import ATTEMPT_RECORDS
    from misstep.harness.runs.opened import open_of

    return open_of(run, "repair run").read(ATTEMPT_RECORDS)


def _attempt(run: Path, named: str) -> "RepairAttempt":
    attempts = [each for each in _attempts(run) if named in (each.id, each.case)]
    solved = [each for each in attempts if each.solved] or attempts
    if not solved:
        raise UsageError(f"no attempt {named!r} in {run}", "`misstep repair review list RUN` names them.")
    return solved[0]
