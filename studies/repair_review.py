"""The package that a reviewer of a patch gets: the patch, the task, and the agent's run with what the checks say."""

import shlex
from pathlib import Path

from misstep.harness.errors import InputError, writing
from misstep.harness.journal.records import replace_file
from misstep.harness.journal.run_folder import make_folder
from misstep.harness.records.repair_attempt import RepairAttempt, signal_line
from misstep.harness.repair.case import CaseFolder
from misstep.studies.repair_report import attempt_html

PATCH, TASK, PAGE = "patch.diff", "task.md", "index.html"


def write_package(run: Path, attempt: RepairAttempt, case: CaseFolder, out: Path) -> None:
    """Write a review package into a folder."""
    if not attempt.patch:
        raise InputError(f"{attempt.id} has no patch", "Review a solved attempt.", file=run)
    make_folder(out)
    command = shlex.join(["misstep", "repair", "review", "package", str(run), attempt.id, "--out", str(out)])
    with writing(out):
        replace_file(out / PATCH, attempt.patch.encode("utf-8", "surrogateescape"))
        replace_file(out / TASK, _task(case, attempt).encode("utf-8", "surrogateescape"))
        replace_file(out / PAGE, attempt_html(run, attempt, command).encode())


def _task(case: CaseFolder, attempt: RepairAttempt) -> str:
    """Return the task and what the checks say, as Markdown."""
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
