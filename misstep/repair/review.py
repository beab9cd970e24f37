"""`misstep repair review`: packages for reviewers, and what they decided."""

import getpass
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from misstep.options.common import command_app
from misstep_harness.errors import InputError, UsageError, writing

if TYPE_CHECKING:
    from misstep_harness.repair.case import CaseFolder
    from misstep_harness.repair.records import RepairAttempt

_PATCH, _TASK, _PAGE = "patch.diff", "task.md", "index.html"

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
    from misstep_harness.repair.runs.patches import add_review
    from misstep_harness.repair.runs.repository import case_of

    record = _attempt(run, attempt)
    write_package(run, record, case_of(run, record.case), out)
    add_review(run, record, "published", "misstep")
    print(out / _PAGE)


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


def write_package(run: Path, attempt: "RepairAttempt", case: "CaseFolder", out: Path) -> None:
    """Write a review package into a folder."""
    from misstep_analysis.repair.recorded_runs import open_repair_run
    from misstep_analysis.repair.report import attempt_html
    from misstep_harness.journal.records import replace_file
    from misstep_harness.journal.run_folder import make_folder

    if not attempt.patch:
        raise InputError(f"{attempt.id} has no patch", "Review a solved attempt.", file=run)
    make_folder(out)
    command = shlex.join(["misstep", "repair", "review", "package", str(run), attempt.id, "--out", str(out)])
    with writing(out):
        replace_file(out / _PATCH, attempt.patch.encode("utf-8", "surrogateescape"))
        replace_file(out / _TASK, _task(case, attempt).encode("utf-8", "surrogateescape"))
        replace_file(out / _PAGE, attempt_html(open_repair_run(run), attempt, command).encode())


def _task(case: "CaseFolder", attempt: "RepairAttempt") -> str:
    from misstep_harness.repair.records import signal_line

    lines = [f"# {case.case.id}", "", _fenced(case.case.task), "", "Tests: " + ", ".join(case.case.oracle), ""]
    lines += [f"- {signal_line(signal)}" for signal in attempt.signals]
    for number, diff in case.case.diffs.items():
        lines += ["", f"The change {number} that broke it:", "", _fenced(diff, "diff")]
    return "\n".join(lines) + "\n"


def _fenced(text: str, language: str = "") -> str:
    """Return a text in a fence that it cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
