"""Whether a judge could stand in for a rater."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from misstep_analysis.judging.human_upper_bound import alternative_annotator
from tests.analysis.judging.samples import again, judged

Labels = list[str | None]


def noisy(rng: np.random.Generator, truth: Labels, right: float, labels: tuple[str, ...]) -> Labels:
    """The truth, replaced by any label where chance has it."""
    return [label if rng.random() < right else str(rng.choice(labels)) for label in truth]


def forty(seed: int = 1) -> tuple[Labels, dict[str, Labels]]:
    rng = np.random.default_rng(seed)
    truth: Labels = rng.choice(["yes", "no"], size=40).tolist()
    raters = {name: noisy(rng, truth, 0.6, ("yes", "no")) for name in ("ann", "bob", "cid")}
    return noisy(rng, truth, 0.7, ("yes", "no")), raters


def by_hand(answers: Labels, raters: dict[str, Labels]) -> dict[str, tuple[list[float], list[float]]]:
    """Rater → on each item, whether the judge and whether the rater is at least as near to the others."""
    results = {}
    for left_out, own in raters.items():
        judge, human = [], []
        for place, answer in enumerate(answers):
            others = [labels[place] for name, labels in raters.items() if name != left_out]
            near = sum(other == answer for other in others)
            own_near = sum(other == own[place] for other in others)
            judge.append(float(near >= own_near))
            human.append(float(own_near >= near))
        results[left_out] = (judge, human)
    return results


def test_advantages_and_p_values_are_those_worked_out_item_by_item() -> None:
    answers, raters = forty()
    result = alternative_annotator(judged(answers, raters), epsilon=0.1)
    p_values = []
    for one in result.raters:
        judge, human = by_hand(answers, raters)[one.rater]
        assert (one.n, one.judge, one.human) == (40, pytest.approx(np.mean(judge)), pytest.approx(np.mean(human)))
        p_values.append(ttest_1samp(np.subtract(human, judge), 0.1, alternative="less").pvalue)
    assert [one.p_value for one in result.raters] == pytest.approx(p_values)
    rejected, adjusted, *_ = multipletests(p_values, alpha=0.05, method="fdr_by")
    assert [one.p_adjusted for one in result.raters] == pytest.approx(list(adjusted))
    assert result.winning_rate == pytest.approx(np.mean(rejected))
    assert result.replaces is (result.winning_rate >= 0.5)
    assert result.advantage.value == pytest.approx(np.mean([one.judge for one in result.raters]))


def test_a_judge_that_says_what_most_raters_say_replaces_any_of_them() -> None:
    _, raters = forty()
    most: Labels = [max(set(labels), key=labels.count) for labels in zip(*raters.values(), strict=True)]
    result = alternative_annotator(judged(most, raters))
    assert (result.winning_rate, result.replaces) == (1.0, True)
    assert result.advantage.value == 1.0


def test_on_a_scale_a_near_miss_is_nearer_than_a_far_one() -> None:
    raters: dict[str, Labels] = {"ann": ["1"] * 30, "bob": ["2"] * 30, "cid": ["2"] * 30}
    scale = ("1", "2", "3", "4")
    near, far = (alternative_annotator(judged([said] * 30, raters, scale, level="ordinal")) for said in ("3", "4"))
    by_name = judged(["4"] * 30, raters, scale)
    # To bob and cid ann is one step away: as far as 3, nearer than 4, and by name as wrong as either.
    assert (near.raters[0].judge, near.raters[0].human) == (1.0, 1.0)
    assert (far.raters[0].judge, far.raters[0].human) == (0.0, 1.0)
    assert alternative_annotator(by_name).raters[0].judge == 1.0
    assert (far.alignment, alternative_annotator(by_name).alignment) == ("-RMSE", "accuracy")


@pytest.mark.parametrize("labels", [("low", "middle", "high"), ("0", "1", "inf")])
def test_labels_that_are_no_numbers_are_as_far_apart_as_they_stand(labels: tuple[str, ...]) -> None:
    low, middle, high = labels
    raters: dict[str, Labels] = {"ann": [low] * 30, "bob": [low] * 30, "cid": [middle] * 30}
    by_rater = {
        one.rater: one for one in alternative_annotator(judged([high] * 30, raters, labels, level="ordinal")).raters
    }
    assert (by_rater["cid"].judge, by_rater["cid"].human) == (0.0, 1.0)


def test_too_few_raters_or_items_are_undefined_with_a_reason() -> None:
    answers, raters = forty()
    two = alternative_annotator(judged(answers, {name: raters[name] for name in ("ann", "bob")}))
    assert (two.winning_rate, two.replaces, two.winning_rate_all) == (None, None, None)
    assert "2 of 2 raters" in two.reason
    short = {name: labels[:20] for name, labels in raters.items()}
    few = alternative_annotator(judged(answers[:20], short))
    assert (few.winning_rate, few.left_out) == (None, 3)
    assert few.advantage.reason == few.reason


def test_a_rater_with_too_few_items_is_left_out_and_still_one_of_the_others() -> None:
    answers, raters = forty()
    without_dan = alternative_annotator(judged(answers, raters))
    raters["dan"] = [*["yes"] * 29, *[None] * 11]
    result = alternative_annotator(judged(answers, raters))
    assert [one.rater for one in result.raters] == ["ann", "bob", "cid"]
    assert result.left_out == 1
    assert [one.human for one in result.raters] != [one.human for one in without_dan.raters]


def test_unanswered_items_are_left_out_and_again_counted_as_lost() -> None:
    _, raters = forty()
    most: Labels = [max(set(labels), key=labels.count) for labels in zip(*raters.values(), strict=True)]
    four_times = {name: again(4, labels) for name, labels in raters.items()}
    result = alternative_annotator(judged(again(4, [*most[:31], *[None] * 9]), four_times), 0.0)
    assert result.raters[0].n == 124
    assert (result.winning_rate, result.replaces) == (1.0, True)
    assert (result.winning_rate_all, result.replaces_all) == (0.0, False)


def test_an_answer_that_is_no_label_is_an_answer_and_loses() -> None:
    _, raters = forty()
    result = alternative_annotator(judged(["perhaps"] * 40, raters))
    assert all((one.n, one.judge) == (40, 0.0) or one.human == 1.0 for one in result.raters)
    assert result.winning_rate == 0.0


def test_runs_are_the_sample_where_items_are_of_runs() -> None:
    answers, raters = forty()
    alone = alternative_annotator(judged(answers, raters))
    many = alternative_annotator(
        judged(again(3, answers), {name: again(3, labels) for name, labels in raters.items()}, runs=3)
    )
    assert many.units == "40 clusters"
    assert [one.p_value for one in many.raters] == pytest.approx([one.p_value for one in alone.raters])
    assert many.advantage.low == pytest.approx(alone.advantage.low)
