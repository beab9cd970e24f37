"""Whether arms are as large as they should be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc
from scipy.stats import binom

from misstep.analysis.stats.decisions.sequential import sample_ratio
from misstep.harness.errors import UsageError


@given(st.integers(1, 40), st.integers(0, 40))
def test_two_arms_are_tested_by_the_binomial_distribution_itself(n: int, first: int) -> None:
    first = min(first, n)
    chances = binom.pmf(range(n + 1), n, 0.5)
    exact = sum(chance for chance in chances if chance <= chances[first] * (1 + 1e-7))
    assert sample_ratio([first, n - first], [1, 1]).p_value == pytest.approx(min(1.0, exact))


def test_more_arms_are_tested_by_the_chi_squared_statistic_against_their_shares() -> None:
    found = sample_ratio([50, 30, 40], [2, 1, 1])
    statistic = (50 - 60) ** 2 / 60 + 0 + (40 - 30) ** 2 / 30
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(chdtrc(2, statistic))


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_order_of_the_arms_does_not_matter(one: int, other: int) -> None:
    found, turned = sample_ratio([one, other], [3, 7]), sample_ratio([other, one], [7, 3])
    assert found.p_value == pytest.approx(turned.p_value) if one + other else found.p_value is None


def test_shares_that_were_planned_unequal_are_no_mismatch() -> None:
    assert sample_ratio([900, 100], [9, 1]).p_value == pytest.approx(1)
    assert sample_ratio([900, 100], [1, 1]).p_value < 1e-100


def test_without_units_there_is_nothing_to_test() -> None:
    assert sample_ratio([0, 0], [1, 1]).reason


@pytest.mark.parametrize(("units", "shares"), [([5], [1]), ([5, 5], [1]), ([5, 5], [1, 0]), ([5, -1], [1, 1])])
def test_arms_that_cannot_be_are_refused(units: list[int], shares: list[float]) -> None:
    with pytest.raises(UsageError):
        sample_ratio(units, shares)
