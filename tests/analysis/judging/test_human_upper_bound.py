"""The judge against people, and people against each other."""

from itertools import combinations

import numpy as np
import pytest

from misstep_analysis.judging.human_upper_bound import NO_SHARED_ITEM, ONE_RATER, ceiling
from misstep_analysis.stats.raters.agreement import cohen_kappa, fleiss_kappa
from misstep_analysis.stats.raters.coefficients import ONE_CATEGORY
from tests.analysis.judging.samples import judged

RATERS = {
    "ann": ["a", "a", "b", "c", "b", "a", None, "a"],
    "bob": ["a", "b", "b", "c", "a", "a", "b", None],
    "cid": ["a", "a", "c", None, "b", "a", "b", None],
}
ANSWERS = ["a", "b", "b", "c", "b", "c", "b", "a"]
LABELS = ("a", "b", "c")


def shares() -> list[tuple[float, float]]:
    """Of each item with two labels, people's agreement and the judge's, counted pair by pair."""
    results = []
    for place, answer in enumerate(ANSWERS):
        labels = [given[place] for given in RATERS.values() if given[place]]
        if len(labels) >= 2:
            people = np.mean([first == second for first, second in combinations(labels, 2)])
            results.append((float(people), float(np.mean([label == answer for label in labels]))))
    return results


def test_agreement_is_the_mean_over_items_of_what_pairs_of_raters_and_the_judge_agree_on() -> None:
    result = ceiling(judged(ANSWERS, RATERS, LABELS), 300)
    people, judge = np.mean(shares(), axis=0)
    assert result.n == 7
    assert (result.people.value, result.judge.value) == (pytest.approx(people), pytest.approx(judge))
    assert result.difference.value == pytest.approx(judge - people)
    assert result.difference.low <= judge - people <= result.difference.high


def test_peoples_kappa_is_fleisss_over_the_items_with_two_labels() -> None:
    result = ceiling(judged(ANSWERS, RATERS, LABELS), 50)
    counts = [[sum(given[place] == label for given in RATERS.values()) for label in LABELS] for place in range(7)]
    assert result.people_kappa.value == pytest.approx(fleiss_kappa(counts).overall.value)


def test_against_raters_that_speak_as_one_the_judges_kappa_is_cohens() -> None:
    gold, answers = ["a"] * 10 + ["b"] * 5, ["a"] * 9 + ["b"] * 4 + ["a"] * 2
    result = ceiling(judged(answers, {"ann": gold, "bob": gold}, ("a", "b")), 50)
    assert result.judge_kappa.value == pytest.approx(cohen_kappa([[9, 1], [2, 3]]).value)
    assert result.people_kappa.value == 1.0


def test_each_rater_is_held_against_the_judge_and_the_other_raters_on_the_same_items() -> None:
    ann = ceiling(judged(ANSWERS, RATERS, LABELS), 50).raters[0]
    judge = [ANSWERS[place] == label for place, label in enumerate(RATERS["ann"][:6])]
    others = []
    for place, label in enumerate(RATERS["ann"][:6]):
        of_others = [RATERS[name][place] for name in ("bob", "cid") if RATERS[name][place]]
        others.append(np.mean([other == label for other in of_others]))
    assert (ann.rater, ann.judge.n) == ("ann", 6)
    assert ann.judge.value == pytest.approx(np.mean(judge))
    assert ann.others.value == pytest.approx(np.mean(others))
    assert ann.difference.value == pytest.approx(np.mean(judge) - np.mean(others))


def test_the_unanswered_agree_with_nobody_where_they_are_counted() -> None:
    result = ceiling(judged([None, *ANSWERS[1:]], RATERS, LABELS), 50)
    assert result.n == 6
    assert result.judge_all.n == 7
    assert result.judge_all.value == pytest.approx(sum(judge for _, judge in shares()[1:]) / 7)


def test_one_rater_is_no_ceiling() -> None:
    result = ceiling(judged(["yes", "no"], ["yes", "yes"]))
    for estimate in (result.people, result.judge, result.difference, result.people_kappa, result.kappa_difference):
        assert (estimate.value, estimate.reason) == (None, ONE_RATER)
    assert result.judge_all.reason == NO_SHARED_ITEM


def test_one_label_everywhere_leaves_kappa_undefined_and_agreement_whole() -> None:
    result = ceiling(judged(["yes"] * 3, {"ann": ["yes"] * 3, "bob": ["yes"] * 3}), 50)
    assert (result.people.value, result.judge.value) == (1.0, 1.0)
    assert (result.people_kappa.value, result.people_kappa.reason) == (None, ONE_CATEGORY)
