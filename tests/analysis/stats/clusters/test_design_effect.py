"""How much clustering costs."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.decisions.power import design_effect, tolerated_design_effect, tolerated_icc
from misstep.analysis.stats.significance import normal_p_value
from misstep.harness.errors import UsageError


@given(st.floats(2, 30), st.floats(0.001, 0.2), st.floats(1.5, 50))
def test_at_the_tolerated_correlation_the_p_value_is_the_level(z: float, alpha: float, size: float) -> None:
    icc = tolerated_icc(z, alpha, size)
    if design_effect(size, icc) > 1e-9:
        assert normal_p_value(z / sqrt(design_effect(size, icc))) == pytest.approx(alpha)


def test_an_insignificant_finding_tolerates_a_design_effect_below_one() -> None:
    assert tolerated_design_effect(1.0, 0.05) < 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: design_effect(0.5, 0.1),
        lambda: tolerated_icc(3.0, 0.05, 1),
        lambda: tolerated_design_effect(3.0, 0),
    ],
)
def test_what_cannot_be_is_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        call()
