"""Small cases recorded as passed, and what may be used of them."""

from collections.abc import Mapping
from pathlib import Path

from misstep_harness.trajectory import Step
from misstep_harness.triage.replica import ReplicasOfCase
from misstep_harness.triage.texts import FilesOfCase, TextsOfCase
from misstep_harness.workspace import Sandbox
from tests.harness.triage.made_up_cases import a_run, triage_case

OTHERWISE_RIGHT = (
    "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n"
)


def passed(
    folder: Path, sandbox: Sandbox, files: Mapping[str, str] | None = None, *steps: Step, description: str = ""
) -> ReplicasOfCase:
    case = triage_case(folder, {"workspace/price.py": OTHERWISE_RIGHT, **(files or {})}, description)
    return ReplicasOfCase(case, sandbox, a_run(*steps))


def read_only(folder: Path, files: Mapping[str, str] | None = None, *steps: Step) -> FilesOfCase:
    case = triage_case(folder, {"workspace/price.py": OTHERWISE_RIGHT, **(files or {})})
    return FilesOfCase(case, a_run(*steps))


def texts(folder: Path, files: Mapping[str, str] | None = None, *steps: Step) -> TextsOfCase:
    return TextsOfCase(triage_case(folder, files), a_run(*steps))
