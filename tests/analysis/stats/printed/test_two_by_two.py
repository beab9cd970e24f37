"""P-values over arrays agree with the libraries' tests, which are made one at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from statsmodels.stats.proportion import test_proportions_2indep as two_proportions

from misstep.analysis.stats.printed.two_by_two import pooled_p_values, unpooled_p_values, yates_p_values

SIZES = st.integers(2, 3_000)


@given(n1=SIZES, n2=SIZES, data=st.data())
def test_arrays_give_what_single_tests_give(n1: int, n2: int, data: st.DataObject) -> None:
    x1, x2 = data.draw(st.integers(1, n1 - 1)), data.draw(st.integers(1, n2 - 1))
    table = [[x1, n1 - x1], [x2, n2 - x2]]
    expected = {
        pooled_p_values: chi2_contingency(table, correction=False).pvalue,
        unpooled_p_values: two_proportions(x1, n1, x2, n2, method="wald", correction=False).pvalue,
        yates_p_values: chi2_contingency(table).pvalue,
    }
    for test, p_value in expected.items():
        assert test([x1, x1], n1, x2, n2) == pytest.approx([p_value, p_value], rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("test", [pooled_p_values, unpooled_p_values, yates_p_values])
def test_without_variation_there_is_no_p_value(test) -> None:  # type: ignore[no-untyped-def]
    assert np.isnan(test(0, 5, 0, 7))
