"""The sandbox in which cases are run, and a small generated benchmark, made once for the tests that read it."""

from pathlib import Path

import pytest

from misstep_harness.triage.generate.cases import TriageOptions, write_triage_cases
from tests.conftest import MadeOnce
from tests.harness.workspace.conftest import sandbox as sandbox

OPTIONS = TriageOptions(8, 5, "development")


@pytest.fixture(scope="session")
def cases(made_once: MadeOnce) -> Path:
    """Eight cases of development families."""
    return made_once("triage-cases", lambda folder: write_triage_cases(folder, OPTIONS, workers=1))
