"""The interval of one proportion, against reference values and against statsmodels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from misstep_analysis.stats.proportions import clopper_pearson, wilson


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_interval_holds_the_share_and_mirrors_with_it(yes: int, no: int) -> None:
    results, mirrored = wilson(yes, yes + no), wilson(no, yes + no)
    if yes + no == 0:
        assert results.reason
        return
    assert 0 <= results.low <= results.value <= results.high <= 1
    assert results.low == pytest.approx(1 - (mirrored.high or 0), abs=1e-12)


@given(st.data())
def test_the_exact_limits_are_where_the_binomial_tails_are_the_error(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 400))
    x = data.draw(st.integers(0, n))
    result = clopper_pearson(x, n)
    assert result.low == 0 if x == 0 else binom.sf(x - 1, n, result.low) == pytest.approx(0.025, rel=1e-6)
    assert result.high == 1 if x == n else binom.cdf(x, n, result.high) == pytest.approx(0.025, rel=1e-6)


@given(st.data())
def test_a_bound_on_one_side_is_the_limit_of_twice_the_error_on_both(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 200))
    x = data.draw(st.integers(0, n))
    both = clopper_pearson(x, n, 0.9)
    lower, upper = clopper_pearson(x, n, 0.95, "lower"), clopper_pearson(x, n, 0.95, "upper")
    assert (lower.low, lower.high) == (pytest.approx(both.low), 1.0)
    assert (upper.low, upper.high) == (0.0, pytest.approx(both.high))


def test_without_trials_everything_is_possible() -> None:
    result = clopper_pearson(0, 0)
    assert (result.value, result.low, result.high) == (None, 0.0, 1.0)
    assert result.reason


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
@pytest.mark.parametrize("arguments", [(1, 2, 1.5), (1, 2, 0.0), (3, 2), (-1, 2)])
def test_an_impossible_count_or_confidence_is_refused(interval, arguments) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="outside 0"):
        interval(*arguments)
