"""The number of items that an interval of some width takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.decisions.power import items_for_width
from misstep.analysis.stats.estimate import Estimate


@given(st.integers(1, 10**5), st.floats(0.01, 1), st.floats(0.01, 1))
def test_half_the_width_takes_four_times_the_items(n: int, now: float, wish: float) -> None:
    estimate = Estimate(0, 0, now, n)
    whole, half = (items_for_width(estimate, width) for width in (wish, wish / 2))
    assert whole is not None
    assert half == pytest.approx(4 * whole, abs=4)
    assert (whole <= n) == (now <= wish) or now == pytest.approx(wish)


def test_an_interval_that_is_not_there_or_has_no_width_says_nothing() -> None:
    for estimate in (Estimate(None, n=5), Estimate(0.5, n=5), Estimate(1, 1, 1, 5), Estimate(0.5, 0.4, 0.6)):
        assert items_for_width(estimate, 0.1) is None
