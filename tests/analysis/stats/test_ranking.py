"""How well a score ranks positives above negatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from misstep_analysis.stats.ranking import NO_SPREAD, ONE_KIND, area_under_curve, average_precision

SCORES = [0.9, 0.8, 0.8, 0.7, 0.6, 0.6, 0.4, 0.3]
POSITIVE = [True, True, False, True, False, True, False, False]


def test_the_area_is_that_of_scikit_learn_with_ties_counting_half() -> None:
    assert area_under_curve(SCORES, POSITIVE).value == pytest.approx(roc_auc_score(POSITIVE, SCORES))


def test_the_error_is_delongs() -> None:
    result = area_under_curve(SCORES, POSITIVE)
    assert result.low is not None
    positives, negatives = [0.9, 0.8, 0.7, 0.6], [0.8, 0.6, 0.4, 0.3]
    above = [np.mean([(p > n) + (p == n) / 2 for n in negatives]) for p in positives]
    below = [np.mean([(p > n) + (p == n) / 2 for p in positives]) for n in negatives]
    error = np.sqrt(np.var(above, ddof=1) / 4 + np.var(below, ddof=1) / 4)
    logit = np.log(result.value / (1 - result.value))
    low = logit - 1.959964 * error / (result.value * (1 - result.value))
    assert result.low == pytest.approx(1 / (1 + np.exp(-low)), abs=1e-6)


def test_clusters_of_one_item_are_items() -> None:
    alone, clusters = area_under_curve(SCORES, POSITIVE), area_under_curve(SCORES, POSITIVE, np.arange(8))
    assert (clusters.low, clusters.high) == (pytest.approx(alone.low), pytest.approx(alone.high))
    assert "Obuchowski" in clusters.method


def test_items_said_again_in_their_cluster_add_no_evidence() -> None:
    once = area_under_curve(SCORES, POSITIVE)
    twice = area_under_curve(SCORES * 2, POSITIVE * 2, np.tile(np.arange(8), 2))
    assert (twice.value, twice.low) == (pytest.approx(once.value), pytest.approx(once.low))


def test_one_kind_is_undefined_and_perfect_ranking_has_no_interval() -> None:
    assert area_under_curve([0.5, 0.6], [True, True]).reason == ONE_KIND
    perfect = area_under_curve([0.9, 0.8, 0.2, 0.1], [True, True, False, False])
    assert (perfect.value, perfect.low, perfect.reason) == (1.0, None, NO_SPREAD)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=30))
def test_turned_around_the_area_is_what_is_left_of_1(items: list[tuple[int, bool]]) -> None:
    scores, positive = np.array([score for score, _ in items]), [kind for _, kind in items]
    results, turned = area_under_curve(scores, positive), area_under_curve(-scores, positive)
    if results.value is None:
        assert turned.value is None
        return
    assert turned.value == pytest.approx(1 - results.value)
    if results.low is not None and results.high is not None:
        assert 0 <= results.low <= results.value <= results.high <= 1


ITEMS = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)


@given(ITEMS)
def test_it_is_what_scikit_learn_computes_with_weights(items: list[tuple[int, bool, int]]) -> None:
    scores, positive, weights = (np.array(column) for column in zip(*items, strict=True))
    (result,) = average_precision(scores, positive, [weights])
    if (weights * positive).sum() == 0:
        assert np.isnan(result)
    else:
        kept = weights > 0
        expected = average_precision_score(positive[kept], scores[kept], sample_weight=weights[kept])
        assert result == pytest.approx(expected)


def test_a_score_that_says_nothing_has_the_share_of_positives() -> None:
    assert average_precision([1, 1, 1, 1], [True, False, False, False], [[1, 1, 1, 1], [2, 1, 1, 0]]).tolist() == [
        0.25,
        0.5,
    ]
