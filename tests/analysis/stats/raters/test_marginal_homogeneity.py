"""Whether two raters use labels equally often, over items and over clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, fisher_exact
from statsmodels.stats.contingency_tables import SquareTable

from misstep_analysis.stats.raters.marginal_homogeneity import (
    ALL_ALIKE,
    BALANCED,
    NO_DIFFERENCE_POSSIBLE,
    ONE_GROUP,
    TOO_FEW_CLUSTERS,
    clustered_shares,
    pearson_shares,
    stuart_maxwell,
    zero_mean,
)
from misstep_harness.errors import UsageError

FOUR_LABELS = [[310, 41, 12, 5], [66, 280, 37, 9], [20, 51, 190, 33], [8, 13, 40, 95]]


def vectors(table: list[list[int]]) -> np.ndarray:
    """An item a row: the second rater's label less the first's, as vectors."""
    one_hot = np.eye(len(table))
    rows = [
        one_hot[column] - one_hot[row]
        for row, cells in enumerate(table)
        for column, count in enumerate(cells)
        for _ in range(count)
    ]
    return np.array(rows)


@pytest.mark.parametrize("table", [FOUR_LABELS, [[10, 3, 1], [8, 20, 2], [5, 1, 4]], [[5, 9], [2, 7]]])
def test_it_is_that_of_statsmodels(table: list[list[int]]) -> None:
    reference = SquareTable(np.array(table, dtype=float), shift_zeros=False).homogeneity()
    result = stuart_maxwell(table)
    assert result.statistic == pytest.approx(reference.statistic)
    assert result.p_value == pytest.approx(reference.pvalue)


def test_a_label_that_nobody_uses_takes_no_degree_of_freedom() -> None:
    with_unused = stuart_maxwell([[5, 0, 9], [0, 0, 0], [2, 0, 7]])
    without = stuart_maxwell([[5, 9], [2, 7]])
    assert with_unused.p_value == pytest.approx(without.p_value)
    assert with_unused.test == without.test


def test_without_an_error_there_is_no_test_and_without_items_no_table() -> None:
    result = stuart_maxwell([[5, 0], [0, 7]])
    assert (result.p_value, result.reason) == (None, NO_DIFFERENCE_POSSIBLE)
    with pytest.raises(UsageError, match="square table"):
        stuart_maxwell([[0, 0], [0, 0]])


def test_the_test_over_clusters_is_hotellings() -> None:
    each = np.random.default_rng(5).normal(0.2, 1.0, size=(25, 3))
    n, p = each.shape
    squared = n * each.mean(axis=0) @ np.linalg.inv(np.cov(each.T)) @ each.mean(axis=0)
    result = zero_mean(each)
    assert result.statistic == pytest.approx((n - p) / (p * (n - 1)) * squared)
    assert "F with 3 and 22 degrees" in result.test


def test_too_few_clusters_or_clusters_all_alike_are_no_test() -> None:
    assert zero_mean([[1.0, -1.0]]).reason == TOO_FEW_CLUSTERS
    assert zero_mean([[1.0, -1.0]] * 4).reason == TOO_FEW_CLUSTERS
    assert zero_mean(np.zeros((4, 2))).reason == NO_DIFFERENCE_POSSIBLE


@given(st.lists(st.lists(st.integers(0, 8), min_size=3, max_size=3), min_size=3, max_size=3), st.permutations(range(3)))
def test_neither_the_order_of_labels_nor_the_order_of_raters_matters(table: list[list[int]], order: list[int]) -> None:
    cells = np.array(table)
    if not cells.sum():
        return
    result = stuart_maxwell(cells)
    for other in (stuart_maxwell(cells.T), stuart_maxwell(cells[np.ix_(order, order)])):
        assert other.p_value == (None if result.p_value is None else pytest.approx(result.p_value, abs=1e-9))


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_with_enough_items_it_is_pearsons_test() -> None:
    results, totals = np.array([30, 42, 51]), np.array([60, 70, 66])
    reference = chi2_contingency(np.vstack([results, totals - results]), correction=False)
    tested = pearson_shares(results, totals, rng())
    assert tested.statistic == pytest.approx(reference.statistic)
    assert tested.p_value == pytest.approx(reference.pvalue)
    assert tested.test == "chi-squared with 2 degrees of freedom"


def test_with_few_items_tables_are_drawn_as_fishers_test_weighs_them() -> None:
    table = [[8, 2], [1, 5]]
    tested = pearson_shares([8, 1], [10, 6], rng(), draws=40_000)
    assert "40,000 tables drawn" in tested.test
    assert tested.p_value == pytest.approx(fisher_exact(table).pvalue, abs=0.006)


def test_a_drawn_p_value_is_never_0() -> None:
    tested = pearson_shares([40, 0], [40, 3], rng(), draws=99)
    assert tested.p_value >= 0.01


def test_groups_without_items_change_nothing() -> None:
    assert pearson_shares([30, 0, 42], [60, 0, 70], rng()) == pearson_shares([30, 42], [60, 70], rng())


@pytest.mark.parametrize(
    ("result", "totals", "reason"), [([3], [9], ONE_GROUP), ([3, 0], [9, 0], ONE_GROUP), ([5, 4], [5, 4], ALL_ALIKE)]
)
def test_without_two_groups_or_two_outcomes_there_is_no_test(result: list[int], totals: list[int], reason: str) -> None:
    tested = pearson_shares(result, totals, rng())
    assert (tested.p_value, tested.reason) == (None, reason)


def test_single_items_as_clusters_come_to_pearsons_test() -> None:
    draw = rng()
    groups = draw.integers(3, size=900)
    result = draw.random(900) < 0.3 + 0.04 * groups
    alone = clustered_shares(groups, result, np.arange(900))
    together = pearson_shares(np.bincount(groups[result], minlength=3), np.bincount(groups, minlength=3), draw)
    assert alone.p_value == pytest.approx(together.p_value, rel=0.1)


def test_items_said_again_in_their_cluster_add_no_evidence() -> None:
    draw = rng()
    groups, results = draw.integers(2, size=80), draw.random(80) < 0.5
    once = clustered_shares(groups, results, np.arange(80))
    thrice = clustered_shares(np.tile(groups, 3), np.tile(results, 3), np.tile(np.arange(80), 3))
    assert thrice.p_value == pytest.approx(once.p_value)


def test_where_no_cluster_differs_within_itself_there_is_no_spread() -> None:
    tested = clustered_shares(np.array([0, 0, 1, 1] * 3), np.array([0, 1, 0, 1] * 3), np.arange(12) // 4)
    assert (tested.p_value, tested.reason) == (None, BALANCED)


def test_two_clusters_are_too_few_for_three_groups() -> None:
    tested = clustered_shares(np.array([0, 1, 2, 0]), np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1]))
    assert (tested.p_value, tested.reason) == (None, TOO_FEW_CLUSTERS)
    assert clustered_shares(np.array([0, 0]), np.array([1, 0]), np.array([0, 1])).reason == ONE_GROUP
