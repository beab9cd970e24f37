"""Tests of two proportions by name: quick ones over arrays as one by one, and what may be asked of which samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from statsmodels.stats.proportion import test_proportions_2indep as two_proportions

from misstep_analysis.stats.printed import usual_tests
from misstep_analysis.stats.printed.usual_tests import (
    LARGEST,
    MOST_PAIRS,
    pooled_p_values,
    unpooled_p_values,
    yates_p_values,
)

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
QUICK = {**usual_tests.USUAL, **usual_tests.RARER}
EXACT = {**usual_tests.FISHER, **usual_tests.EXACT, **usual_tests.UNCONDITIONAL}


@given(first=COUNTS, second=COUNTS, name=st.sampled_from(sorted(QUICK)))
def test_a_quick_test_gives_a_probability_or_nothing_and_the_same_with_the_samples_exchanged(first, second, name):
    p_value, exchanged = float(QUICK[name](*first, *second)), float(QUICK[name](*second, *first))
    assert math.isnan(p_value) or 0 <= p_value <= 1
    assert p_value == pytest.approx(exchanged, nan_ok=True)


@given(first=COUNTS, second=COUNTS, name=st.sampled_from(sorted({**usual_tests.FISHER, **usual_tests.EXACT})))
def test_an_exact_test_gives_a_probability(first: tuple[int, int], second: tuple[int, int], name: str) -> None:
    p_value = EXACT[name](*first, *second)
    assert -1e-12 <= p_value <= 1


def test_exact_tests_are_not_asked_of_samples_that_are_too_large_for_them() -> None:
    side = math.isqrt(MOST_PAIRS)
    assert usual_tests.is_feasible("Boschloo's exact", 1, side, 2, side)
    assert not usual_tests.is_feasible("Boschloo's exact", 1, side + 1, 2, side + 1)
    assert usual_tests.is_feasible("Fisher's exact, two-sided", 1, LARGEST // 2, 2, LARGEST // 2)
    assert not usual_tests.is_feasible("Fisher's exact, two-sided", 1, LARGEST, 2, LARGEST)


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
