"""Sandboxes for the tests: a machine without any skips them and says what to install; in CI that is a failure."""

import os

import pytest

from misstep_harness.errors import SandboxMissing
from misstep_harness.workspace import Sandbox, find_sandbox


def sandbox_named(name: str) -> Sandbox:
    try:
        return find_sandbox(name)
    except SandboxMissing as error:
        if os.environ.get("CI") and "the kernel's Landlock" not in str(error):
            pytest.fail(f"CI must run commands sandboxed: {error}")
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return sandbox_named("auto")


@pytest.fixture(scope="session", params=["bubblewrap", "sandlock", "unsandboxed"])
def each_sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return sandbox_named(request.param)
