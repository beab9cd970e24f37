"""Intervals and p-values that hold at every look."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import chdtrc
from scipy.stats import binom, norm

from misstep_analysis.stats.decisions.sequential import always_valid, sample_ratio

DIFFERENCES, ERRORS = st.floats(-3, 3), st.floats(0.05, 5)
MIXTURE = -2 * np.log(0.05) + np.log(1 - 2 * np.log(0.05))


@pytest.mark.parametrize(("difference", "se"), [(-2, 0.2), (0, 1), (0.4, 0.3), (1.5, 2), (2, 0.5)])
def test_the_p_value_is_the_inverse_of_the_likelihood_ratio_mixed_over_effects(difference: float, se: float) -> None:
    spread = np.sqrt(MIXTURE)

    def density(effect: float) -> float:
        return float(norm.pdf(difference, effect, se) * norm.pdf(effect, 0, spread))

    mixed, _ = quad(density, -8 * spread, 8 * spread, points=[difference], limit=200)
    ratio = mixed / norm.pdf(difference, 0, se)
    assert always_valid(difference, se, 1.0).test.p_value == pytest.approx(min(1.0, 1 / ratio), rel=1e-5)


@given(DIFFERENCES, ERRORS, ERRORS)
def test_the_interval_holds_zero_exactly_where_p_is_above_the_level(difference, se, planned) -> None:
    result = always_valid(difference, se, planned)
    held = result.difference.low <= 0 <= result.difference.high
    assert held == (result.test.p_value >= 0.05) or result.test.p_value == pytest.approx(0.05)


@given(DIFFERENCES, ERRORS, ERRORS)
def test_it_is_wider_than_the_interval_of_a_single_look(difference: float, se: float, planned: float) -> None:
    result = always_valid(difference, se, planned).difference
    assert result.high - result.low > 2 * norm.ppf(0.975) * se


def test_a_difference_far_from_zero_has_a_p_value_of_nothing_and_no_overflow() -> None:
    assert always_valid(1e6, 0.1, 0.1).test.p_value == 0


@given(st.integers(1, 40), st.integers(0, 40))
def test_two_arms_are_tested_by_the_binomial_distribution_itself(n: int, first: int) -> None:
    first = min(first, n)
    chances = binom.pmf(range(n + 1), n, 0.5)
    exact = sum(chance for chance in chances if chance <= chances[first] * (1 + 1e-7))
    assert sample_ratio([first, n - first], [1, 1]).p_value == pytest.approx(min(1.0, exact))


def test_more_arms_are_tested_by_the_chi_squared_statistic_against_their_shares() -> None:
    result = sample_ratio([50, 30, 40], [2, 1, 1])
    statistic = (50 - 60) ** 2 / 60 + 0 + (40 - 30) ** 2 / 30
    assert result.statistic == pytest.approx(statistic)
    assert result.p_value == pytest.approx(chdtrc(2, statistic))


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_order_of_the_arms_does_not_matter(one: int, other: int) -> None:
    results, turned = sample_ratio([one, other], [3, 7]), sample_ratio([other, one], [7, 3])
    assert results.p_value == pytest.approx(turned.p_value) if one + other else results.p_value is None


def test_shares_that_were_planned_unequal_are_no_mismatch() -> None:
    assert sample_ratio([900, 100], [9, 1]).p_value == pytest.approx(1)
    assert sample_ratio([900, 100], [1, 1]).p_value < 1e-100


def test_without_units_there_is_nothing_to_test() -> None:
    assert sample_ratio([0, 0], [1, 1]).reason
