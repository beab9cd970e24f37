"""Prevalence counted by a judge that errs."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from misstep_analysis.stats.clusters.clustered import ONE_CLUSTER
from misstep_analysis.stats.correction import (
    OUTSIDE,
    OUTSIDE_BEFORE_CUT,
    powered_share,
    rogan_gladen,
    rogan_gladen_clustered,
)
from misstep_analysis.stats.estimate import FLAT
from misstep_analysis.stats.proportions import clopper_pearson


@given(st.integers(0, 400), st.floats(0.6, 1), st.floats(0.6, 1))
def test_the_correction_undoes_what_the_judge_does(positives: int, sensitivity: float, specificity: float) -> None:
    """The expected share flagged at a prevalence gives back that prevalence."""
    prevalence = positives / 400
    flagged = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    result = rogan_gladen(*((round(share * 10**9), 10**9) for share in (flagged, sensitivity, specificity)))
    assert result.raw == pytest.approx(prevalence, abs=1e-7)


def test_a_perfect_judge_needs_no_correction() -> None:
    result = rogan_gladen((30, 100), (50, 50), (60, 60))
    assert result.estimate.value == pytest.approx(result.apparent)
    assert result.se == pytest.approx((0.3 * 0.7 / 100) ** 0.5)


def test_with_many_validation_items_only_the_share_flagged_is_uncertain() -> None:
    result = rogan_gladen((50, 400), (9 * 10**8, 10**9), (95 * 10**7, 10**9))
    low, high = ((limit + 0.95 - 1) / (0.9 + 0.95 - 1) for limit in proportion_confint(50, 400, method="agresti_coull"))
    assert result.untruncated == pytest.approx((low, high), abs=1e-6)


def test_a_share_below_what_a_judge_flags_by_mistake_is_cut_and_says_so() -> None:
    result = rogan_gladen((5, 400), (45, 50), (190, 200))
    assert result.raw < 0
    assert (result.estimate.value, result.estimate.low) == (0.0, None)
    assert result.estimate.reason.startswith(OUTSIDE)
    assert "cut" in result.estimate.method


def test_without_validation_items_the_prevalence_is_unknown() -> None:
    assert "sensitivity" in rogan_gladen((5, 10), (0, 0), (4, 5)).estimate.reason
    assert "specificity" in rogan_gladen((5, 10), (4, 5), (0, 0)).estimate.reason


def test_too_few_validation_items_leave_the_estimate_without_an_interval() -> None:
    result = rogan_gladen((5, 10), (1, 1), (100, 1000))
    assert result.estimate.value is not None
    assert result.untruncated is None
    assert result.estimate.reason


@pytest.mark.parametrize("rates", [((1, 2), (1, 2)), ((1, 5), (1, 5))])
def test_a_judge_that_tells_nothing_gives_no_prevalence(rates: tuple[tuple[int, int], ...]) -> None:
    assert rogan_gladen((1, 4), *rates).estimate.reason.endswith("the judge tells nothing")
    assert rogan_gladen((0, 0), *rates).estimate.reason == "no item was judged"


def test_over_clusters_each_rate_counts_as_many_items_as_its_clusters_are_worth() -> None:
    counts = (30, 100), (12, 14), (18, 21)
    alone = [[(1, 1)] * x + [(0, 1)] * (n - x) for x, n in counts]
    together = [[(3 * x, 3 * n) for x, n in items] for items in alone]
    plain, clustered = rogan_gladen(*counts), rogan_gladen_clustered(*together)
    assert rogan_gladen_clustered(*alone).untruncated == plain.untruncated
    assert clustered.raw == pytest.approx(plain.raw)
    assert clustered.untruncated == pytest.approx(plain.untruncated, abs=0.03)
    assert "100 clusters" in clustered.estimate.method


def test_a_judge_without_an_error_on_few_clusters_keeps_room_for_errors() -> None:
    result = rogan_gladen_clustered([(2, 5)] * 60 + [(1, 5)] * 60, [(2, 2)] * 8, [(3, 3)] * 8)
    assert result.estimate.high - result.estimate.low > 0.3


def counted(x: int, n: int) -> list[tuple[int, int]]:
    """Items that stand for themselves: so many of one kind, so many in all."""
    return [(1, 1)] * x + [(0, 1)] * (n - x)


def test_a_judge_without_an_error_on_twenty_labels_may_still_err_on_a_sixth_of_the_items() -> None:
    result = powered_share(counted(3_000, 10_000), counted(0, 20), counted(0, 20))
    unseen = clopper_pearson(0, 20).high or 0.0
    assert result.value == 0.3
    assert result.low == pytest.approx(0.3 - unseen, abs=0.001)
    assert result.high == pytest.approx(0.3 + unseen, abs=0.001)


@example(1, 5, 6)  # a share of 0 that rounding puts below it
@given(st.integers(0, 30), st.integers(0, 15), st.integers(0, 15))
def test_the_interval_holds_its_estimate_and_lies_within_0_and_1(flagged: int, missed: int, wrong: int) -> None:
    result = powered_share(counted(flagged, 30), counted(missed, 30), counted(wrong, 30))
    assert result.value is not None
    if result.low is None or result.high is None:
        assert result.value in (0, 1)
        assert result.reason.endswith(FLAT)
    else:
        assert 0 <= result.low <= result.value <= result.high <= 1
    assert result.reason.startswith(OUTSIDE_BEFORE_CUT) == (not 0 <= round((flagged + missed - wrong) / 30, 9) <= 1)


def test_clusters_widen_the_interval_to_that_of_as_many_items() -> None:
    alone = powered_share(counted(40, 100), counted(0, 20), counted(0, 20))
    together = powered_share([(2 * x, 2 * n) for x, n in counted(40, 100)], [(0, 2)] * 20, [(0, 2)] * 20)
    assert together.low == pytest.approx(alone.low, abs=0.01)
    assert powered_share([(1, 2)], [(0, 2)], [(0, 2)]).reason == ONE_CLUSTER
