"""Intervals that printed p-values imply."""

from math import expm1, inf, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from misstep.analysis.stats.decisions.relative_change import implied_change
from misstep.harness.errors import UsageError


@given(st.floats(-0.9, 3).filter(lambda change: abs(change) > 1e-3), st.floats(0.001, 1))
def test_the_interval_behind_a_p_value_comes_back(change: float, error: float) -> None:
    log_ratio = log1p(change)
    p_value = float(2 * norm.sf(abs(log_ratio) / error))
    if not 1e-200 < p_value < 1:
        return
    found = implied_change(change, p_value)
    assert found.log_error == pytest.approx(error, rel=1e-6)
    for end, side in ((found.estimate.low, -1), (found.estimate.high, 1)):
        assert end == pytest.approx(expm1(log_ratio + side * norm.ppf(0.975) * error), rel=1e-6)


def test_a_p_value_near_one_leaves_the_change_wide_open() -> None:
    assert implied_change(-0.5, 0.999).estimate.high == inf


def test_no_change_implies_nothing_and_says_so() -> None:
    assert implied_change(0, 0.3).estimate.reason
    assert implied_change(0.2, 1).log_error is None


@pytest.mark.parametrize(("change", "p_value"), [(-1, 0.1), (0.1, 0), (0.1, 1.1), (float("nan"), 0.1)])
def test_what_cannot_be_printed_is_refused(change: float, p_value: float) -> None:
    with pytest.raises(UsageError):
        implied_change(change, p_value)
