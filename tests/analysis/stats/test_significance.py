"""Adjusted p-values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from misstep_analysis.stats.significance import benjamini_yekutieli, holm

P_VALUES = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)


@settings(max_examples=12, deadline=None)
@given(P_VALUES)
def test_a_missing_p_value_stays_missing_and_changes_no_other(p_values: list[float | None]) -> None:
    known = [p for p in p_values if p is not None]
    for adjust in (holm, benjamini_yekutieli):
        result = adjust(p_values)
        assert result.tests == len(known)
        assert [p for p in result.p_values if p is not None] == list(adjust(known).p_values)
        assert [p is None for p in result.p_values] == [p is None for p in p_values]


@settings(max_examples=12, deadline=None)
@given(P_VALUES)
def test_no_p_value_falls_and_none_is_above_one(p_values: list[float | None]) -> None:
    for adjust in (holm, benjamini_yekutieli):
        for raw, adjusted in zip(p_values, adjust(p_values).p_values, strict=True):
            assert raw is None or raw - 1e-12 <= (adjusted or 0.0) <= 1


@pytest.mark.parametrize(("adjust", "method"), [(holm, "holm"), (benjamini_yekutieli, "fdr_by")])
@pytest.mark.parametrize(
    "p_values", [[0.04], [0.01, 0.2, 0.03, 0.03, 1.0], [0.5, 0.0, 0.6, 1e-9, 0.6, 0.049, 0.9], [1.0, 1.0]]
)
def test_adjusted_p_values_are_those_of_statsmodels(adjust: object, method: str, p_values: list[float]) -> None:
    reference = multipletests(p_values, method=method)[1]
    assert adjust(p_values).p_values == pytest.approx(list(reference))  # type: ignore[operator]


def test_not_a_number_counts_as_missing() -> None:
    assert holm([0.01, float("nan")]).p_values == (0.01, None)
