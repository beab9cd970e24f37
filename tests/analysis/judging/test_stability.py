"""Whether a judge says the same again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.judging.stability import NO_SHARES, NOT_TWICE, ONE_VOTE, stability, votes_within
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.agreement import fleiss_kappa
from misstep_harness.errors import UsageError
from tests.analysis.judging.samples import again, judged
from tests.analysis.stats.quantities.agreement import krippendorff_alpha

GOLD = ["yes"] * 4 + ["no"] * 4
RUNS = [
    ["yes", "yes", "yes", "no", "no", "no", "no", "yes"],
    ["yes", "yes", "no", "no", "no", "no", "no", "no"],
    ["yes", "yes", "yes", "no", "no", "yes", None, None],
]


def test_a_label_changes_where_two_answers_differ_and_an_outcome_also_where_one_is_missing() -> None:
    result = stability([judged(answers, GOLD) for answers in RUNS], 50)
    assert result.changed == wilson(3, 8)
    assert result.changed_all == wilson(4, 8)


def test_each_runs_accuracy_counts_the_unanswered_as_wrong() -> None:
    result = stability([judged(answers, GOLD) for answers in RUNS], 50)
    assert result.accuracies == (wilson(6, 8), wilson(6, 8), wilson(4, 8))
    assert result.spread == pytest.approx(0.25)
    assert result.deviation == pytest.approx(np.std([0.75, 0.75, 0.5], ddof=1))


def test_only_items_that_all_runs_asked_about_count() -> None:
    result = stability([judged(RUNS[0], GOLD), judged(RUNS[1][:5], GOLD[:5])], 50)
    assert result.n == 5
    assert result.changed == wilson(1, 5)


def test_runs_of_items_are_the_sample_where_items_are_of_runs() -> None:
    alone = stability([judged(answers, GOLD) for answers in RUNS], 2_000)
    many = stability([judged(again(3, answers), again(3, GOLD), runs=3) for answers in RUNS], 2_000)
    assert many.agreement.value == pytest.approx(alone.agreement.value)
    assert many.agreement.low == pytest.approx(alone.agreement.low, abs=0.05)
    assert "8 clusters" in many.changed.method


@given(
    st.lists(st.lists(st.sampled_from(["yes", "no", "perhaps", None]), min_size=3, max_size=3), min_size=1, max_size=9)
)
def test_the_figures_are_those_of_runs_as_raters(answers: list[list[str | None]]) -> None:
    labels = ("yes", "no", "perhaps")
    result = stability([judged(list(run), ["yes"] * len(answers), labels) for run in zip(*answers, strict=True)], 20)
    counts = np.array([[item.count(label) for label in labels] for item in answers])
    if (counts.sum(axis=1) >= 2).any():
        kappa, alpha = fleiss_kappa(counts).overall, krippendorff_alpha(counts)
        assert result.agreement.value == pytest.approx(kappa.observed)
        for estimate, coefficient in ((result.fleiss_kappa, kappa), (result.krippendorff_alpha, alpha)):
            assert estimate.value == (None if coefficient.value is None else pytest.approx(coefficient.value))
        assert result.changed.value == np.mean((counts > 0).sum(axis=1)[counts.sum(axis=1) >= 2] > 1)
    else:
        assert (result.agreement.value, result.agreement.reason) == (None, NOT_TWICE)


def test_one_run_runs_without_an_item_in_common_and_other_labels_are_refused() -> None:
    run = judged(["yes"], ["yes"])
    with pytest.raises(UsageError, match="needs two runs"):
        stability([run])
    with pytest.raises(UsageError, match="no item"):
        stability([judged([], []), run])
    with pytest.raises(UsageError, match="different labels"):
        stability([run, judged(["yes"], ["yes"], ("no", "yes"))])


def test_votes_are_counted_from_the_scores() -> None:
    sample = judged(["yes", "yes", "no", "no", None], ["yes", "yes", "yes", "no", "no"], scores=[1, 1, 0.6, 0.8, None])
    result = votes_within(sample, 5)
    assert result.unanimous == wilson(2, 4)
    assert [(one.votes, one.n, one.accuracy) for one in result.by_votes] == [
        (5, 2, wilson(2, 2)),
        (4, 1, wilson(1, 1)),
        (3, 1, wilson(0, 1)),
    ]


def test_one_vote_and_scores_that_are_no_shares_say_nothing() -> None:
    sample = judged(["yes", "no"], ["yes", "no"], scores=[0.9, 0.55])
    assert votes_within(sample, 1).reason == ONE_VOTE
    assert votes_within(sample, 5).reason == NO_SHARES
    assert votes_within(judged(["yes"], ["yes"]), 3).reason == NO_SHARES
