"""The small real model: tests that ask it skip where it is not installed, but never in CI."""

import os

import pytest

from misstep.harness.clients.local_server import weights
from misstep.harness.errors import MissingPrerequisite


def local_model_or_skip() -> None:
    """Skip the test if there is no local model; fail it in CI."""
    try:
        weights()
    except MissingPrerequisite as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must ask the local model: {error}")
        pytest.skip(str(error))
