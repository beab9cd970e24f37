"""Nothing that a sandboxed program tries gets it out, harms the machine, or leaves anything behind."""

import pytest

from benchmarks.escapes.attempts import ATTEMPTS
from benchmarks.escapes.trying import attempt
from tests.harness.workspace.conftest import sandbox_named


@pytest.mark.parametrize("name", ATTEMPTS)
@pytest.mark.parametrize("sandbox", ["bubblewrap", "sandlock"])
def test_no_attempt_succeeds_and_nothing_is_left(name: str, sandbox: str) -> None:
    assert attempt(name, sandbox_named(sandbox)).escaped == ()


@pytest.mark.parametrize("name", [name for name, one in ATTEMPTS.items() if one.unsandboxed])
def test_without_a_sandbox_the_attempt_succeeds_so_that_the_sandbox_is_what_stops_it(name: str) -> None:
    assert attempt(name, sandbox_named("unsandboxed")).escaped
