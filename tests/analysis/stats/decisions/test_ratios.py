"""Ratios of sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.clusters.clustered import linearised_variance
from misstep.analysis.stats.decisions.ratios import ratio_of_sums
from misstep.harness.errors import UsageError

CALLS, FAILED = np.array([10, 8, 12, 5, 20]), np.array([3, 1, 6, 0, 2])


def test_a_ratio_of_counts_has_the_error_of_a_clustered_share() -> None:
    found = ratio_of_sums(FAILED, CALLS)
    n = len(CALLS)
    error = np.sqrt(linearised_variance(FAILED, CALLS) * n / (n - 1))
    assert found.value == pytest.approx(FAILED.sum() / CALLS.sum())
    assert found.high - found.value == pytest.approx(error * 2.7764451051977934)  # Student's t with 4 degrees


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=10))
def test_with_denominators_of_one_it_is_a_mean(values: list[float]) -> None:
    found = ratio_of_sums(values, np.ones(len(values)))
    assert found.value == pytest.approx(np.mean(values), abs=1e-9)
    if found.low is not None:
        error = np.std(values, ddof=1) / len(values) ** 0.5
        assert (found.high - found.low) == pytest.approx(2 * error * _quantile(len(values) - 1), abs=1e-9)


def _quantile(degrees: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, degrees))


def test_units_in_which_the_denominator_is_zero_still_count() -> None:
    assert ratio_of_sums([1, 0, 2], [4, 0, 3]).n == 3


@pytest.mark.parametrize(
    ("numerators", "denominators", "said"), [([0, 0], [0, 0], "0/0"), ([1], [2], "one unit"), ([1, 2], [2, 4], "same")]
)
def test_a_ratio_without_an_interval_says_why(numerators: list[int], denominators: list[int], said: str) -> None:
    found = ratio_of_sums(numerators, denominators)
    assert found.low is None
    assert said in found.reason


@pytest.mark.parametrize(
    ("numerators", "denominators"), [([], []), ([1, 2], [1]), ([1, float("nan")], [1, 1]), ([1, 1], [1, -1])]
)
def test_units_that_cannot_be_are_refused(numerators: list[float], denominators: list[float]) -> None:
    with pytest.raises(UsageError):
        ratio_of_sums(numerators, denominators)


def test_units_of_one_price_have_no_interval_of_rounding_errors() -> None:
    found = [ratio_of_sums([price] * n, [1] * n) for price in (0.001, 0.1, 0.7) for n in range(2, 40)]
    assert all(one.low is None and "same ratio" in one.reason for one in found)
