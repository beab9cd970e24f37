"""Two arms compared by ratios of sums."""

from math import expm1, inf, log1p

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm, permutation_test, ttest_ind
from scipy.stats import t as student

from misstep_analysis.stats.clusters.clustered import clustered_difference, linearised_variance, small_sample
from misstep_analysis.stats.decisions.relative_change import (
    NO_CONTROL,
    NO_SPREAD,
    ONE_UNIT,
    UNBOUNDED,
    compare_ratios,
    compare_skewed,
    implied_change,
    ratio_of_sums,
)

UNITS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=2, max_size=12)
SHARES = st.lists(st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2)


def means(values: list[float]) -> list[tuple[float, float]]:
    return [(value, 1.0) for value in values]


@given(SHARES, SHARES)
def test_a_rate_of_counts_is_compared_as_a_clustered_share(first: list, second: list) -> None:
    results, expected = compare_ratios(first, second), clustered_difference(first, second)
    if expected.small_sample_test.p_value is None:
        assert results.test.p_value is None
        return
    assert results.test.statistic == pytest.approx(expected.small_sample_test.statistic)
    assert results.test.p_value == pytest.approx(expected.small_sample_test.p_value)


@given(st.lists(st.floats(0, 50), min_size=2, max_size=9), st.lists(st.floats(0, 50), min_size=2, max_size=9))
def test_with_one_session_a_unit_it_is_welchs_test(first: list[float], second: list[float]) -> None:
    assume(np.std(first) > 1e-3 and np.std(second) > 1e-3)
    results, expected = compare_ratios(means(first), means(second)), ttest_ind(first, second, equal_var=False)
    assert results.test.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert (results.difference.low, results.difference.high) == pytest.approx((interval.low, interval.high), abs=1e-8)


@given(UNITS, UNITS)
def test_the_interval_of_the_relative_change_holds_zero_exactly_where_the_test_does_not_reject(first, second) -> None:
    result = compare_ratios(first, second)
    assume(result.relative.low is not None and abs(result.test.p_value - 0.05) > 1e-6)
    assert (result.relative.low <= 0 <= result.relative.high) == (result.test.p_value > 0.05)


def test_the_ends_of_fiellers_interval_are_the_ratios_that_are_just_not_rejected() -> None:
    treatment, control = [3.0, 9.0, 4.0, 7.0, 5.0], [8.0, 12.0, 7.0, 11.0, 9.0, 10.0]
    result = compare_ratios(means(treatment), means(control))
    m1, v1 = np.mean(treatment), np.var(treatment, ddof=1) / 5
    m2, v2 = np.mean(control), np.var(control, ddof=1) / 6
    degrees = (v1 + v2) ** 2 / (v1**2 / 4 + v2**2 / 5)
    quantile = student.ppf(0.975, degrees)

    def beyond(ratio: float) -> float:
        return float(abs(m1 - ratio * m2) - quantile * np.sqrt(v1 + ratio**2 * v2))

    middle = m1 / m2
    assert result.relative.value == pytest.approx(middle - 1)
    assert result.relative.low == pytest.approx(brentq(beyond, 0.0, middle) - 1)
    assert result.relative.high == pytest.approx(brentq(beyond, middle, 3.0) - 1)


@pytest.mark.parametrize(
    ("first", "second", "relative", "text"),
    [
        ([(1, 2), (2, 2)], [(0, 3), (0, 4)], None, NO_CONTROL),
        ([(1, 2)], [(1, 3), (2, 3)], 0.0, ONE_UNIT),
        ([(2, 4), (1, 2)], [(1, 4), (2, 8)], 1.0, NO_SPREAD),
        ([(5, 1), (6, 1)], [(0, 1), (1, 1)], 10.0, UNBOUNDED),
    ],
)
def test_a_change_without_an_interval_says_why(first: list, second: list, relative: float | None, text: str) -> None:
    result = compare_ratios(first, second).relative
    assert result.value == (None if relative is None else pytest.approx(relative))
    assert result.low is None
    assert result.reason == text


def test_arms_without_calls_are_no_comparison() -> None:
    result = compare_ratios([(0, 0), (0, 0)], [(1, 3), (2, 3)])
    assert (result.difference.value, result.relative.value, result.test.p_value) == (None, None, None)
    assert "0/0" in result.difference.reason


def skewed(seed: int, sizes: tuple[int, int], change: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    arms = [np.column_stack([rng.lognormal(0, 1.2, size), np.ones(size)]) for size in sizes]
    arms[0][:, 0] *= 1 + change
    return arms[0], arms[1]


def test_the_permutation_test_agrees_with_that_of_scipy() -> None:
    first, second = skewed(1, (60, 45), -0.3)
    result = compare_skewed(first, second, np.random.default_rng(0), draws=10_000)
    permuted = permutation_test(
        (first[:, 0], second[:, 0]),
        lambda x, y, axis: np.abs(ttest_ind(x, y, axis=axis, equal_var=False).statistic),
        vectorized=True,
        alternative="greater",
        n_resamples=4_000,
        rng=np.random.default_rng(6),
    )
    assert result.test.p_value == pytest.approx(permuted.pvalue, abs=0.02)
    assert result.relative == compare_ratios(first, second).relative


def test_the_same_seed_gives_the_same_figures() -> None:
    arms = skewed(2, (30, 30))
    one, other = (compare_skewed(*arms, np.random.default_rng(3), draws=200) for _ in range(2))
    assert one == other


def test_skewed_arms_that_do_not_differ_are_rejected_about_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(0)
    p_values = [compare_skewed(*skewed(seed, (20, 40)), rng, draws=199).test.p_value for seed in range(300)]
    assert (np.array(p_values) <= 0.05).mean() == pytest.approx(0.05, abs=0.035)


@given(UNITS, UNITS)
def test_what_the_delta_method_cannot_say_is_not_drawn_either(first: list, second: list) -> None:
    plain = compare_ratios(first, second)
    drawn = compare_skewed(first, second, np.random.default_rng(0), draws=50)
    assert drawn.difference.value == plain.difference.value
    assert (drawn.test.p_value is None) == (plain.test.p_value is None)
    assert drawn.test.p_value is None or 0 < drawn.test.p_value <= 1


@given(st.floats(-0.9, 3).filter(lambda change: abs(change) > 1e-3), st.floats(0.001, 1))
def test_the_interval_behind_a_p_value_comes_back(change: float, error: float) -> None:
    log_ratio = log1p(change)
    p_value = float(2 * norm.sf(abs(log_ratio) / error))
    if not 1e-200 < p_value < 1:
        return
    result = implied_change(change, p_value)
    for end, side in ((result.low, -1), (result.high, 1)):
        assert end == pytest.approx(expm1(log_ratio + side * norm.ppf(0.975) * error), rel=1e-6)


def test_a_p_value_near_one_leaves_the_change_wide_open() -> None:
    assert implied_change(-0.5, 0.999).high == inf


def test_no_change_implies_nothing_and_says_so() -> None:
    assert implied_change(0, 0.3).reason
    assert implied_change(0.2, 1).low is None


CALLS, FAILED = np.array([10, 8, 12, 5, 20]), np.array([3, 1, 6, 0, 2])


def test_a_ratio_of_counts_has_the_error_of_a_clustered_share() -> None:
    result = ratio_of_sums(FAILED, CALLS)
    factor, degrees = small_sample(CALLS)
    error = np.sqrt(linearised_variance(FAILED, CALLS) * factor)
    assert result.value == pytest.approx(FAILED.sum() / CALLS.sum())
    assert degrees < len(CALLS) - 1  # as engineers with many calls count for more
    assert result.high - result.value == pytest.approx(error * student(degrees).ppf(0.975))


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=10))
def test_with_denominators_of_one_it_is_a_mean(values: list[float]) -> None:
    result = ratio_of_sums(values, np.ones(len(values)))
    assert result.value == pytest.approx(np.mean(values), abs=1e-9)
    if result.low is not None:
        error = np.std(values, ddof=1) / len(values) ** 0.5
        assert (result.high - result.low) == pytest.approx(2 * error * _quantile(len(values) - 1), abs=1e-9)


def _quantile(degrees: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, degrees))


def test_units_in_which_the_denominator_is_zero_still_count() -> None:
    assert ratio_of_sums([1, 0, 2], [4, 0, 3]).n == 3


@pytest.mark.parametrize(
    ("numerators", "denominators", "text"), [([0, 0], [0, 0], "0/0"), ([1], [2], "one unit"), ([1, 2], [2, 4], "same")]
)
def test_a_ratio_without_an_interval_says_why(numerators: list[int], denominators: list[int], text: str) -> None:
    result = ratio_of_sums(numerators, denominators)
    assert result.low is None
    assert text in result.reason


def test_units_of_one_price_have_no_interval_of_rounding_errors() -> None:
    results = [ratio_of_sums([price] * n, [1] * n) for price in (0.001, 0.1, 0.7) for n in range(2, 40)]
    assert all(one.low is None and "same ratio" in one.reason for one in results)
