"""A threshold that keeps a precision: chosen on one half of the runs, tested on the other, never handed out by luck."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.precision_threshold import (
    LABEL_ALONE,
    NEVER_GIVEN,
    NO_NUMBER,
    PrecisionThreshold,
    precision_threshold,
    threshold_sentence,
    threshold_table,
)
from misstep_analysis.stats.proportions import clopper_pearson, wilson
from misstep_harness.errors import UsageError
from misstep_harness.verdict import Verdict

Answer = tuple[str | None, float | None, bool]
"""The judge's label, its score, and whether the gold label is yes."""

ITEMS = st.lists(
    st.tuples(st.sampled_from(["yes", "no", None]), st.sampled_from([0.2, 0.5, 0.9, None]), st.booleans()),
    min_size=2,
    max_size=60,
)


def found(answers: Sequence[Answer], floor: float = 0.8, *, run_size: int = 1, **options: object) -> PrecisionThreshold:
    """The threshold for yes; every `run_size` items in turn are of one run."""
    names = [f"i{place:05}" for place in range(len(answers))]
    verdicts = [
        Verdict(name, "judge", label, "answered" if label else "failed", score if label else None)
        for name, (label, score, _) in zip(names, answers, strict=True)
    ]
    gold = [
        GoldLabel(name, "rater", "yes" if right else "no") for name, (_, _, right) in zip(names, answers, strict=True)
    ]
    clusters = {name: f"run {place // run_size}" for place, name in enumerate(names)}
    return precision_threshold(verdicts, gold, "yes", floor, clusters=clusters, **options)  # type: ignore[arg-type]


def scored(rng: np.random.Generator, n: int, high: float, low: float) -> list[Answer]:
    """Answers yes and no; a yes is right with the chance `high` with a score of 0.9, and `low` with one of 0.4."""
    answers: list[Answer] = []
    for _ in range(n):
        if rng.random() < 0.4:
            answers.append(("no", 0.8, bool(rng.random() < 0.2)))
        else:
            sure = bool(rng.random() < 0.5)
            answers.append(("yes", 0.9 if sure else 0.4, bool(rng.random() < (high if sure else low))))
    return answers


def test_the_threshold_that_keeps_the_floor_is_found_and_tested_on_the_held_out_half() -> None:
    one = found(scored(np.random.default_rng(1), 800, 0.95, 0.3))
    assert (one.threshold, one.tried, one.reason, one.more_labels) == (0.9, 0.9, "", None)
    assert (one.calibration, one.held_out, one.precision.n) == (400, 400, one.flagged)
    assert one.chance > 0.9
    assert (one.precision.low or 0) >= 0.8
    right = round((one.precision.value or 0) * one.flagged)
    assert one.precision == clopper_pearson(right, one.flagged, 0.975, side="lower")  # the label alone had the rest
    assert one.recall == wilson(right, one.recall.n or 0)
    assert [step.threshold for step in one.steps] == [0.9, LABEL_ALONE]
    assert [step.passes for step in one.steps] == [True, False]


def test_several_items_of_a_run_count_together_on_all_items_and_in_the_half() -> None:
    one = found([("yes", None, True)] * 300, run_size=5)
    assert one.threshold == LABEL_ALONE
    for precision in (one.precision, one.first.precision):
        assert precision.method == "Korn-Graubard over 60 clusters, lower bound, 95%"
    assert "clusters" in one.recall.method
    split = found([("yes", 0.9, True), ("yes", 0.4, False)] * 200, run_size=4)
    assert split.precision.method == "Korn-Graubard over 50 clusters, lower bound, 97.5%"


def test_the_label_alone_is_tested_on_all_labels_before_any_are_spent_on_a_choice() -> None:
    one = found([("yes", None, place >= 3) for place in range(52)])
    assert (one.threshold, one.flagged, one.steps, one.reason) == (LABEL_ALONE, 52, (), "")
    assert one.precision == clopper_pearson(49, 52, side="lower")
    sentence = threshold_sentence(one, "strict")
    assert "of 52 flagged items are right" in sentence
    among_scores = found([("yes", 0.4 + place % 5 / 10, place >= 3) for place in range(52)])
    assert among_scores.precision == clopper_pearson(49, 52, 0.975, side="lower")


@pytest.mark.parametrize("size", [1, 3])
def test_a_judge_below_the_floor_is_given_a_threshold_no_more_often_than_it_may(size: int) -> None:
    """Each judge is 78% precise at every score, the scores of a run agreeing with each other."""
    rng = np.random.default_rng(17)
    given_out, judges = 0, 200
    for _ in range(judges):
        by_run = rng.beta(0.78 * 3, 0.22 * 3, size=100)
        chances = np.repeat(by_run, size) if size > 1 else np.full(160, 0.78)
        answers: list[Answer] = [
            ("yes", float(rng.integers(1, 5)) / 5, bool(rng.random() < chance)) for chance in chances
        ]
        given_out += found(answers, 0.8, run_size=size, seed=int(rng.integers(1_000))).threshold is not None
    assert given_out <= judges * 0.05


def test_with_too_few_labels_it_is_said_how_many_more_are_needed_and_these_are_enough() -> None:
    planned, enough = 0, 0
    for seed in range(40):
        few = found(scored(np.random.default_rng(seed), 40, 0.95, 0.3))
        if few.more_labels is not None:
            planned += 1
            assert f"about {few.more_labels:,} more labels are needed" in few.reason
            more = scored(np.random.default_rng(1_000 + seed), 40 + few.more_labels, 0.95, 0.3)
            enough += found(more).threshold is not None
    assert planned >= 20
    assert enough >= 0.7 * planned  # planned is a chance of 80%


def test_where_the_precision_itself_is_below_the_floor_no_number_of_labels_will_do() -> None:
    one = found([("yes", 0.9, place % 2 == 0) for place in range(100)])
    assert (one.threshold, one.more_labels) == (None, None)
    assert one.reason == f"the label alone falls short on all items; {NO_NUMBER}"
    scored = found([("yes", 0.9 - place % 3 / 10, place % 2 == 0) for place in range(100)])
    assert scored.reason == f"the one with the best chance falls short on the held-out half; {NO_NUMBER}"


def test_a_label_that_is_never_given_has_no_threshold() -> None:
    one = found([("no", 0.9, True), (None, None, True)] * 4)
    assert (one.threshold, one.tried, one.more_labels, one.flagged) == (None, None, None, 0)
    assert NEVER_GIVEN in one.reason
    assert one.precision.value is None
    assert one.precision.reason
    assert one.unanswered == 4


def test_an_unanswered_item_is_never_flagged_and_counts_as_missed() -> None:
    answers: list[Answer] = [("yes", 0.9, True)] * 60 + [(None, None, True)] * 60
    one = found(answers)
    assert (one.precision.value, one.unanswered) == (1.0, 60)
    assert one.recall.value == pytest.approx(one.flagged / 120)
    assert (one.recall.value or 1.0) < 1


def test_shares_of_votes_are_whole_votes_and_other_scores_are_not() -> None:
    answers: list[Answer] = [("yes", votes / 5, votes > 3) for votes in (3, 4, 5)] * 40
    voted = found(answers, votes=5)
    assert (voted.threshold, voted.votes, voted.votes_of) == (0.8, 4, 5)
    assert [step.threshold for step in voted.steps] == [0.8, 0.6]
    rounded = found([("yes", 0.3333333 if place % 3 else 0.6666667, True) for place in range(90)], votes=3)
    assert (rounded.votes, rounded.votes_of, rounded.flagged) == (1, 3, 90)
    assert "at least 4 of 5 votes" in threshold_sentence(voted, "strict")
    mean = found([("yes", (score or 0) - 0.03, right) for _, score, right in answers], votes=5)
    assert (mean.threshold, mean.votes, mean.votes_of) == (pytest.approx(0.77), None, None)


def test_a_verdict_without_a_score_is_flagged_by_the_label_alone() -> None:
    one = found([("yes", 0.7, True), ("yes", None, False)] * 60)
    assert (one.threshold, one.precision.value) == (0.7, 1.0)
    assert one.steps[-1].threshold == LABEL_ALONE
    assert one.steps[-1].flagged == 60


def test_many_different_scores_are_tested_at_no_more_than_twenty_thresholds() -> None:
    rng = np.random.default_rng(2)
    one = found([("yes", float(score), bool(rng.random() < score)) for score in rng.random(900)])
    thresholds = [step.threshold for step in one.steps]
    assert len(thresholds) <= 20
    assert thresholds == sorted(thresholds, reverse=True)
    assert 0.5 < one.threshold < 0.95


@settings(deadline=None)
@given(ITEMS, st.integers(0, 5), st.sampled_from([1, 2]), st.sampled_from([0.3, 0.8]))
def test_whatever_the_answers_a_threshold_is_given_out_exactly_where_its_bound_holds(answers, seed, run_size, floor):
    if run_size == 2 and len(answers) < 3:
        return
    one = found(answers, floor, run_size=run_size, seed=seed)
    holds = one.precision.low is not None and one.precision.low >= floor
    assert (one.threshold is not None) == holds == (not one.reason)
    assert one.calibration + one.held_out == len(answers)
    assert min(one.calibration, one.held_out) > 0
    assert (one.more_labels is None) or one.more_labels > 0
    assert threshold_table(one, "strict", "made up").finding.endswith(".")


@pytest.mark.parametrize(
    ("answers", "options"),
    [
        ([("yes", 0.9, True)], {}),
        ([("yes", 0.9, True)] * 4, {"run_size": 4}),
        ([("yes", 0.9, True)] * 4, {"floor": 1.0}),
        ([], {}),
    ],
)
def test_what_cannot_be_calibrated_is_refused(answers: list[Answer], options: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        found(answers, **options)  # type: ignore[arg-type]


def test_the_table_says_what_was_tested_on_which_half() -> None:
    table = threshold_table(found(scored(np.random.default_rng(1), 800, 0.95, 0.3)), "strict", "made up")
    precision = table.rows[0]
    assert (precision.quantity, precision.group) == ("Precision", "Held-out half: a score of at least 0.9")
    assert precision.low is not None
    assert precision.high is None
    outcomes = ["not shown to keep the floor", "shown to keep the floor", "not shown to keep the floor"]
    assert [row.reason for row in table.rows[3:]] == outcomes
