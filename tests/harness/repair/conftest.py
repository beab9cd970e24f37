"""The sandbox that repairs run in, and an oracle that is asked once."""

import pytest

from misstep_harness.repair import scoring
from tests.harness.workspace.conftest import sandbox as sandbox


@pytest.fixture
def oracle_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the tests of an oracle once and not three times, which `test_scoring.py` holds."""
    reports = scoring.oracle_reports
    monkeypatch.setattr(scoring, "oracle_reports", lambda workspace, case, *_, **__: reports(workspace, case, 1))
