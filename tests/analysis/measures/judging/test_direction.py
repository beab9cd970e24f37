"""Which way a recorded judge errs is told with a test over runs, and on which items it errs more."""

from misstep.analysis.gold import BenchmarkItem
from misstep.analysis.measures.judging.direction import DIFFERENCE, direction_table, directions
from misstep.analysis.measures.judging.slices import recorded_slices_table
from misstep.analysis.tables import Row, Table
from tests.analysis.measures.judging.recorded import Answered, alone, judged

SHY = alone("shy", [("yes", "no")] * 12 + [("yes", "yes")] * 8 + [("no", "no")] * 20)
BALANCED = alone("balanced", [("yes", "no")] * 6 + [("no", "yes")] * 6 + [("yes", "yes")] * 14 + [("no", "no")] * 14)


def row(table: Table, group: str, quantity: str) -> Row:
    (found,) = [one for one in table.rows if (one.group, one.quantity) == (group, quantity)]
    return found


def test_errors_that_go_one_way_are_a_bias_and_as_many_that_go_both_ways_are_none() -> None:
    table = direction_table([SHY, BALANCED])
    assert row(table, "shy", DIFFERENCE).value == -12 / 40
    assert row(table, "balanced", DIFFERENCE).value == 0
    assert "1 of 2 recorded judges are shown" in table.finding
    assert "shy, “yes” −30.0 pp" in table.finding


def test_p_values_are_adjusted_over_the_judges() -> None:
    shy, balanced = directions([SHY, BALANCED])
    assert shy.bias.homogeneity.p_value is not None
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
    (together,) = directions([judged("together", [wrong, *[right] * 3])])
    apart = alone("apart", [*wrong, *right, *right, *right])
    assert (together.bias.homogeneity.p_value or 0) > 0.05 > (directions([apart])[0].bias.homogeneity.p_value or 0)


def items(field: str) -> list[BenchmarkItem]:
    return [BenchmarkItem(f"{run}-0", extra={field: "odd" if run % 2 else "even"}) for run in range(40)]


def test_accuracy_is_told_by_what_the_set_says_of_its_items() -> None:
    judge = alone("half blind", [("yes", "no" if run % 2 else "yes") for run in range(40)])
    table = recorded_slices_table(judge, items("parity"))
    assert (row(table, "parity", "even").value, row(table, "parity", "odd").value) == (1.0, 0.0)
    assert (table.name, table.datasets) == ("recorded_slices_trail", ("trail",))
