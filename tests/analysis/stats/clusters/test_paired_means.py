"""Two means of the same items differ by what the paired t test says of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from misstep.analysis.stats.clusters.paired_means import paired_means, sign_flip_test


def test_the_interval_is_that_of_the_paired_t_test_on_the_items_themselves() -> None:
    rng = np.random.default_rng(0)
    first, second, items = rng.random((6, 3)), rng.random((6, 3)), np.array([1, 4, 2, 9, 3, 1])
    for column, found in enumerate(paired_means(first, second, items)):
        one, other = (np.repeat(values[:, column], items) for values in (first, second))
        interval = ttest_rel(one, other).confidence_interval(0.95)
        assert (found.first, found.second) == (pytest.approx(one.mean()), pytest.approx(other.mean()))
        assert found.difference.value == pytest.approx((one - other).mean())
        assert (found.difference.low, found.difference.high) == (
            pytest.approx(interval.low),
            pytest.approx(interval.high),
        )
        assert found.difference.n == 20


def test_one_item_has_no_interval_and_equal_items_one_without_width_and_both_say_why() -> None:
    alone = paired_means(np.ones((1, 1)), np.zeros((1, 1)), np.array([1]))[0].difference
    assert (alone.value, alone.low, alone.reason) == (1, None, "one item has no standard error")
    alike = paired_means(np.full((3, 1), 0.1), np.full((3, 1), 0.3), np.array([5, 2, 4]))[0].difference
    assert "without width" in alike.reason


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=8))
def test_a_sign_flip_test_counts_all_ways(differences: list[int]) -> None:
    sums = [0]
    for one in differences:
        sums = [total + sign * one for total in sums for sign in (1, -1)]
    as_far = sum(abs(total) >= abs(sum(differences)) for total in sums) / len(sums)
    assert sign_flip_test(differences).p_value == pytest.approx(as_far, abs=1e-9)
