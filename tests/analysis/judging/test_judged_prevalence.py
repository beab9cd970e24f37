"""How often the positive label holds, put right for the judge's errors."""

import numpy as np
import pytest

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.assessment import (
    ALL_GOLD,
    NEVER_POSITIVE,
    NO_GOLD,
    NO_NEGATIVE_ITEM,
    NO_POSITIVE,
    NO_POSITIVE_ITEM,
    NOTHING_ANSWERED,
    assess,
    assessment_tables,
    judged_prevalence,
)
from misstep_analysis.stats.correction import rogan_gladen
from misstep_analysis.stats.proportions import wilson
from misstep_harness.verdict import Verdict
from tests.analysis.judging.samples import again, judged

ANSWERS = ["yes"] * 30 + ["no"] * 70
GOLD = [*["yes"] * 12, *["no"] * 3, *[None] * 15, *["yes"] * 2, *["no"] * 18, *[None] * 50]


def test_where_some_items_have_gold_their_errors_are_carried_over_to_all() -> None:
    result = judged_prevalence(judged(ANSWERS, GOLD))
    assert (result.answered, result.labelled, result.unanswered) == (100, 35, 0)
    assert result.judge == wilson(30, 100)
    assert result.people == wilson(14, 35)
    assert (result.sensitivity, result.specificity) == (wilson(12, 14), wilson(18, 21))
    assert result.corrected == rogan_gladen((30, 100), (12, 14), (18, 21)).estimate
    assert result.prediction_powered.value == pytest.approx(0.30 + (14 - 15) / 35)


def test_where_all_items_have_gold_nothing_is_carried_over() -> None:
    result = judged_prevalence(judged(["yes", "no", "no"], ["yes", "no", "yes"]))
    assert result.people == wilson(2, 3)
    for estimate in (result.corrected, result.prediction_powered):
        assert (estimate.value, estimate.reason) == (None, ALL_GOLD)


def test_the_unanswered_leave_the_judges_share_open() -> None:
    result = judged_prevalence(judged(["yes", "no", None, None], ["yes", "no", None, None]))
    assert (result.judge.value, result.lowest, result.highest) == (0.5, 0.25, 0.75)


def test_a_judge_that_tells_nothing_corrects_nothing() -> None:
    gold = [*["yes"] * 4, *["no"] * 4, *[None] * 12]
    result = judged_prevalence(judged(["yes", "no"] * 10, gold))
    assert result.corrected.value is None
    assert "tells nothing" in result.corrected.reason
    clustered = judged_prevalence(judged(again(2, ["yes", "no"] * 10), again(2, gold), runs=2))
    assert clustered.corrected.value is None
    assert "tells nothing" in clustered.corrected.reason


@pytest.mark.parametrize(
    ("answers", "gold", "positive", "reason"),
    [
        (["yes"], [None], "yes", NO_GOLD),
        ([None], ["yes"], "yes", NOTHING_ANSWERED),
        (["yes"], ["yes"], "", NO_POSITIVE),
    ],
)
def test_what_cannot_be_told_is_missing_with_a_reason(answers, gold, positive, reason) -> None:
    result = judged_prevalence(judged(answers, gold, positive=positive))
    assert (result.corrected.value, result.corrected.reason) == (None, reason)


def test_runs_are_the_sample_where_items_are_of_runs() -> None:
    alone = judged_prevalence(judged(ANSWERS, GOLD))
    many = judged_prevalence(judged(again(3, ANSWERS), again(3, GOLD), runs=3))
    assert many.corrected.value == pytest.approx(alone.corrected.value)
    assert many.prediction_powered.low == pytest.approx(alone.prediction_powered.low, abs=0.02)
    assert "100 clusters" in many.corrected.method


def test_the_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(8)
    held = np.zeros(2)
    for _ in range(80):
        truth = rng.random(300) < 0.3
        flags = np.where(rng.random(300) < np.where(truth, 0.8, 0.9), truth, ~truth)
        gold = [("yes" if holds else "no") if place < 90 else None for place, holds in enumerate(truth)]
        result = judged_prevalence(judged(["yes" if flag else "no" for flag in flags], gold))
        for place, estimate in enumerate((result.corrected, result.prediction_powered)):
            assert estimate.low is not None
            assert estimate.high is not None
            held[place] += estimate.low <= 0.3 <= estimate.high
    assert (held >= 70).all()


@pytest.mark.parametrize(("gold", "reason"), [("no", NO_POSITIVE_ITEM), ("yes", NO_NEGATIVE_ITEM)])
def test_runs_with_labels_of_one_kind_only_say_which_is_missing(gold: str, reason: str) -> None:
    result = judged_prevalence(judged(["yes", "no"] * 4, [gold] * 6 + [None] * 2, runs=2))
    assert (result.corrected.value, result.corrected.reason) == (None, reason)


def test_a_positive_label_that_nobody_gave_where_labels_are_open_is_said_to_be_so() -> None:
    result = judged_prevalence(judged(["no", "no"], ["no", "no"], ()))
    assert (result.positive, result.judge.reason) == ("", NEVER_POSITIVE)
    unnamed = judged_prevalence(judged(["no", "no"], ["no", "no"], (), positive=""))
    assert unnamed.judge.reason == NO_POSITIVE


VERDICTS = [Verdict(f"i{place}", "judge", "yes" if place < 3 else "no") for place in range(12)]
VERDICTS += [Verdict("i12", "judge", None, "failed")]


def _assess(gold: list[GoldLabel]):
    return assess(VERDICTS, gold, ("no", "yes"), judge="judge", benchmark="mine", positive="yes", resamples=10)


def test_the_shares_are_of_the_answered_and_the_label_that_is_looked_for_comes_first() -> None:
    result = _assess([]).given
    assert (result.answered, result.unanswered, result.labelled) == (12, 1, 0)
    assert [(label, share.value, share.n) for label, share in result.shares.items()] == [
        ("yes", 0.25, 12),
        ("no", 0.75, 12),
    ]


def test_without_gold_labels_the_finding_is_the_share_and_no_table_scores_anything() -> None:
    assessment = _assess([])
    names = [table.name for table in assessment_tables(assessment, "mine")]
    assert names[0] == "label_shares"
    assert not {"scores", "bias", "prevalence"} & set(names)
    finding = assessment_tables(assessment, "mine")[0].finding
    assert finding.startswith("judge says “yes” of 3 of the 12 answered items of mine, 25.0% (95% interval ")
    assert "how often it is right is not known" in finding


def test_with_some_gold_labels_the_scores_come_first_and_the_share_is_corrected() -> None:
    assessment = _assess([GoldLabel(f"i{place}", "kim", "yes" if place < 2 else "no") for place in range(6)])
    names = [table.name for table in assessment_tables(assessment, "mine")]
    assert (names[0], "prevalence" in names) == ("scores", True)
    assert assessment.scores.accuracy.n == 6
