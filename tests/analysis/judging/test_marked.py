"""Marks of a judge against those of people: by category, by place, by both, over runs."""

import pytest
from sklearn.metrics import f1_score

from misstep_analysis.judging.judged import marked_scores

PEOPLE = {
    "a": frozenset({("s1", "loop"), ("s2", "slip")}),
    "b": frozenset({("s1", "loop")}),
    "c": frozenset({("s9", "slip")}),
    "clean": frozenset[tuple[str, str]](),
}
JUDGE = {
    "a": [("s1", "loop"), ("s2", "loop")],
    "b": [("s4", "slip"), ("s4", "weather")],
    "c": None,
    "clean": [("s1", "loop")],
}


def test_a_run_counts_by_the_share_of_peoples_marks_that_the_judge_made() -> None:
    scores = marked_scores(PEOPLE, JUDGE, resamples=100)
    assert scores.location.value == pytest.approx((1 + 0 + 0) / 3)
    assert scores.joint.value == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert (scores.n, scores.answered, scores.unmarked, scores.location.n) == (4, 3, 1, 3)


def test_weighted_f1_is_that_of_the_library_over_run_and_category() -> None:
    truth = [[1, 1], [1, 0], [0, 1], [0, 0]]
    flags = [[1, 0], [0, 1], [0, 0], [1, 0]]
    scores = marked_scores(PEOPLE, JUDGE, resamples=500)
    assert scores.weighted_f1.value == pytest.approx(f1_score(truth, flags, average="weighted", zero_division=0))
    assert scores.weighted_f1.low <= scores.weighted_f1.value <= scores.weighted_f1.high  # type: ignore[operator]
    assert "resamples of runs" in scores.weighted_f1.method


def test_categories_that_people_never_used_are_counted() -> None:
    scores = marked_scores(PEOPLE, JUDGE, resamples=10)
    assert (scores.marks, scores.outside) == (5, 1)


def test_runs_that_people_did_not_look_at_are_left_out() -> None:
    assert marked_scores(PEOPLE, {"unseen": [("s1", "loop")]}, resamples=10).weighted_f1.value is None


@pytest.mark.parametrize("judge", [{}, {"clean": []}])
def test_without_marks_to_find_nothing_is_scored_and_a_reason_given(judge: dict[str, list[tuple[str, str]]]) -> None:
    scores = marked_scores(PEOPLE, judge, resamples=10)
    for estimate in (scores.weighted_f1, scores.location, scores.joint):
        assert estimate.value is None
        assert estimate.reason
