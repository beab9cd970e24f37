"""The bootstrap of a relative change agrees with scipy's."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from benchmarks.validity.alternatives.relative_change import bca_change


def test_with_one_session_a_unit_it_is_scipys_bca_interval() -> None:
    rng = np.random.default_rng(1)
    arms = [np.column_stack([rng.lognormal(0, 1, size), np.ones(size)]) for size in (60, 45)]
    found = bca_change(arms[0], arms[1], np.random.default_rng(0), draws=20_000)
    reference = bootstrap(
        (arms[0][:, 0], arms[1][:, 0]),
        lambda x, y, axis: x.mean(axis=axis) / y.mean(axis=axis) - 1,
        n_resamples=20_000,
        method="BCa",
        rng=np.random.default_rng(5),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=0.03)


def test_arms_that_leave_no_doubt_have_no_interval_by_it() -> None:
    found = bca_change([[1, 1], [1, 1]], [[2, 1], [2, 1]], np.random.default_rng(0))
    assert (found.value, found.low, found.reason) == (-0.5, None, "all resamples give the same change")
