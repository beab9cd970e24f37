"""The cases that `misstep repair run` is about."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from misstep.options.groups import OptionGroup
from misstep_harness.errors import InputError, UsageError
from misstep_harness.escaping import plain
from misstep_harness.progress import say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from misstep_harness.repair.case import CaseFolder, RepairCase
    from misstep_harness.repair.runs.repository import HeldBack
    from misstep_harness.workspace import Sandbox

_TEST_SECONDS = 120.0


class RepositoryOptions(OptionGroup, frozen=True):
    """The options for a git repository."""

    panel = "Repository"
    test_command: Annotated[
        str, typer.Option(metavar="LINE", help="Shell line that runs the tests of a git repository.")
    ] = ""
    test_seconds: Annotated[
        float | None, typer.Option(min=1, metavar="S", help="Time limit per run of its tests, in seconds (120).")
    ] = None
    python: Annotated[
        Path | None,
        typer.Option(metavar="VENV", help="Its virtual environment or interpreter (.venv, venv or the active one)."),
    ] = None
    uncommitted: Annotated[
        bool, typer.Option("--uncommitted", help="Take its files as they stand, with changes that are not committed.")
    ] = False
    tasks: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of its tasks, one for all runs (REPO.tasks.sqlite beside it)."),
    ] = None


def no_objection(_case: "RepairCase") -> str:
    """Return that nothing speaks against repairing a case."""
    return ""


def nothing_more(_case: "RepairCase", _patch: str) -> None:
    """Do nothing with a patch that solves its case."""


class Named(Struct, frozen=True):
    """Cases of a run; of a git repository also what is held back, and whether the environment lacks something.

    `objections` names what speaks against repairing a case at the moment at which its agent would start; `solved` is
    given each patch that solves a case.
    """

    cases: "tuple[CaseFolder, ...]"
    repository: Path | None = None
    held_back: "tuple[HeldBack, ...]" = ()
    lacks_environment: bool = False
    objections: "Callable[[RepairCase], str]" = no_objection
    solved: "Callable[[RepairCase, str], object]" = nothing_more


def named_cases(cases: Path, options: RepositoryOptions, out: Path, sandbox: "Sandbox") -> Named:
    """Return the repair cases in a folder, or those that the failing tests of a git repository become."""
    from misstep_harness.repair.case import CASE, read_cases

    if not cases.is_dir():
        problem = "is not a folder" if cases.exists() else "no such folder"
        raise InputError(problem, "Name a folder of repair cases, or a git repository.", file=cases)
    has_cases = (cases / CASE).exists() or any(cases.glob(f"*/{CASE}"))
    is_repository = (cases / ".git").exists() and not (cases / CASE).exists()
    if is_repository and not options.test_command:
        advice = "Give the line that runs its tests, as --test-command 'python -m pytest'."
        raise UsageError("a git repository without --test-command", advice)
    if not options.test_command:
        about = {"--python": options.python, "--test-seconds": options.test_seconds}
        about |= {"--uncommitted": options.uncommitted or None, "--tasks": options.tasks}
        if wrong := next((name for name, value in about.items() if value is not None), None):
            raise UsageError(f"{wrong} with repair cases", f"Give {wrong} with a git repository only.")
        found = tuple(read_cases(cases))
        _say_projects(found, sandbox)
        return Named(found)
    if has_cases and not is_repository:
        raise UsageError("--test-command with repair cases", "Give --test-command with a git repository, and only so.")
    return _about(_checked(cases), options, out, sandbox)


def _say_projects(cases: "Sequence[CaseFolder]", sandbox: "Sandbox") -> None:
    """Say which projects the cases name whose environments are not shown: the user alone can have them shown."""
    from misstep_harness.workspace.showing import Showing

    named = dict.fromkeys(str(each.case.extra["checkout"]) for each in cases if "checkout" in each.case.extra)
    for project in named:
        if not Showing(show=sandbox.show).names(Path(project)):
            say(f"misstep: The cases name the project {plain(project)}. Its environment is shown with --show DIR only.")


def _checked(folder: Path) -> Path:
    """Return a folder that is a git repository; the error names the one that holds it, or how to make it one."""
    if (folder / ".git").exists() or (folder / "objects").is_dir():
        return folder
    above = next((each for each in folder.resolve().parents if (each / ".git").exists()), None)
    if above is not None:
        advice = f"Name {above}, with a --test-command that begins with `cd {folder.resolve().relative_to(above)} &&`."
        raise InputError(f"is a folder of the git repository {above}", advice, file=folder)
    advice = (
        "The change that broke a test is looked for in its commits: `git init`, `git add -A`, `git commit` make one."
    )
    raise InputError("is not a git repository", advice, file=folder)


def _about(folder: Path, options: RepositoryOptions, out: Path, sandbox: "Sandbox") -> Named:
    from misstep_harness.repair.runs import repository

    seconds = options.test_seconds or _TEST_SECONDS
    tests = repository.RepositoryTests(
        options.test_command, seconds, options.uncommitted, options.python, options.tasks
    )
    collected = repository.cases_of_repository(folder, tests, out, sandbox)
    asked_anew = partial(repository.objections_now, sandbox=sandbox, uncommitted=options.uncommitted)
    attach, held_back = repository.attach_patch, collected.held_back
    return Named(collected.cases, folder, held_back, collected.lacks_environment, asked_anew, attach)


def told_cases(
    cases: "Sequence[CaseFolder]", instructions: str | None, run: Path | None
) -> "tuple[Sequence[CaseFolder], str]":
    """Return the cases with the instructions of a run, and their author; cases without any are named on stderr."""
    if run is None:
        return cases, ""
    from misstep_harness.repair.runs.instructions import read_instructions, with_instructions

    if instructions is None:
        raise UsageError("--instructions-from without a kind", "Name it: --instructions high-level or detailed.")
    texts = read_instructions(run)
    with_texts, without = with_instructions(cases, texts, instructions)
    if not with_texts:
        raise UsageError(f"no case has {instructions} instructions in {run}", "Name the run of these cases.")
    for case, why in without.items():
        say(f"misstep: {plain(case)} is left out, as it has no {instructions} instructions: {plain(why)}")
    return with_texts, texts.by
