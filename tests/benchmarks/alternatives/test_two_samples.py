"""Two samples of numbers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import mannwhitneyu, rankdata, t

from benchmarks.validity.alternatives.two_samples import ALL_TIED, cliffs_delta, mann_whitney, welch
from misstep.harness.errors import UsageError

SAMPLE = st.lists(st.integers(0, 5), min_size=1, max_size=5)
BAD_SAMPLES = [([], [1, 2]), ([1, 2], []), ([1, float("nan")], [1, 2])]


def test_the_interval_uses_the_exact_quantile_for_broken_degrees_of_freedom() -> None:
    x, y = [1, 2, 3, 4], [2, 2, 2, 3, 9]
    found = welch(x, y)
    error = (np.var(x, ddof=1) / 4 + np.var(y, ddof=1) / 5) ** 0.5
    quantile = (found.difference.high - found.difference.value) / error
    assert quad(t(found.degrees).pdf, 0, quantile)[0] == pytest.approx(0.475, abs=1e-12)


@pytest.mark.parametrize(("x", "y", "said"), [([3, 3], [3, 3], "0/0"), ([3, 3], [4, 4], "infinite")])
def test_without_variance_there_is_no_t(x: list[float], y: list[float], said: str) -> None:
    found = welch(x, y)
    assert (found.test.p_value, found.difference.low, found.degrees) == (None, None, None)
    assert said in found.test.reason


def test_one_sample_without_variance_is_compared_by_the_others() -> None:
    found = welch([1 / 6, 1 / 6], [0.0, 1 / 6, 0.5])
    assert found.degrees == pytest.approx(2)
    assert found.difference.low < 0 < found.difference.high


@settings(deadline=None)
@given(SAMPLE, SAMPLE)
def test_the_exact_p_values_are_those_of_every_split_written_out(x: list[int], y: list[int]) -> None:
    ranks, m = rankdata(x + y), len(x)
    sums = np.array([ranks[list(chosen)].sum() for chosen in combinations(range(len(ranks)), m)])
    observed, centre = ranks[:m].sum(), m * (len(ranks) + 1) / 2
    found = mann_whitney(x, y)
    assert found.greater.p_value == pytest.approx((sums >= observed).mean())
    assert found.less.p_value == pytest.approx((sums <= observed).mean())
    assert found.two_sided.p_value == pytest.approx((np.abs(sums - centre) >= abs(observed - centre)).mean())


def test_without_ties_the_exact_p_value_of_larger_samples_is_scipys() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), rng.normal(0.5, size=25)
    assert mann_whitney(x, y).two_sided.p_value == pytest.approx(mannwhitneyu(x, y, method="exact").pvalue)


def test_large_samples_are_left_to_the_approximation() -> None:
    found = mann_whitney(np.arange(300), np.arange(300) + 0.5)
    assert found.two_sided.p_value is None
    assert found.two_sided.reason
    assert found.asymptotic.p_value > 0.5


def test_values_that_are_all_tied_have_no_approximation() -> None:
    assert mann_whitney([2, 2], [2]).asymptotic.reason == ALL_TIED


@given(SAMPLE, SAMPLE)
def test_cliffs_delta_counts_the_pairs(x: list[int], y: list[int]) -> None:
    pairs = [np.sign(one - other) for one in x for other in y]
    found, turned = cliffs_delta(x, y), cliffs_delta(y, x)
    assert found.value == pytest.approx(np.mean(pairs))
    assert turned.value == pytest.approx(-found.value)
    if found.low is None:
        assert found.reason
    else:
        assert -1 <= found.low <= found.value <= found.high <= 1
        assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


@pytest.mark.parametrize(("x", "y"), BAD_SAMPLES)
@pytest.mark.parametrize("function", [welch, mann_whitney, cliffs_delta])
def test_an_empty_sample_or_a_missing_value_is_refused(function, x, y) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        function(x, y)
