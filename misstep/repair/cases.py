"""The cases that `misstep repair run` is about, and what a run on a repository ends with."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct

from harness.errors import InputError, UsageError
from harness.escaping import printable

if TYPE_CHECKING:
    from harness.repair.case import CaseFolder
    from harness.repair_attempt import RepairAttempt
    from harness.runs.repair_repository import HeldBack
    from harness.workspace import Sandbox

TestCommand = Annotated[str, typer.Option(metavar="LINE", help="Shell line that runs the tests of a git repository.")]
Outcomes = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Earlier outcomes of its tests: CSV or SQLite file with test, commit and outcome."
    ),
]
TestSeconds = Annotated[
    float | None, typer.Option(min=1, metavar="S", help="Time limit per run of its tests, in seconds (120).")
]
Uncommitted = Annotated[
    bool, typer.Option("--uncommitted", help="Take its files as they stand, with changes that are not committed.")
]
_TEST_SECONDS = 120.0
_LINES_SHOWN = 60


class RepositoryOptions(Struct, frozen=True):
    """The options for a git repository, as they were given."""

    test_command: str = ""
    outcomes: Path | None = None
    test_seconds: float | None = None
    uncommitted: bool = False


class Named(Struct, frozen=True):
    """The cases of a run; of a git repository also what is held back, and whether the environment lacks something."""

    cases: "tuple[CaseFolder, ...]"
    repository: Path | None = None
    held_back: "tuple[HeldBack, ...]" = ()
    lacks_environment: bool = False


def named_cases(cases: Path, options: RepositoryOptions, out: Path, sandbox: "Sandbox") -> Named:
    """The repair cases in a folder, or those that the failing tests of a git repository become.

    Raises
    ------
    UsageError
        An option is for the other of the two.
    InputError
        There is no case, or one breaks the form; or the folder is no git repository.
    """
    from harness.repair.case import CASE, read_cases

    if not cases.is_dir():
        found = "is no folder" if cases.exists() else "no such folder"
        raise InputError(found, "Name a folder of repair cases, or a git repository.", file=cases)
    has_cases = (cases / CASE).exists() or any(cases.glob(f"*/{CASE}"))
    is_repository = (cases / ".git").exists() and not (cases / CASE).exists()
    if is_repository and not options.test_command:
        advice = "Give the line that runs its tests, as --test-command 'python -m pytest'."
        raise UsageError("a git repository without --test-command", advice)
    if not options.test_command:
        given = {"--outcomes": options.outcomes, "--test-seconds": options.test_seconds}
        given["--uncommitted"] = options.uncommitted or None
        if wrong := next((name for name, value in given.items() if value is not None), None):
            raise UsageError(f"{wrong} with repair cases", f"Give {wrong} with a git repository only.")
        return Named(tuple(read_cases(cases)))
    if has_cases and not is_repository:
        raise UsageError("--test-command with repair cases", "Give --test-command with a git repository, and only so.")
    return _of_repository(_checked(cases), options, out, sandbox)


def _checked(folder: Path) -> Path:
    """A folder that is a git repository; says where the one is that holds it, or how to make it one."""
    if (folder / ".git").exists() or (folder / "objects").is_dir():
        return folder
    above = next((each for each in folder.resolve().parents if (each / ".git").exists()), None)
    if above is not None:
        advice = f"Name {above}, with a --test-command that begins with `cd {folder.resolve().relative_to(above)} &&`."
        raise InputError(f"is a folder of the git repository {above}", advice, file=folder)
    advice = (
        "The change that broke a test is looked for in its commits: `git init`, `git add -A`, `git commit` make one."
    )
    raise InputError("is no git repository", advice, file=folder)


def _of_repository(folder: Path, options: RepositoryOptions, out: Path, sandbox: "Sandbox") -> Named:
    from harness.repair.failure_bot.flakiness import read_record
    from harness.runs.repair_repository import cases_of_repository

    record = read_record(options.outcomes) if options.outcomes is not None else []
    found = cases_of_repository(
        folder,
        options.test_command,
        out,
        sandbox,
        record,
        seconds=options.test_seconds or _TEST_SECONDS,
        uncommitted=options.uncommitted,
    )
    return Named(found.cases, folder, found.held_back, found.lacks_environment)


def ending(named: Named, out: Path) -> tuple[list[str], dict[str, Any]]:
    """What a run on a repository ends with, in lines and for scripts: each patch and its next command, or why not."""
    from harness.runs.repair import recorded_attempts

    if named.repository is None:
        return [], {}
    lines: list[str] = []
    patches: list[dict[str, str]] = []
    attempts = list(recorded_attempts(out))
    for case in named.cases:
        of_case = [each for each in attempts if each.case == case.case.id]
        solved = next((each for each in of_case if each.solved), None)
        tests = ", ".join(case.case.oracle) if all(case.case.oracle) else "the test command"
        if solved is None:
            lines += [f"{case.case.id} ({tests}) is not repaired: {_why(of_case[-1])}" for _ in of_case[:1]]
            continue
        file = (out / f"{case.case.id}.patch").resolve()
        file.write_bytes(solved.patch.encode("utf-8", "surrogateescape"))
        line = shlex.join(["git", "-C", str(named.repository), "apply", str(file)])
        patches.append({"case": case.case.id, "file": str(file), "apply": line})
        diff = printable(solved.patch).rstrip().splitlines()
        more = [f"… and {len(diff) - _LINES_SHOWN} more lines"] if len(diff) > _LINES_SHOWN else []
        lines += [f"{case.case.id} ({tests}) is repaired:", "", *diff[:_LINES_SHOWN], *more, "", f"Apply it: {line}"]
    lines += [f"Held back: {each.line}" for each in named.held_back]
    if not named.cases and not named.held_back:
        lines.append("No test fails at the head of the repository: there is nothing to repair.")
    held_back = [{"tests": each.tests, "rule": each.rule, "reason": each.reason} for each in named.held_back]
    return [printable(line) for line in lines], {"patches": patches, "held_back": held_back}


def _why(attempt: "RepairAttempt") -> str:
    """Why an attempt repaired nothing: what broke it, or what the agent said last."""
    if attempt.error:
        return attempt.error
    steps = attempt.trajectory.steps if attempt.trajectory is not None else ()
    last = next((step.text for step in reversed(steps) if step.role == "agent" and step.text), "")
    said = " ".join(last.split())
    failing = next((each.text for each in attempt.signals if each.validator == "oracle" and each.passed is False), "")
    why = "" if attempt.ended == "exit" else f"it ended by its limit of {attempt.ended}"
    return (
        "; ".join(filter(None, [why, said, " ".join(failing.split())[:200] if attempt.patch else ""])) or attempt.ended
    )
