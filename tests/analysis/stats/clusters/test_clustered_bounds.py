"""Bounds of a share of clustered items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats.clusters.clustered import ONE_CLUSTER
from misstep_analysis.stats.clusters.clustered_bounds import (
    effective_clusters,
    effective_items,
    korn_graubard,
)
from misstep_analysis.stats.proportions import clopper_pearson

CLUSTERS = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=12
)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=40), st.sampled_from(["both", "lower", "upper"]))
def test_with_one_item_a_cluster_the_bounds_are_clopper_and_pearsons(items: list[int], side: str) -> None:
    result = korn_graubard([(item, 1) for item in items], side=side)  # type: ignore[arg-type]
    assert result == clopper_pearson(sum(items), len(items), side=side)  # type: ignore[arg-type]


@given(CLUSTERS)
def test_clusters_never_say_more_than_their_items_would(clusters: list[tuple[int, int]]) -> None:
    right, total = (sum(column) for column in zip(*clusters, strict=True))
    assert 0 < effective_items(clusters) <= total
    results, independent = korn_graubard(clusters), clopper_pearson(right, total)
    assert (results.value, results.n) == (independent.value, total)
    assert (results.low or 0.0) <= (independent.low or 0.0) + 1e-12
    assert (results.high or 0.0) >= (independent.high or 0.0) - 1e-12


def test_where_every_item_succeeds_each_cluster_counts_once() -> None:
    result = korn_graubard([(5, 5)] * 20, side="lower")
    assert result.low == pytest.approx(0.05 ** (1 / 20))
    assert korn_graubard([(0, 5)] * 20, side="upper").high == pytest.approx(1 - 0.05 ** (1 / 20))


def test_items_that_stand_or_fall_together_say_as_much_as_their_clusters() -> None:
    together = [(4, 4)] * 30 + [(0, 4)] * 10
    assert effective_items(together) == pytest.approx(39)  # clusters - 1, as the spread is that of a sample


def test_one_cluster_has_no_bound_and_says_so() -> None:
    result = korn_graubard([(4, 5)])
    assert (result.value, result.low, result.reason) == (0.8, None, ONE_CLUSTER)
    assert "1 clusters" not in result.method


SIZES = {
    "equal": np.full(40, 8),
    "lognormal": np.maximum(1, np.round(np.exp(np.random.default_rng(0).normal(1, 1.5, 40)))).astype(np.int64),
    "one with half of the items": np.array([160, *[4] * 39]),
    "zipf": np.maximum(1, np.round(60 / np.arange(1, 41))).astype(np.int64),
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(("share", "correlation"), [(0.9, 0.3), (0.8, 0.6), (0.95, 0.9), (0.5, 0.3)])
def test_one_sided_bounds_hold_whatever_the_sizes_of_clusters(name: str, share: float, correlation: float) -> None:
    rng, sizes, samples = np.random.default_rng(38), SIZES[name], 400
    strength = 1 / correlation - 1
    chances = rng.beta(share * strength, (1 - share) * strength, size=(samples, len(sizes)))
    drawn = [np.column_stack([each, sizes]) for each in rng.binomial(sizes, chances)]
    above = sum((korn_graubard(each, side="lower").low or 0.0) > share for each in drawn)
    below = sum((korn_graubard(each, side="upper").high or 1.0) < share for each in drawn)
    assert max(above, below) <= samples * (0.05 + 0.03)  # three simulation errors


@given(CLUSTERS)
def test_a_failure_never_raises_the_lower_bound_and_a_success_never_lowers_the_upper(clusters) -> None:
    sizes = [n for _, n in clusters]
    without = korn_graubard([(n, n) for n in sizes], side="lower").low
    none = korn_graubard([(0, n) for n in sizes], side="upper").high
    assert korn_graubard(clusters, side="lower").low <= without + 1e-12
    assert korn_graubard(clusters, side="upper").high >= none - 1e-12


def test_one_large_cluster_counts_for_little_more_than_one() -> None:
    assert effective_clusters([100, 5, 5, 5]) == pytest.approx(115**2 / 10_075)
    assert korn_graubard([(100, 100), *[(5, 5)] * 3], side="lower").low == pytest.approx(0.05 ** (10_075 / 115**2))
