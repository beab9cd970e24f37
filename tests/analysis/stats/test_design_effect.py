"""How much clustering and weights cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.design_effect import (
    adjusted_z,
    design_effect,
    kish_effective_size,
    tolerated_design_effect,
    tolerated_icc,
)
from analysis.stats.significance import normal_p_value
from harness.errors import UsageError


@given(st.floats(2, 30), st.floats(0.001, 0.2), st.floats(1.5, 50))
def test_at_the_tolerated_correlation_the_p_value_is_the_level(z: float, alpha: float, size: float) -> None:
    icc = tolerated_icc(z, alpha, size)
    if design_effect(size, icc) > 1e-9:
        assert normal_p_value(adjusted_z(z, icc, size)) == pytest.approx(alpha)


def test_an_insignificant_finding_tolerates_a_design_effect_below_one() -> None:
    assert tolerated_design_effect(1.0, 0.05) < 1


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20).filter(any))
def test_the_effective_size_is_between_one_and_the_number_of_weighted_items(weights: list[float]) -> None:
    scaled = [weight / max(weights) for weight in weights]
    found = kish_effective_size(scaled)
    assert 1 - 1e-9 <= found.n <= sum(weight > 0 for weight in scaled) + 1e-9
    assert found.design_effect >= 1 - 1e-9


@pytest.mark.parametrize(
    "call",
    [
        lambda: design_effect(0.5, 0.1),
        lambda: tolerated_icc(3.0, 0.05, 1),
        lambda: tolerated_design_effect(3.0, 0),
        lambda: adjusted_z(3.0, -0.5, 3),
        lambda: kish_effective_size([1, -1]),
        lambda: kish_effective_size([1, float("nan")]),
        lambda: kish_effective_size([]),
    ],
)
def test_what_cannot_be_is_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        call()
