"""Bounds of a share of clustered items."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.stats.clusters.clustered import ONE_CLUSTER
from misstep.analysis.stats.clusters.clustered_bounds import effective_items, korn_graubard
from misstep.analysis.stats.proportions import clopper_pearson

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
