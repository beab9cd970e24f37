"""Sample size."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats.decisions.power import (
    design_effect,
    items_for_width,
    smallest_change,
    tolerated_design_effect,
    tolerated_icc,
    units_an_arm,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import normal_p_value


@pytest.mark.parametrize(("variation", "change"), [(0.5, -0.1), (2.0, -0.042), (1.0, 0.2)])
def test_the_smallest_change_of_arms_of_the_planned_size_is_the_planned_one(variation: float, change: float) -> None:
    n = units_an_arm(variation, change, design_effect=2)
    # The increase that is as far from 1 as a decrease, as a factor.
    decrease = change if change < 0 else 1 / (1 + change) - 1
    result = smallest_change((variation, variation), (round(n), round(n)), design_effect=2)
    assert result == pytest.approx(decrease, rel=1e-3)


@given(st.integers(1, 10**5), st.floats(0.01, 1), st.floats(0.01, 1))
def test_half_the_width_takes_four_times_the_items(n: int, now: float, wish: float) -> None:
    estimate = Estimate(0, 0, now, n)
    whole, half = (items_for_width(estimate, width) for width in (wish, wish / 2))
    assert half == pytest.approx(4 * whole, abs=4)
    assert (whole <= n) == (now <= wish) or now == pytest.approx(wish)


def test_an_interval_that_is_not_there_or_has_no_width_says_nothing() -> None:
    for estimate in (Estimate(None, n=5), Estimate(0.5, n=5), Estimate(1, 1, 1, 5), Estimate(0.5, 0.4, 0.6)):
        assert items_for_width(estimate, 0.1) is None


@given(st.floats(2, 30), st.floats(0.001, 0.2), st.floats(1.5, 50))
def test_at_the_tolerated_correlation_the_p_value_is_the_level(z: float, alpha: float, size: float) -> None:
    icc = tolerated_icc(z, alpha, size)
    if design_effect(size, icc) > 1e-9:
        assert normal_p_value(z / sqrt(design_effect(size, icc))) == pytest.approx(alpha)


def test_an_insignificant_finding_tolerates_a_design_effect_below_one() -> None:
    assert tolerated_design_effect(1.0, 0.05) < 1
