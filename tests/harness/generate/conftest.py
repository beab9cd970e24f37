"""Generated sessions for the tests of this folder, made once for all processes of the tests."""

import pickle
from collections.abc import Callable, Iterable

import pytest

from misstep_harness.generate.sessions import Case, generate_sessions
from tests.conftest import MadeOnce


@pytest.fixture(scope="package")
def cases(made_once: MadeOnce) -> list[Case]:
    return _made_once(made_once, "study-sessions", lambda: generate_sessions(2000, 31, study=True))


@pytest.fixture(scope="package")
def balanced(made_once: MadeOnce) -> list[Case]:
    """The sessions that `misstep generate trajectories` writes if no study is asked for."""
    return _made_once(made_once, "balanced-sessions", lambda: generate_sessions(1500, 31))


def _made_once(made_once: MadeOnce, name: str, make: Callable[[], Iterable[Case]]) -> list[Case]:
    file = made_once(name, lambda target: target.write_bytes(pickle.dumps(list(make()))))
    cases: list[Case] = pickle.loads(file.read_bytes())  # noqa: S301 (written above)
    return cases
