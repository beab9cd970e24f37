"""Which label errors flow to which."""

import pytest

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.bias import (
    DIFFERENCE,
    NOTHING_UNANSWERED,
    bias,
    direction_table,
    directions,
)
from misstep_analysis.judging.slices import recorded_slices_table
from misstep_analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep_analysis.stats.raters.marginal_homogeneity import stuart_maxwell
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import Row, Table
from tests.analysis.judging.recorded import Answered, alone
from tests.analysis.judging.recorded import judged as recorded
from tests.analysis.judging.samples import again, judged

THREE = ("a", "b", "c")
GOLD = ["a"] * 10 + ["b"] * 8 + ["c"] * 6
ANSWERS = ["a"] * 4 + ["b"] * 6 + ["b"] * 7 + ["a"] + ["c"] * 3 + ["b"] * 2 + ["a"]


def test_the_test_over_all_labels_is_stuarts_and_maxwells() -> None:
    result = bias(judged(ANSWERS, GOLD, THREE))
    assert result.n == 24
    assert result.homogeneity == stuart_maxwell([[4, 6, 0], [1, 7, 0], [1, 2, 3]])


def test_each_pair_of_labels_with_an_error_has_mcnemars_test_adjusted_for_all_such_pairs() -> None:
    flows = {(flow.first, flow.second): flow for flow in bias(judged(ANSWERS, GOLD, THREE)).flows}
    counts = {pair: (flow.forth, flow.back) for pair, flow in flows.items()}
    assert counts == {("a", "b"): (6, 1), ("b", "c"): (0, 2), ("a", "c"): (0, 1)}
    p_values = {pair: mcnemar_mid_p(PairedTable(0, *both, 24 - sum(both))).p_value for pair, both in counts.items()}
    assert {pair: flow.p_value for pair, flow in flows.items()} == p_values
    adjusted = holm([p_values[pair] for pair in flows]).p_values
    assert [flow.p_adjusted for flow in flows.values()] == list(adjusted)
    assert flows["a", "b"].difference == paired_score_interval(PairedTable(0, 6, 1, 17))


def test_runs_are_the_sample_where_items_are_of_runs() -> None:
    gold, answers = ["yes"] * 6 + ["no"] * 6, ["yes"] * 4 + ["no"] * 2 + ["yes"] * 5 + ["no"]
    alone, many = bias(judged(answers, gold)), bias(judged(again(5, answers), again(5, gold), runs=5))
    as_items = bias(judged(again(5, answers), again(5, gold)))
    assert many.flows[0].p_value == pytest.approx(alone.flows[0].p_value)
    assert many.flows[0].test == "McNemar over clusters, sign flips, mid-p"
    assert as_items.flows[0].p_value < alone.flows[0].p_value
    assert "Hotelling over 12 clusters" in many.homogeneity.test
    assert many.labels[0].difference.method.startswith("clustered pairs")


def test_an_answer_that_is_no_label_uses_none_and_is_part_of_no_flow() -> None:
    result = bias(judged(["yes", "perhaps", "no", "no"], ["yes", "yes", "no", "yes"]))
    assert (result.n, result.outside) == (4, 1)
    assert [(flow.forth, flow.back) for flow in result.flows] == [(1, 0)]
    assert (result.labels[0].judge.value, result.labels[0].gold.value) == (0.25, 0.75)


def test_whether_an_item_is_answered_may_depend_on_its_gold_label() -> None:
    gold = ["yes"] * 30 + ["no"] * 30
    result = bias(judged(["yes"] * 15 + [None] * 15 + ["no"] * 30, gold))
    assert [use.unanswered.value for use in result.labels] == [0.5, 0.0]
    assert result.unanswered.p_value < 0.001
    assert bias(judged(gold, gold)).unanswered.reason == NOTHING_UNANSWERED


SHY = alone("shy", [("yes", "no")] * 12 + [("yes", "yes")] * 8 + [("no", "no")] * 20)
BALANCED = alone("balanced", [("yes", "no")] * 6 + [("no", "yes")] * 6 + [("yes", "yes")] * 14 + [("no", "no")] * 14)


def row(table: Table, group: str, quantity: str) -> Row:
    (results,) = [one for one in table.rows if (one.group, one.quantity) == (group, quantity)]
    return results


def test_errors_that_go_one_way_are_a_bias_and_as_many_that_go_both_ways_are_none() -> None:
    table = direction_table([SHY, BALANCED])
    assert row(table, "shy", DIFFERENCE).value == -12 / 40
    assert row(table, "balanced", DIFFERENCE).value == 0
    assert "1 of 2 recorded judges are shown" in table.finding
    assert "shy, “yes” −30.0 pp" in table.finding


def test_p_values_are_adjusted_over_the_judges() -> None:
    shy, balanced = directions([SHY, BALANCED])
    assert shy.p_adjusted == 2 * shy.bias.homogeneity.p_value
    assert balanced.p_adjusted == 1.0


def test_no_bias_names_the_judge_that_is_furthest_from_people() -> None:
    finding = direction_table([BALANCED]).finding
    assert finding.startswith("None of 1 recorded judges is shown to say the positive label more or less often")
    assert "balanced" in finding


def test_items_left_open_are_told_by_peoples_label() -> None:
    open_yes = alone("open", [("yes", None)] * 5 + [("yes", "yes")] * 5 + [("no", "no")] * 10)
    table = direction_table([open_yes])
    assert row(table, "open", "Left open of “yes”").value == 0.5
    assert row(table, "open", "Left open of “no”").value == 0.0
    assert row(table, "open", "p, left open alike").value is not None
    assert not [one for one in direction_table([SHY]).rows if one.quantity.startswith("Left open")]


def test_items_of_one_run_err_together_in_the_test() -> None:
    wrong: list[Answered] = [("yes", "no")] * 10
    right: list[Answered] = [("no", "no")] * 10
    (together,) = directions([recorded("together", [wrong, *[right] * 3])])
    apart = alone("apart", [*wrong, *right, *right, *right])
    assert (together.bias.homogeneity.p_value or 0) > 0.05 > (directions([apart])[0].bias.homogeneity.p_value or 0)


def items(field: str) -> list[BenchmarkItem]:
    return [BenchmarkItem(f"{run}-0", extra={field: "odd" if run % 2 else "even"}) for run in range(40)]


def test_accuracy_is_told_by_what_the_set_says_of_its_items() -> None:
    judge = alone("half blind", [("yes", "no" if run % 2 else "yes") for run in range(40)])
    table = recorded_slices_table(judge, items("parity"))
    assert (row(table, "parity", "even").value, row(table, "parity", "odd").value) == (1.0, 0.0)
    assert (table.name, table.datasets) == ("recorded_slices_trail", ("trail",))
