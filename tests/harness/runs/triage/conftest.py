"""A small generated benchmark, made once for the tests that read it."""

from pathlib import Path

import pytest

from misstep.harness.runs.triage.generate import TriageOptions, write_triage_cases

OPTIONS = TriageOptions(8, 5, "development")


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight cases of development families."""
    out = tmp_path_factory.mktemp("triage") / "cases"
    write_triage_cases(out, OPTIONS, workers=1)
    return out
