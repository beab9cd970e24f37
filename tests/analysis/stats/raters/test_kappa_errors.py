"""Standard errors of Cohen's kappa by formula, against the library that is too slow for thousands of tables."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from misstep.analysis.stats.raters.agreement import cohen_kappa
from misstep.analysis.stats.raters.coefficients import Weighting

tables = st.integers(2, 5).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=size, max_size=size)
)


@given(tables, st.sampled_from(["unweighted", "linear", "quadratic"]))
def test_kappa_and_both_errors_are_those_of_the_library(table: list[list[int]], weighting: Weighting) -> None:
    cells = np.array(table)
    assume(min(np.count_nonzero(cells.sum(axis=axis)) for axis in (0, 1)) > 1)
    assume(np.trace(cells) < cells.sum())
    ours = cohen_kappa(cells, weighting)
    with np.errstate(divide="ignore", invalid="ignore"):
        theirs = cohens_kappa(cells, wt=None if weighting == "unweighted" else weighting)
    assert ours.value == pytest.approx(theirs.kappa, abs=1e-9)
    assert ours.se**2 == pytest.approx(theirs.var_kappa, rel=1e-6, abs=1e-12)  # type: ignore[operator]
    assert ours.se_null**2 == pytest.approx(theirs.var_kappa0, rel=1e-6, abs=1e-12)  # type: ignore[operator]


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=6), st.sampled_from(["unweighted", "linear", "quadratic"]))
def test_a_rater_with_one_category_has_a_kappa_of_0_and_no_error(column: list[int], weighting: Weighting) -> None:
    assume(np.count_nonzero(column) > 1)
    table = np.zeros((len(column), len(column)), dtype=np.int64)
    table[:, 0] = column
    kappa = cohen_kappa(table, weighting)
    assert kappa.value == pytest.approx(0, abs=1e-12)
    assert (kappa.se, kappa.se_null) == (0, 0)
