"""P-values over arrays agree with the tests that are made one at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.printed.two_by_two import pooled_p_values, unpooled_p_values, yates_p_values
from misstep.analysis.stats.printed.two_proportions import pooled_z
from tests.analysis.stats.alternatives.differences import chi_squared, unpooled_z

SIZES = st.integers(1, 3_000)


@given(n1=SIZES, n2=SIZES, data=st.data())
def test_arrays_give_what_single_tests_give(n1: int, n2: int, data: st.DataObject) -> None:
    x1, x2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    one_at_a_time = pooled_z(x1, n1, x2, n2), unpooled_z(x1, n1, x2, n2), chi_squared(x1, n1, x2, n2, yates=True)
    many = [test([x1, x1], n1, x2, n2) for test in (pooled_p_values, unpooled_p_values, yates_p_values)]
    for single, values in zip(one_at_a_time, many, strict=True):
        expected = np.nan if single.p_value is None else single.p_value
        assert values == pytest.approx([expected, expected], rel=1e-7, abs=1e-12, nan_ok=True)
