"""The Engineering Agent's tables: what their own counts give, and where they cannot all be right."""

import pytest

from misstep_analysis.audit.checks import check_all
from misstep_analysis.published import Figure, load_paper
from misstep_analysis.repair.paper import tables as engineering_agent
from misstep_analysis.repair.paper.tables import check_median
from misstep_analysis.tables import Row, Table

TABLES = (
    engineering_agent.solve_rate_table,
    engineering_agent.formats_table,
    engineering_agent.judge_table,
    engineering_agent.production_table,
    engineering_agent.other_table,
)


def _judged(table: Table) -> list[Row]:
    return [row for row in table.rows if row.status is not None]


def test_every_check_of_the_paper_stands_in_one_table() -> None:
    shown = [row for table in TABLES for row in _judged(table()) if "median" not in row.quantity]
    assert sorted(row.status or "" for row in shown) == sorted(
        checked.status for _, checked in check_all(load_paper("engineering_agent"))
    )


def test_a_solve_rate_that_no_count_of_the_tasks_prints_is_impossible_and_leads() -> None:
    table = engineering_agent.solve_rate_table()
    impossible = [row for row in _judged(table) if row.status == "impossible"]
    assert [(row.group, row.quantity) for row in impossible] == [("Static analysis", "Solved, five runs")]
    assert table.finding.startswith("Static analysis (solved, five runs): No whole count of 123")


def test_a_solve_rate_carries_the_interval_of_its_count() -> None:
    row = next(row for row in _judged(engineering_agent.solve_rate_table()) if row.low is not None)
    assert (row.value, row.n) == (pytest.approx(35 / 123), 123)
    assert row.low < 35 / 123 < (row.high or 0)  # type: ignore[operator]


def test_precision_and_recall_of_table_4_fit_with_the_rows_swapped() -> None:
    table = engineering_agent.judge_table()
    rows = [row for row in _judged(table) if row.group.startswith("Class")]
    assert [row.status for row in rows if row.value is not None] == ["differs"] * 4
    assert [row.status for row in rows if row.value is None] == ["impossible"]
    assert all("rows of the two classes are swapped" in row.reason for row in rows)
    assert table.finding.startswith("4 of the 4 figures")
    assert "4 of these would fit" in table.finding


def test_the_judges_other_cells_follow_from_the_two_that_are_printed() -> None:
    cells = engineering_agent.judge_confusion()
    assert (cells.tp, cells.fp, cells.fn, cells.tn) == (72, 11, 115, 46)


def test_a_share_whose_digits_were_cut_off_differs_and_the_reason_says_so() -> None:
    reviewed = [row for row in _judged(engineering_agent.production_table()) if "1,285 / 1,589" in row.reason]
    assert {row.status for row in reviewed} == {"differs"}
    assert all("cut off" in row.reason for row in reviewed)
    assert len(reviewed) == 5


def test_shares_of_210_tasks_in_whole_percent_cannot_be_checked() -> None:
    shares = [row for row in _judged(engineering_agent.formats_table()) if row.unit == "share"]
    assert [row.status for row in shares] == ["underdetermined"] * 12


@pytest.mark.parametrize(
    ("printed", "n", "status", "suggests"),
    [
        ("6.8", 123, "underdetermined", True),
        ("6.5", 123, "impossible", False),
        ("6.5", 124, "reproduced", False),
        ("7.0", 123, "reproduced", False),
        ("6.7", 124, "underdetermined", True),
    ],
)
def test_a_median_of_whole_counts_is_whole_or_for_an_even_number_ends_in_a_half(printed, n, status, suggests) -> None:
    figure = Figure(id="a", place="Table 1", row="A", column="median", printed=printed, unit="number")
    checked = check_median(figure, n, runs=5)
    assert checked.status == status
    assert bool(checked.suggestion) == suggests


def test_a_figure_called_median_here_and_average_there_is_named() -> None:
    assert any("11.8 iterations are a median in Table III and an average" in note for note in _notes())


def _notes() -> tuple[str, ...]:
    return engineering_agent.solve_rate_table().notes


def test_table_3s_rates_of_one_run_and_of_five_are_pass_at_1_and_pass_at_5_of_123_tasks() -> None:
    rows = engineering_agent.run_rows()
    assert len(rows) == 8
    assert {(row.quantity, row.n, row.evidence) for row in rows} == {
        ("pass@1", 123, "published"),
        ("pass@5", 123, "published"),
    }


def test_the_steps_of_table_5_narrow() -> None:
    assert [row.value for row in engineering_agent.production_steps()] == [1589, 1285, 405]
