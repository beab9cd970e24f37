"""Generated sessions for the tests of this folder."""

import pytest

from misstep.harness.generate.sessions import Case, generate_sessions


@pytest.fixture(scope="package")
def cases() -> list[Case]:
    return list(generate_sessions(2000, 31, study=True))


@pytest.fixture(scope="package")
def balanced() -> list[Case]:
    """The sessions that `misstep generate trajectories` writes if no study is asked for."""
    return list(generate_sessions(1500, 31))
