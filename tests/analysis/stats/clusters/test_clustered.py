"""Items in clusters: resampled whole, and compared by their clusters' spread."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind
from statsmodels.regression.linear_model import OLS

from misstep_analysis.stats.clusters.clustered import (
    NO_SPREAD,
    ONE_CLUSTER,
    cluster_bootstrap,
    clustered_difference,
    linearised_variance,
    small_sample,
)
from misstep_harness.errors import UsageError

CASES = [
    case
    for case in json.loads((Path(__file__).parents[3] / "reference/stats.json").read_text())
    if case["quantity"] == "cluster_bootstrap" and "clusters_successes_trials" in case["input"]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_mean_and_error_of_a_ratio_of_sums_meet_the_full_enumeration(case: dict[str, Any]) -> None:
    clusters = np.array(case["input"]["clusters_successes_trials"])
    rng = np.random.default_rng(0)
    drawn = cluster_bootstrap(lambda sums: sums[:, 0] / sums[:, 1], clusters, case["tolerance"]["mc_B"], rng)
    expected = case["expected"]
    assert drawn.std() == pytest.approx(expected["ideal_cluster_bootstrap_se"], rel=case["tolerance"]["mc_rel_se"])


CLUSTERS = st.lists(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=8
)


@given(CLUSTERS, CLUSTERS)
def test_the_error_is_that_of_a_regression_with_clustered_errors(first, second) -> None:
    result = clustered_difference(first, second)
    if result.se is None:
        assert result.difference.reason == result.test.reason == NO_SPREAD
        return
    rows = [
        (success, arm, (arm, place))
        for arm, clusters in enumerate((second, first))
        for place, (x, n) in enumerate(clusters)
        for success in [1] * x + [0] * (n - x)
    ]
    outcome, arm, cluster = zip(*rows, strict=True)
    codes = np.unique(np.array(cluster), axis=0, return_inverse=True)[1].ravel()
    design = np.column_stack([np.ones(len(arm)), arm])
    for corrected, se in ((False, result.se), (True, result.se_regression)):
        fit = OLS(np.array(outcome), design).fit(
            cov_type="cluster", cov_kwds={"groups": codes, "use_correction": corrected}
        )
        with np.errstate(invalid="ignore"):  # an intercept without spread may have a variance just below 0 there
            assert se == pytest.approx(fit.bse[1], rel=1e-6, abs=1e-9)


SHARED = st.lists(
    st.tuples(st.integers(1, 8), st.integers(1, 8)).flatmap(
        lambda n: st.tuples(st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1]))
    ),
    min_size=1,
    max_size=5,
)


@given(SHARED, CLUSTERS, CLUSTERS)
def test_a_cluster_of_both_arms_is_one_of_the_regression(shared, first, second) -> None:
    arms = [*((x, n) for x, n, _, _ in shared), *first], [*((x, n) for _, _, x, n in shared), *second]
    result = clustered_difference(*arms, shared=len(shared))
    if result.se is None:
        assert result.difference.reason == NO_SPREAD
        return
    rows = [
        (success, 1 - arm, place if place < len(shared) else (arm + 1) * 100 + place)
        for arm, clusters in enumerate(arms)
        for place, (x, n) in enumerate(clusters)
        for success in [1] * x + [0] * (n - x)
    ]
    outcome, arm, cluster = map(np.array, zip(*rows, strict=True))
    fit = OLS(outcome, np.column_stack([np.ones(len(arm)), arm])).fit(
        cov_type="cluster", cov_kwds={"groups": np.unique(cluster, return_inverse=True)[1], "use_correction": True}
    )
    with np.errstate(invalid="ignore"):
        assert result.se_regression == pytest.approx(fit.bse[1], rel=1e-6, abs=1e-9)


def test_shared_clusters_have_items_in_both_arms() -> None:
    with pytest.raises(UsageError, match="a shared cluster has no items in one arm"):
        clustered_difference([(1, 2), (1, 3)], [(0, 0), (1, 3)], shared=1)
    with pytest.raises(UsageError, match="a shared cluster has no items in one arm"):
        clustered_difference([(1, 2), (1, 3)], [(1, 3)], shared=2)


CLUSTERS_OF_SIX = st.lists(st.integers(0, 6), min_size=2, max_size=8)


@given(CLUSTERS_OF_SIX, CLUSTERS_OF_SIX)
def test_with_clusters_of_one_size_it_is_welchs_test_of_their_shares(first: list[int], second: list[int]) -> None:
    result = clustered_difference([(x, 6) for x in first], [(x, 6) for x in second])
    if result.se is None or np.ptp(first) == 0 or np.ptp(second) == 0:
        assert result.se is not None or np.ptp(first) == np.ptp(second) == 0
        return
    reference = ttest_ind(np.array(first) / 6, np.array(second) / 6, equal_var=False)
    assert result.small_sample_test.p_value == pytest.approx(reference.pvalue)
    assert result.small_sample.high == pytest.approx(min(1.0, reference.confidence_interval().high))


def test_perfectly_alike_items_have_a_design_effect_of_their_number() -> None:
    result = clustered_difference([(5, 5), (0, 5), (5, 5)], [(7, 7), (0, 7)])
    assert result.design_effects == (pytest.approx(5), pytest.approx(7))


def test_one_cluster_in_an_arm_is_no_sample() -> None:
    result = clustered_difference([(3, 10)], [(1, 9), (2, 8)])
    assert result.difference.value == pytest.approx(0.3 - 3 / 17)
    assert (result.difference.low, result.se, result.test.p_value) == (None, None, None)
    assert result.small_sample.reason == ONE_CLUSTER


def test_the_small_sample_interval_is_the_wider_one() -> None:
    result = clustered_difference([(1, 9), (0, 6), (2, 11)], [(3, 10), (1, 8), (6, 12)])
    assert result.small_sample.low < result.difference.low < result.difference.high < result.small_sample.high
    assert result.small_sample_test.p_value > result.test.p_value


def test_a_cluster_without_trials_says_nothing() -> None:
    assert clustered_difference([(1, 4), (0, 0), (3, 5)], [(1, 3), (2, 5)]) == clustered_difference(
        [(1, 4), (3, 5)], [(1, 3), (2, 5)]
    )


@pytest.mark.parametrize("sizes", [[1, 1], [5, 5, 5], [3] * 40])
def test_clusters_of_equal_size_have_one_degree_of_freedom_less_than_there_are(sizes: list[int]) -> None:
    assert small_sample(sizes) == pytest.approx((len(sizes) / (len(sizes) - 1), len(sizes) - 1))


def test_the_correction_makes_the_variance_that_of_clusters_which_stand_or_fall_as_a_whole() -> None:
    """Their totals are drawn, and the moments of the linearised variance are what the correction says."""
    sizes = np.array([40, 20, 10, 5, 5, 1])
    totals = np.random.default_rng(0).standard_normal((40_000, len(sizes))) * sizes
    variances = linearised_variance(totals, np.broadcast_to(sizes, totals.shape))
    factor, degrees = small_sample(sizes)
    assert variances.mean() * factor == pytest.approx((sizes**2).sum() / sizes.sum() ** 2, rel=0.03)
    assert degrees == pytest.approx(2 * variances.mean() ** 2 / variances.var(), rel=0.05)


def test_one_cluster_with_nearly_all_items_leaves_one_degree_of_freedom() -> None:
    assert small_sample([10_000, *[1] * 50])[1] == pytest.approx(1, abs=0.1)
    with pytest.raises(UsageError):
        small_sample([7, 0, 0])
