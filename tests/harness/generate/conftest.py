"""Generated sessions for the tests of this folder."""

import pytest

from misstep.harness.generate.trajectories import VARIANTS, Case, generate_trajectories

ROUNDS = 4


@pytest.fixture(scope="package")
def by_variant() -> dict[str, list[Case]]:
    """Four cases of every variant."""
    cases: dict[str, list[Case]] = {}
    for case in generate_trajectories(ROUNDS * len(VARIANTS), 23):
        cases.setdefault(case.variant, []).append(case)
    return cases
