"""One run of a project's tests in the sandbox, before anything is repaired."""

from pathlib import Path

from msgspec import Struct

from misstep.harness.repair.failure_bot.repository import Repository
from misstep.harness.repair.failure_bot.reproduce import CommitRuns
from misstep.harness.workspace import Limits, find_sandbox, own_command, project_toolchain
from misstep.harness.workspace.suite_report import SuiteReport

_SECONDS = 120.0


class ProjectTrial(Struct, frozen=True):
    """What the sandbox showed of a project, and what its tests did at the last commit."""

    python: str
    shown: tuple[str, ...]
    works: bool
    report: SuiteReport


def try_project(folder: Path, command: str, python: Path | None) -> ProjectTrial:
    """Run the tests of the last commit once, with the project's own interpreter and packages."""
    toolchain = project_toolchain(folder, command, python)
    limits = Limits(seconds=_SECONDS)
    with (
        Repository(folder) as repository,
        CommitRuns(
            repository, own_command(command), sandbox=find_sandbox(), toolchain=toolchain, limits=limits
        ) as runs,
    ):
        report = runs.report(repository.head.id)
    shown = toolchain.checkout.shown if toolchain.checkout else ()
    return ProjectTrial(toolchain.python, shown, report.passed or bool(report.ran), report)
