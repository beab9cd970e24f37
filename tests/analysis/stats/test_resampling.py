"""Resampling patterns is resampling items: seeded, honest about what is undefined, and as wide as it should be."""

import numpy as np
import pytest

from misstep_analysis.stats import resampling
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.agreement import gwet_ac
from misstep_analysis.stats.raters.kappa_errors import jackknife_error
from misstep_analysis.stats.raters.patterns import FloatArray, category_counts, distinct_rows
from misstep_analysis.stats.resampling import bootstrap, bootstrapped, percentile_interval

PATTERNS = np.array([[3, 0], [2, 1], [1, 2], [0, 3]])
ITEMS = np.array([40, 12, 9, 30])


def fleiss(sets: FloatArray) -> FloatArray:
    return coefficients.fleiss(sets, PATTERNS)


def test_the_same_seed_gives_the_same_resamples_and_another_seed_others() -> None:
    drawn = [bootstrap(fleiss, ITEMS, 50, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_every_resample_has_as_many_items_as_there_are() -> None:
    totals = bootstrap(lambda sets: sets.sum(axis=1), ITEMS, 20, np.random.default_rng(0))
    assert set(totals.tolist()) == {float(ITEMS.sum())}


def test_resamples_drawn_in_parts_are_as_many_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_CHUNK", 4 * 30)
    assert bootstrap(fleiss, ITEMS, 100, np.random.default_rng(0)).shape == (100,)


def test_a_jackknife_over_groups_tells_the_error_of_many_items() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 6000)
    codes = np.where(rng.random((6000, 3)) < 0.3, rng.integers(0, 3, (6000, 3)), truth[:, None])
    patterns = distinct_rows(np.sort(codes, axis=1))
    counts = category_counts(patterns.rows, 3)
    error = jackknife_error(lambda sets: coefficients.gwet(sets, counts), patterns.items, patterns.of_item, seed=1)
    assert error == pytest.approx(gwet_ac(counts, items=patterns.items).se, rel=0.2)


def test_undefined_resamples_are_counted_and_said() -> None:
    estimate = bootstrapped(0.5, np.array([0.2, np.nan, 0.6, np.nan]), n=4)
    assert "2 of them undefined" in estimate.method
    assert "undefined in 2 of 4 resamples" in estimate.reason
    assert 0.2 <= estimate.low <= 0.6


def test_resamples_that_are_all_undefined_have_no_interval() -> None:
    estimate = bootstrapped(0.5, np.array([np.nan, np.nan]), n=4)
    assert (estimate.low, estimate.high) == (None, None)
    assert "undefined in 2 of 2" in estimate.reason
    assert np.isnan(percentile_interval(np.array([np.nan]))).all()


def test_an_interval_without_width_is_said_to_say_nothing() -> None:
    assert "without width" in bootstrapped(1.0, np.ones(10), n=5).reason


def test_an_undefined_value_has_a_reason_and_no_interval() -> None:
    estimate = bootstrapped(float("nan"), np.full(3, np.nan), n=5, reason="0/0")
    assert (estimate.value, estimate.low, estimate.reason) == (None, None, "0/0")
