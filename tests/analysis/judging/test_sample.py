"""A run's verdicts beside people's labels."""

import pytest

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.sample import judged_sample
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_harness.errors import InputError
from misstep_harness.verdict import Verdict
from tests.analysis.judging.samples import judged


def test_answers_outside_the_labels_and_no_answers_have_codes_of_their_own() -> None:
    sample = judged(["no", "perhaps", None, "yes"], ["no", "yes", "yes", None])
    assert sample.answers.tolist() == [1, sample.codes.unknown, sample.codes.unanswered, 0]
    assert sample.gold.tolist() == [1, 0, 0, MISSING]
    assert sample.answered.tolist() == [True, True, False, True]
    assert sample.right.tolist() == [True, False, False, False]


def test_every_label_of_a_rater_is_kept_and_a_tie_is_no_gold_label() -> None:
    sample = judged(["yes", "no"], {"ann": ["yes", "no"], "bob": ["no", None]})
    assert sample.raters == ("ann", "bob")
    assert sorted(sample.ratings.tolist()) == [[0, 0, 0], [0, 1, 1], [1, 0, 1]]
    assert sample.gold.tolist() == [MISSING, 1]
    assert sample.label_counts().tolist() == [[1, 1], [0, 1]]


def test_labels_of_items_that_were_not_asked_are_left_out() -> None:
    sample = judged_sample([Verdict("a", "j", "yes")], [GoldLabel("a", "r", "yes"), GoldLabel("b", "r", "no")])
    assert sample.labels == ("no", "yes")
    assert sample.ratings.tolist() == [[0, 0, 1]]


def test_open_labels_are_those_of_all_raters_in_the_minority_too() -> None:
    gold = [GoldLabel("a", rater, label) for rater, label in (("r", "x"), ("s", "x"), ("t", "z"))]
    assert judged_sample([], gold).labels == ("x", "z")


def test_a_label_that_is_none_of_the_benchmarks_is_an_error() -> None:
    with pytest.raises(InputError, match="'r' labelled 'a' 'maybe', which is none of yes, no"):
        judged_sample([], [GoldLabel("a", "r", "maybe")], ("yes", "no"))
