"""Intraclass correlation."""

import numpy as np
import pytest
from scipy.stats import f_oneway

from analysis.stats.intraclass import NO_VARIANCE, cluster_correlation, shrout_fleiss
from harness.errors import UsageError

JUDGES = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""The published example of six subjects and four judges (Shrout and Fleiss 1979, table 2)."""


def test_the_intervals_are_those_that_statistics_packages_print_for_the_published_example() -> None:
    found = shrout_fleiss(JUDGES)
    printed = {
        "one_way": (-0.133, 0.723),
        "two_way_random": (0.019, 0.761),
        "two_way_fixed": (0.342, 0.946),
        "one_way_mean": (-0.884, 0.912),
        "two_way_random_mean": (0.071, 0.927),
        "two_way_fixed_mean": (0.676, 0.986),
    }
    for form, limits in printed.items():
        estimate = getattr(found, form)
        assert (estimate.low, estimate.high) == pytest.approx(limits, abs=6e-4), form


def test_the_correlation_of_clusters_follows_from_the_f_ratio() -> None:
    clusters = [[1.0, 2, 4], [3.0, 3], [5.0, 6, 7, 9], [2.0]]
    found = cluster_correlation(clusters)
    f = f_oneway(*clusters).statistic
    assert found.icc.value == pytest.approx((f - 1) / (f - 1 + found.n0))
    assert found.icc.low < found.icc.value < found.icc.high


def test_equal_clusters_give_the_one_way_form_with_its_interval() -> None:
    one, other = cluster_correlation(JUDGES).icc, shrout_fleiss(JUDGES).one_way
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_items_less_alike_within_than_between_clusters_correlate_negatively() -> None:
    assert cluster_correlation([[1, 0], [0, 1], [1, 0]]).icc.value == pytest.approx(-1)


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [([[1], [0], [1]], "two items"), ([[1, 1], [1, 1]], NO_VARIANCE), ([[1, 1], [], [1]], NO_VARIANCE)],
)
def test_a_correlation_that_is_undefined_says_why(clusters: list[list[float]], reason: str) -> None:
    found = cluster_correlation(clusters).icc
    assert found.value is None
    assert reason in found.reason


def test_a_perfect_correlation_has_no_interval() -> None:
    found = cluster_correlation([[1, 1, 1], [0, 0, 0]]).icc
    assert (found.value, found.low) == (1.0, None)
    assert found.reason


def test_degenerate_ratings_give_reasons_not_numbers() -> None:
    assert shrout_fleiss(np.ones((3, 2))).two_way_fixed.reason == NO_VARIANCE
    levels = shrout_fleiss([[1, 2], [1, 2], [1, 2]])  # judges differ, subjects do not
    assert levels.two_way_fixed.value is None
    assert levels.one_way_mean.value is None
    assert "minus infinity" in levels.one_way_mean.reason
    crossed = shrout_fleiss([[1, 2], [2, 1]])
    assert crossed.two_way_random.value is None
    assert crossed.two_way_random_mean.reason
    agreed = shrout_fleiss([[1, 1], [2, 2], [4, 4]])
    assert agreed.two_way_random.value == agreed.two_way_fixed_mean.value == 1
    assert agreed.two_way_random.low is None


@pytest.mark.parametrize("ratings", [[[1, 2]], [[1], [2]], [[1, float("nan")], [2, 3]], [1, 2, 3]])
def test_a_table_with_gaps_or_too_small_is_refused(ratings: list[list[float]]) -> None:
    with pytest.raises(UsageError):
        shrout_fleiss(ratings)


@pytest.mark.parametrize("clusters", [[], [[1, 2]], [[1, 2], [float("nan")]]])
def test_clusters_that_cannot_correlate_are_refused(clusters: list[list[float]]) -> None:
    with pytest.raises(UsageError):
        cluster_correlation(clusters)
