"""The sandbox of this machine, in which the scripts of workers run."""

import pytest

from misstep.harness.workspace import Sandbox
from tests.harness.workspace.conftest import sandbox_named


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return sandbox_named("auto")
