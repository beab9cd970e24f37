"""Whether scores can be taken at their word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, roc_auc_score

from misstep_analysis.judging.calibrated_scores import BY_CHANCE, NO_PROBABILITIES, reliability
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables.wording import number_text
from tests.analysis.judging.samples import judged

SCORES = [0.9] * 6 + [0.6] * 4
RIGHT = [True, True, True, True, False, False, True, True, False, False]
ANSWERS = ["yes" if right else "no" for right in RIGHT]
GOLD = ["yes"] * 10


def test_a_bin_is_one_score_where_there_are_few() -> None:
    low, high = reliability(judged(ANSWERS, GOLD, scores=SCORES)).bins
    assert (low.n, low.lowest, low.highest, low.right) == (4, 0.6, 0.6, wilson(2, 4))
    assert (high.n, high.mean_score, high.right) == (6, pytest.approx(0.9), wilson(4, 6))


def test_the_calibration_error_is_the_mean_distance_over_answers() -> None:
    result = reliability(judged(ANSWERS, GOLD, scores=SCORES))
    assert result.expected_calibration_error.value == pytest.approx((6 * (0.9 - 4 / 6) + 4 * (0.6 - 0.5)) / 10)
    assert result.overconfidence.value == pytest.approx(0.78 - 0.6)


def test_brier_score_and_ranking_are_those_of_scikit_learn() -> None:
    result = reliability(judged(ANSWERS, GOLD, scores=SCORES))
    assert result.brier.value == pytest.approx(brier_score_loss(RIGHT, SCORES))
    assert result.ranking.value == pytest.approx(roc_auc_score(RIGHT, SCORES))


def test_a_calibrated_judge_errs_by_chance_only_as_much_as_is_said() -> None:
    rng = np.random.default_rng(7)
    found = []
    for _ in range(40):
        scores = rng.choice([0.55, 0.7, 0.9], size=300)
        answers = ["yes" if right else "no" for right in rng.random(300) < scores]
        found.append(reliability(judged(answers, ["yes"] * 300, scores=scores.tolist())))
    errors = [one.expected_calibration_error.value for one in found]
    assert np.mean(errors) == pytest.approx(np.mean([one.calibrated_error for one in found]), rel=0.12)  # type: ignore[type-var]
    assert abs(np.mean([one.overconfidence.value for one in found])) < 0.02  # type: ignore[type-var]


def test_the_calibration_error_has_no_interval_and_says_what_chance_gives_a_perfect_judge() -> None:
    scores = np.linspace(0.05, 0.95, 10).repeat(20).tolist()
    answers = ["yes" if place % 20 < 20 * score else "no" for place, score in enumerate(scores)]
    result = reliability(judged(answers, ["yes"] * 200, scores=scores))
    error, by_chance = result.expected_calibration_error, result.calibrated_error or 0.0
    assert (error.value, error.low, error.high) == (pytest.approx(0), None, None)
    assert by_chance > 0.05
    assert error.reason == BY_CHANCE.format(number_text(by_chance, "coefficient"))


def test_verdicts_without_a_score_are_counted_and_left_out() -> None:
    result = reliability(judged(ANSWERS, GOLD, scores=[*SCORES[:8], None, None]))
    assert result.scored == wilson(8, 10)
    assert result.brier.n == 8


def test_scores_that_are_no_probabilities_still_rank() -> None:
    result = reliability(judged(ANSWERS, GOLD, scores=[5.0] * 6 + [3.0] * 4))
    assert (result.brier.value, result.brier.reason) == (None, NO_PROBABILITIES)
    assert result.ranking.value == pytest.approx(roc_auc_score(RIGHT, SCORES))


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_every_scored_answer_is_in_one_bin_and_figures_stay_in_range(items: list[tuple[float, bool]]) -> None:
    answers = ["yes" if right else "no" for _, right in items]
    result = reliability(judged(answers, ["yes"] * len(items), scores=[score for score, _ in items]))
    assert sum(one.n for one in result.bins) == len(items)
    assert 1 <= len(result.bins) <= 10
    for estimate in (result.expected_calibration_error, result.brier):
        assert 0 <= estimate.value <= 1
