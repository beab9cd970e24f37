"""Judges under two rules for the gold label of an item."""

import pytest

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.judging.people.gold_policies import (
    JUDGES_ALIKE,
    NO_SHARED_LABEL,
    ONE_JUDGE,
    PoliciesCompared,
    compare_policies,
    gold_policy,
    labels_under,
    policies_finding,
)
from misstep.analysis.measures.judging.scores import score
from misstep.harness.errors import UsageError
from tests.analysis.measures.judging.samples import YES_NO, labels_of, verdicts

GOLD = labels_of(
    {
        "Ann": ["yes", "yes", "yes", "no", "no", "no", "no", "yes"],
        "Bea": ["yes", "yes", "no", "no", "no", "yes", "no", None],
        "Cid": ["yes", "yes", "no", "no", "no", "no", "no", None],
    }
)
LIKE_MOST = ["yes", "yes", "no", "no", "no", "no", "no", "no"]
LIKE_ANY = ["yes", "yes", "yes", "no", "no", "yes", "no", "no"]


def under(name: str) -> dict[str, str]:
    return labels_under(gold_policy(name, GOLD), GOLD)


def compared(first: str, second: str, *judges: list[str | None]) -> PoliciesCompared:
    runs = {f"judge {place}": verdicts(answers) for place, answers in enumerate(judges, start=1)}
    policies = gold_policy(first, GOLD), gold_policy(second, GOLD)
    return compare_policies(runs, GOLD, policies, YES_NO, resamples=300)


def test_each_policy_decides_from_the_same_labels() -> None:
    assert [under("majority")[f"i{place}"] for place in (2, 5, 7)] == ["no", "no", "yes"]
    assert sorted(under("unanimous")) == ["i0", "i1", "i3", "i4", "i6"]  # one rater alone is not unanimous
    assert [under("any:yes")[f"i{place}"] for place in (2, 4, 5)] == ["yes", "no", "yes"]
    assert under("raters:Ann") == {row.item: row.label for row in GOLD if row.rater == "Ann"}


def test_a_tie_leaves_an_item_without_a_label_unless_the_policy_decides_it() -> None:
    tied = [GoldLabel("i0", "Ann", "yes"), GoldLabel("i0", "Bea", "no")]
    assert labels_under(gold_policy("majority", tied), tied) == {}
    assert labels_under(gold_policy("any:no", tied), tied) == {"i0": "no"}


def test_the_best_judge_may_depend_on_the_policy() -> None:
    result = compared("majority", "any:yes", list(LIKE_MOST), list(LIKE_ANY))
    assert result.first == (("judge 1",), ("judge 2",))
    assert policies_finding(result).startswith(
        "The best judge depends on the policy: judge 1 under majority; judge 2 under any:yes"
    )
    assert (result.changed.value, result.shared, result.labelled) == (0.25, 8, (8, 8))
    assert result.tau.value == -1.0


def test_figures_under_a_policy_are_those_of_a_run_scored_against_its_labels() -> None:
    (judge,) = compared("majority", "unanimous", ["yes", None, "yes", "no", "no", "no", "no", "no"]).judges
    decided = [GoldLabel(item, "policy", label) for item, label in under("unanimous").items()]
    scores = score(verdicts(["yes", None, "yes", "no", "no", "no", "no", "no"]), decided, YES_NO, resamples=300)
    assert judge.accuracy[1] == scores.accuracy_all
    assert judge.accuracy[1].value == 0.8  # the unanswered item is wrong
    assert judge.difference.value == pytest.approx(4 / 5 - 5 / 8)
    assert judge.difference_shared.value == 0.0  # no label differs where both policies decide


def test_one_judge_has_no_order_and_equal_judges_have_none() -> None:
    alone = compared("majority", "unanimous", list(LIKE_MOST))
    assert (alone.tau.value, alone.tau.reason, alone.first_changes.value) == (None, ONE_JUDGE, None)
    twins = compared("majority", "any:yes", list(LIKE_MOST), list(LIKE_MOST))
    assert (twins.tau.value, twins.tau.reason) == (None, JUDGES_ALIKE)
    assert "are most accurate under both" in policies_finding(twins)


def test_policies_that_share_no_item_give_no_difference_on_shared_ones() -> None:
    gold = [GoldLabel("i0", "Ann", "yes"), GoldLabel("i1", "Bea", "no")]
    policies = gold_policy("raters:Ann", gold), gold_policy("raters:Bea", gold)
    result = compare_policies({"one": verdicts(["yes", "yes"])}, gold, policies, YES_NO, resamples=100)
    assert (result.shared, result.changed.value, result.changed.reason) == (0, None, NO_SHARED_LABEL)
    assert result.judges[0].difference_shared.reason == NO_SHARED_LABEL
    assert result.judges[0].difference.value == -1.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("any:maybe", "no rater gave the label 'maybe'"),
        ("raters:Dot", "no labels by Dot"),
        ("best", "'best' is not a policy"),
        ("any:", "'any:' is not a policy"),
    ],
)
def test_a_policy_that_cannot_be_is_refused_with_what_there_is(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        gold_policy(name, GOLD)


def test_a_policy_that_decides_nothing_that_was_asked_is_refused() -> None:
    gold = [GoldLabel("i0", "Ann", "yes")]
    policies = gold_policy("majority", gold), gold_policy("unanimous", gold)
    with pytest.raises(UsageError, match="under the policy unanimous no item"):
        compare_policies({"one": verdicts(["yes"])}, gold, policies, YES_NO)
