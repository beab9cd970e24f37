"""All resamples of whole numbers, counted."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.analysis.stats.resampling import bca
from misstep.harness.errors import UsageError
from tests.analysis.stats.quantities.ideal_bootstrap import ideal_mean, resampled_sums


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=4))
def test_the_counted_sums_are_those_of_every_resample_written_out(rows: list[tuple[int, int]]) -> None:
    matrix = np.array(rows)
    found = resampled_sums(matrix)
    every = [tuple(matrix[list(chosen)].sum(axis=0)) for chosen in product(range(len(rows)), repeat=len(rows))]
    assert [tuple(total) for total in found.sums] == sorted(set(every))
    shares = [every.count(tuple(total)) / len(every) for total in found.sums]
    assert found.probabilities == pytest.approx(shares)


def test_many_units_are_counted_too() -> None:
    outcomes = np.array([1] * 300 + [0] * 200)
    found = resampled_sums(outcomes[:, None])
    mean, error = found.mean_and_error(found.sums[:, 0] / 500)
    assert mean == pytest.approx(0.6)
    assert error == pytest.approx((0.6 * 0.4 / 500) ** 0.5)


def test_the_drawn_bca_interval_comes_near_to_the_counted_one() -> None:
    values = np.array([0, 0, 1, 1, 2, 2, 2, 3, 4, 6, 9, 14])
    ideal, drawn = ideal_mean(values), bca(values.astype(float), np.random.default_rng(0))
    assert ideal.bca is not None
    assert (drawn.low, drawn.high) == pytest.approx(ideal.bca, abs=2.5 / 12)
    assert ideal.bca[0] > ideal.percentile[0]  # a long tail to the right shifts both ends up


def test_values_without_spread_have_no_bca_interval() -> None:
    estimate = bca(np.array([4.0, 4.0]), np.random.default_rng(0))
    assert (estimate.value, estimate.low, estimate.high) == (4.0, None, None)
    assert "0/0" in estimate.reason
    assert ideal_mean(np.array([4, 4, 4])).bca is None


@pytest.mark.parametrize("values", [[], [1.0, float("nan")]])
def test_a_bca_interval_of_missing_values_is_refused(values: list[float]) -> None:
    with pytest.raises(UsageError):
        bca(np.array(values), np.random.default_rng(0))


def test_nothing_to_draw_and_too_much_to_count_are_refused() -> None:
    with pytest.raises(UsageError):
        resampled_sums(np.zeros((0, 1), dtype=np.int64))
    with pytest.raises(UsageError, match="Draw"):
        resampled_sums(np.cumprod(np.full((40, 1), 2), axis=0))
