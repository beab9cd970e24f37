"""A judge's scores as a ranking of all items, and as probabilities on items held out."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.calibrated_scores import (
    AS_GIVEN,
    NO_PROBABILITIES,
    ONE_KIND,
    CalibratedBy,
    CalibratedScores,
    ScoreOf,
    calibrated_finding,
    calibrated_scores,
)
from misstep_harness.errors import UsageError
from misstep_harness.verdict import Verdict
from tests.analysis.judging.samples import YES_NO, labels_of, verdicts

RANDOM = np.random.default_rng(3)
TRUTH = RANDOM.random(400) < 0.4
SURE = np.where(RANDOM.random(400) < 0.75, 0.97, 0.9)
"""The judge says how sure it is; it is right three times out of four, whatever it says."""
RIGHT = RANDOM.random(400) < 0.75
ANSWERS = ["yes" if truth == right else "no" for truth, right in zip(TRUTH, RIGHT, strict=True)]
GOLD = labels_of({"Ann": ["yes" if truth else "no" for truth in TRUTH]})


def found(
    answers: list[str | None] | None = None,
    scores: list[float | None] | None = None,
    gold: list[GoldLabel] = GOLD,
    score_of: ScoreOf = "given",
    clusters: dict[str, str] | None = None,
) -> CalibratedScores:
    given: list[Verdict] = verdicts(answers or ANSWERS, scores or SURE.tolist())
    return calibrated_scores(given, gold, "yes", YES_NO, score_of=score_of, clusters=clusters, resamples=200, seed=1)


def method(of: CalibratedScores, name: str) -> CalibratedBy:
    return next(one for one in of.methods if one.method == name)


def test_ranking_and_average_precision_are_those_of_scikit_learn() -> None:
    values = [s if a == "yes" else 1 - s for s, a in zip(SURE, ANSWERS, strict=True)]
    one = found()
    assert one.ranking.value == pytest.approx(roc_auc_score(TRUTH, values))
    assert one.average_precision.value == pytest.approx(average_precision_score(TRUTH, values))
    assert (one.average_precision.low or 1) < (one.average_precision.value or 0) < (one.average_precision.high or 0)


@pytest.mark.parametrize("name", ["isotonic", "logistic"])
def test_an_overconfident_judge_is_corrected_on_items_that_nothing_was_fitted_on(name: str) -> None:
    one = found()
    calibrated = method(one, name)
    assert (calibrated.gain.high or 0) < 0  # better than as given, and not by chance
    assert (calibrated.calibration_error.value or 1) < (method(one, AS_GIVEN).calibration_error.value or 0) / 2
    assert one.fitted + one.held_out == one.n == 400


def test_the_brier_score_is_that_of_the_probabilities_that_are_given_out() -> None:
    one = found()
    given = one.probabilities["isotonic"]
    truth = {f"i{place}": yes for place, yes in enumerate(TRUTH)}
    expected = brier_score_loss([truth[item] for item in given], list(given.values()))
    assert method(one, "isotonic").brier.value == pytest.approx(expected)


def test_an_item_without_a_score_or_an_answer_is_counted_and_not_scored() -> None:
    answers, scores = list(ANSWERS), SURE.tolist()
    one = found([None, *answers[1:]], [0.9, None, *scores[2:]])
    assert (one.n, one.without_score) == (398, 2)


def test_a_grade_of_the_label_itself_is_no_confidence_in_the_label_given() -> None:
    grades = [0.8 if answer == "yes" else 0.2 for answer in ANSWERS]
    as_label, as_given = found(scores=grades, score_of="label"), found(scores=grades)
    assert as_label.ranking.value != as_given.ranking.value
    assert (as_label.ranking.value or 0) > 0.7


def test_scores_that_are_no_probabilities_still_rank_and_can_be_calibrated() -> None:
    one = found(scores=[10.0 if answer == "yes" else -3.0 for answer in ANSWERS], score_of="label")
    assert method(one, AS_GIVEN).brier.reason == NO_PROBABILITIES
    assert method(one, "logistic").brier.value is not None
    assert method(one, "logistic").gain.reason == NO_PROBABILITIES
    assert calibrated_finding(one, "strict").startswith("strict's scores rank items by “yes”")


def test_scores_that_tell_the_kinds_apart_do_not_make_the_logistic_curve_infinite() -> None:
    right = ["yes" if truth else "no" for truth in TRUTH]
    given = found(right, [0.9] * 400).probabilities["logistic"]
    assert 0 < min(given.values()) < max(given.values()) < 1


def test_items_of_one_kind_cannot_be_fitted_on() -> None:
    gold = labels_of({"Ann": ["no"] * 400})
    one = found(gold=gold)
    assert (method(one, "isotonic").brier.value, method(one, "isotonic").brier.reason) == (None, ONE_KIND)
    assert one.ranking.value is None
    assert one.average_precision.value is None


def test_a_judge_without_scores_is_refused() -> None:
    with pytest.raises(UsageError, match="no verdict on an item with a gold label has a score"):
        calibrated_scores(verdicts(["yes", "no"]), GOLD, "yes", YES_NO)


def test_the_score_of_an_answer_that_is_none_of_the_labels_ranks_no_item() -> None:
    answers = [
        "ERROR" if not truth and place % 3 else one
        for place, (one, truth) in enumerate(zip(ANSWERS, TRUTH, strict=True))
    ]
    one, strange = found(answers), answers.count("ERROR")
    assert (one.n, one.without_score) == (400 - strange, strange)
    kept = [place for place, answer in enumerate(answers) if answer != "ERROR"]
    values = [SURE[place] if answers[place] == "yes" else 1 - SURE[place] for place in kept]
    assert one.ranking.value == pytest.approx(roc_auc_score(TRUTH[kept], values))
    assert found(answers, score_of="label").n == 400
