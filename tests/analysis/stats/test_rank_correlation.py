"""Kendall's tau-b of many pairs of orders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from misstep.analysis.stats.ranking import kendall_tau_b

values = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8)


@given(values)
def test_it_is_what_scipy_gives(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.float64).T
    expected = kendalltau(first, second).statistic
    assert kendall_tau_b(first[None, :], second[None, :])[0] == pytest.approx(expected, nan_ok=True)


def test_each_set_is_an_order_of_its_own_and_a_missing_value_leaves_its_set_undefined() -> None:
    first = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, np.nan, 3.0], [1.0, 1.0, 1.0]])
    second = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert kendall_tau_b(first, second) == pytest.approx([1, -1, np.nan, np.nan], nan_ok=True)
