"""Sessions of a generated study for the tests of this folder."""

import pytest

from misstep.harness.generate.study.sessions import StudyCase, generate_study


@pytest.fixture(scope="package")
def cases() -> list[StudyCase]:
    """The first 2,000 sessions of a seed: three seconds."""
    return list(generate_study(2000, 31))
