"""The small real model, which tests skip where it is not installed but never in CI, and a stub of it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from misstep_harness.clients.local_server import weights
from misstep_harness.errors import MissingPrerequisite
from tests.harness.clients.faulty_server import FaultyServer, Play, serving
from tests.misstep.as_a_user import in_a_thread


def model_is_here() -> bool:
    """Return whether the model of `make local-llm` is installed."""
    try:
        weights()
    except MissingPrerequisite:
        return False
    return True


@contextmanager
def stubbed_local_model(monkeypatch: pytest.MonkeyPatch, play: Play) -> Iterator[FaultyServer]:
    """Serve one answer to all requests where `--local` would start the small model, which is slow."""
    with in_a_thread(serving(choose=lambda _: play)) as server:

        @contextmanager
        def stub() -> Iterator[str]:
            yield server.base_url

        monkeypatch.setattr("misstep_harness.clients.local_server.local_server", stub)
        yield server
