"""Judges compared in pairs: on the same items, the unanswered against them, runs of several items together."""

from collections.abc import Mapping, Sequence
from math import ceil

import pytest

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.comparison import (
    NO_DIFFERENCE,
    NONE_ANSWERED,
    NONE_SHARED,
    PairedJudges,
    Test,
    compare_judges,
    compared_runs_table,
    comparison_table,
    pair_sentence,
)
from misstep_analysis.judging.scores import score
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep_analysis.stats.decisions.power import sample_size_paired
from misstep_harness.verdict import Verdict


def verdicts(judge: str, answers: Mapping[str, str | None]) -> list[Verdict]:
    return [Verdict(item, judge, answer, "answered" if answer else "unreadable") for item, answer in answers.items()]


def compared(
    answers: Sequence[tuple[str | None, str | None]], clusters: Mapping[str, str] | None = None, test: Test = "mcnemar"
) -> PairedJudges:
    """Judges a and b, whose answers come in pairs; the gold label is always yes."""
    items = {f"i{place}": pair for place, pair in enumerate(answers)}
    runs = {name: verdicts(name, {item: pair[side] for item, pair in items.items()}) for side, name in enumerate("ab")}
    gold = [GoldLabel(item, "rater", "yes") for item in items]
    (pair,) = compare_judges(runs, gold, clusters=clusters, test=test, resamples=300)
    return pair


MIXED = [("yes", "yes")] * 12 + [("yes", "no")] * 7 + [("no", "yes")] * 2 + [("no", "no")] * 3 + [("yes", None)] * 2


def test_an_unanswered_item_counts_as_wrong_and_the_difference_without_such_items_stands_beside_it() -> None:
    pair = compared(MIXED)
    assert (pair.both, pair.only_a, pair.only_b, pair.neither) == (12, 9, 2, 3)
    table = PairedTable(12, 9, 2, 3)
    interval = paired_score_interval(table)
    assert (pair.n, pair.difference, pair.low, pair.high) == (26, 7 / 26, interval.low, interval.high)
    assert (pair.p_value, pair.p_adjusted, pair.test) == (mcnemar_mid_p(table).p_value,) * 2 + ("McNemar, mid-p",)
    answered = PairedTable(12, 7, 2, 3)
    assert (pair.answered.n, pair.answered.difference) == (24, 5 / 24)
    assert pair.answered.p_value == mcnemar_mid_p(answered).p_value
    assert pair.n_needed == ceil(sample_size_paired(11 / 26, 7 / 26))


def test_an_item_that_only_one_was_asked_about_or_that_has_no_gold_label_counts_for_nothing() -> None:
    runs = {
        "a": verdicts("a", {"both": "yes", "only a": "no", "no gold": "no", "tied": "yes"}),
        "b": verdicts("b", {"both": "no", "only b": "no", "no gold": "yes", "tied": "no"}),
    }
    gold = [GoldLabel(item, "rater", "yes") for item in ("both", "only a", "only b", "tied")]
    (pair,) = compare_judges(runs, [*gold, GoldLabel("tied", "other rater", "no")])
    assert (pair.n, pair.only_a) == (1, 1)


def test_where_items_are_of_one_run_the_runs_are_what_is_tested() -> None:
    answers: list[tuple[str | None, str | None]] = [("yes", "no")] * 12 + [("yes", "yes"), ("no", "yes")] * 4
    clusters = {f"i{place}": f"run {place // 4}" for place in range(20)}
    pair = compared(answers, clusters)
    assert "over clusters" in pair.test
    assert "clustered" in pair.method
    # Differences by run are 4, 4, 4, -2, -2: of the 32 choices of signs 8 are as far from 0 as 8, and 4 further.
    sums = [(4 * a + 4 * b + 4 * c + 2 * d + 2 * e) for a in S for b in S for c in S for d in S for e in S]
    as_far, further = sum(abs(one) == 8 for one in sums), sum(abs(one) > 8 for one in sums)
    assert pair.p_value == pytest.approx((further + as_far / 2) / 32)
    assert (pair.p_value or 0) > (compared(answers).p_value or 0)
    assert (pair.n_needed or 0) > (compared(answers).n_needed or 0)
    assert "clusters" in compared(answers, clusters, "bootstrap").test


S = (-1, 1)


def test_what_cannot_be_compared_is_missing_with_a_reason_and_never_0() -> None:
    runs = {"a": verdicts("a", {"x": "yes"}), "b": verdicts("b", {"y": "yes"})}
    gold = [GoldLabel("x", "rater", "yes"), GoldLabel("y", "rater", "yes")]
    for labels in (gold, []):
        (pair,) = compare_judges(runs, labels)
        assert (pair.n, pair.difference, pair.p_value, pair.p_adjusted, pair.n_needed) == (0, None, None, None, None)
        assert pair.reason == NONE_SHARED
        assert NONE_SHARED in pair_sentence(pair)
        assert comparison_table([pair], "made up").rows[0].value is None
    none_answered = compared([("yes", None), (None, "yes")])
    assert (none_answered.answered.difference, none_answered.answered.reason) == (None, NONE_ANSWERED)


@pytest.mark.parametrize("test", ["mcnemar", "bootstrap"])
def test_judges_that_answer_alike_have_p_1_by_convention_and_no_number_of_items(test: Test) -> None:
    pair = compared([("yes", "yes")] * 5 + [("no", "no")], test=test)
    assert (pair.difference, pair.p_value, pair.n_needed) == (0, 1, None)
    assert "no discordant pairs" in pair.reason
    assert NO_DIFFERENCE in pair.reason
    assert "equally often" in pair_sentence(pair)


def test_the_sentence_names_who_is_ahead_with_interval_p_and_items_needed() -> None:
    behind = compared([(b, a) for a, b in MIXED])
    text = pair_sentence(behind)
    assert text.startswith("b gives the gold label on 26.9 points more of 26 items than a (95% interval +")
    assert (f"You would need about {behind.n_needed} items to tell them apart." in text) is not behind.apart
    assert "Items without an answer count as wrong; on the 24 that both answered b leads by 20.8 points (" in text


def test_a_table_of_runs_has_no_cost_where_none_is_on_record() -> None:
    gold = [GoldLabel("x", "rater", "yes")]
    scored = {name: score(verdicts(name, {"x": "yes"}), gold, ("yes", "no"), resamples=50) for name in "ab"}
    rows = {(row.group, row.quantity): row for row in compared_runs_table(scored, "made up").rows}
    assert rows["a", "Accuracy, unanswered wrong"].value == 1.0
    assert (rows["b", "Cost"].value, rows["b", "Cost"].reason) == (None, "no cost is on record")


def test_runs_that_are_right_equally_often_are_not_ranked() -> None:
    gold = [GoldLabel("w", "rater", "yes"), GoldLabel("x", "rater", "yes"), GoldLabel("y", "rater", "no")]
    gold.append(GoldLabel("z", "rater", "no"))
    answers = {"a": "yynn", "b": "nynn", "c": "yyny"}
    answers = {
        name: dict(zip("wxyz", map({"y": "yes", "n": "no"}.get, said), strict=True)) for name, said in answers.items()
    }
    scored = {name: score(verdicts(name, said), gold, ("yes", "no"), resamples=50) for name, said in answers.items()}
    assert compared_runs_table(scored, "x").finding.startswith("a gives the gold label most often: on 100.0% (95%")
    del scored["a"]
    assert compared_runs_table(scored, "x").finding.startswith(
        "No run gives the gold label more often than b: on 75.0%"
    )


def test_items_needed_are_as_many_as_the_test_itself_can_find_something_with() -> None:
    assert compared([("yes", "no")]).n_needed == 5
    assert compared([("yes", "no")] * 9 + [("yes", "yes")]).n_needed == 6
    for least in (compared([("yes", "no")] * 4), compared([("yes", "no")] * 5)):
        assert ((least.p_value or 0) <= 0.05) == (least.n >= (least.n_needed or 0))
    assert "of 1 item than b" in pair_sentence(compared([("yes", "no")]))
