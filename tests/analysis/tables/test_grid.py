"""Rows are laid out so that figures that want comparing meet."""

import pytest
from msgspec import structs

from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.text import grid
from misstep_analysis.tables.wording import value_text
from tests.analysis.pages.made_up import by_set, compared, of_many_sources


def table(*rows: Row) -> Table:
    return Table("t", "p", "T", "F", rows)


def values(line):
    return [cell and cell.value for cell in line.cells]


def test_published_and_recomputed_stand_side_by_side():
    layout = grid(compared())
    assert [column.evidence for column in layout.columns] == ["published", "recomputed"]
    assert [(line.label, values(line)) for line in layout.lines()] == [
        ("Loops", ["20%", "20.0%"]),
        ("Edits", ["31%", "30.0%"]),
        ("Calls", [None, "—"]),
    ]


def test_a_line_has_the_status_and_the_reason_of_its_comparison():
    lines = grid(compared()).lines()
    assert [line.status for line in lines] == ["reproduced", "differs", "underdetermined"]
    assert [line.reasons for line in lines] == [(), ("15 of 50 are 30%, not 31%.",), ("No count is printed.",)]


def test_groups_of_the_same_quantities_are_crossed_with_them():
    layout = grid(by_set())
    assert [column.label for column in layout.columns] == ["Loops", "Edits"]
    assert [(line.label, line.n, values(line)) for line in layout.lines()] == [
        ("alpha", "1,200", ["10.0%", "25.0%"]),
        ("beta", "80", ["10.0%", "25.0%"]),
        ("gamma", "7", ["10.0%", "25.0%"]),
    ]
    assert layout.evidence == "real"


def test_many_sources_are_stacked_under_one_label():
    layout = grid(of_many_sources())
    assert [line.span for line in layout.lines()] == [7, 0, 0, 0, 0, 0, 0]
    assert [line.cells[0].evidence for line in layout.lines()][:2] == ["published", "real"]


def test_every_row_is_a_figure_of_the_layout_exactly_once():
    for shown in (compared(), by_set(), of_many_sources()):
        assert sum(cell is not None for line in grid(shown).lines() for cell in line.cells) == len(shown.rows)


def test_an_n_that_differs_within_a_line_stands_with_each_figure():
    (line,) = grid(table(Row("a", 1, n=10, evidence="published"), Row("a", 2, n=20, evidence="real"))).lines()
    assert line.n == ""
    assert [cell.n for cell in line.cells] == ["10", "20"]


def test_a_recomputed_figure_has_the_digits_of_the_printed_one():
    rows = [Row("a", 0.0521, printed="5.21%", evidence="published", unit="share"), Row("a", 0.0521396, unit="share")]
    assert values(grid(table(*rows)).lines()[0]) == ["5.21%", "5.2%"]
    recomputed = Row("a", 0.0521396, evidence="recomputed", unit="share")
    assert values(grid(table(rows[0], recomputed)).lines()[0]) == ["5.21%", "5.21%"]


def test_reasons_without_statuses_are_remarks():
    assert grid(table(Row("a", None, reason="No one was asked."))).remarks == "remarks"
    assert grid(compared()).remarks == "status"
    assert grid(by_set()).remarks == ""


def test_a_source_that_another_column_shares_is_still_named():
    rows = [
        Row("a", 1, evidence="published", source="s"),
        Row("a", 2, evidence="real", source="s"),
        Row("b", 3, evidence="published", source="s"),
        Row("b", 4, evidence="real", source="t"),
    ]
    first, second = grid(table(*rows)).lines()
    assert [cell.source for cell in second.cells] == ["", "t"]
    assert first.source == "s"


def test_a_source_that_all_figures_of_a_crossed_table_share_is_named_once_and_needs_no_column():
    rows = [Row(name, 1, source="plants", group=group) for group in "ab" for name in ("left", "right")]
    layout = grid(table(*rows))
    assert (layout.source, layout.has_source) == ("plants", False)
    assert (grid(by_set()).source, grid(by_set()).has_source) == ("", True)


def judged(measures: int, judges: int = 6, **row) -> Table:
    """Judges as groups: each has all measures but one, the first judge the last and all others the first."""
    return table(
        *(
            Row(f"measure {number}", number, group=f"judge {judge}", n=judge, **row)
            for judge in range(judges)
            for number in range(measures)
            if number != (0 if judge else measures - 1)
        )
    )


def test_groups_that_share_most_quantities_are_a_matrix_where_one_is_asked_for():
    layout = grid(judged(6), matrices=True)
    assert [column.label for column in layout.columns] == [f"measure {number}" for number in range(6)]
    assert values(layout.lines()[0]) == ["0", "1", "2", "3", "4", None]
    assert len(grid(judged(6)).sections) == 6


def test_a_matrix_of_many_measures_has_a_column_a_judge():
    layout = grid(judged(12), matrices=True)
    assert [column.label for column in layout.columns] == [f"judge {number}" for number in range(6)]
    assert [line.label for line in layout.lines()][:2] == ["measure 0", "measure 1"]


@pytest.mark.parametrize(
    "listed",
    [
        judged(12, judges=8),
        judged(12, reason="It has one."),
        judged(6, status="differs"),
        table(*(Row(f"measure {number}", 1, group=f"judge {number}") for number in range(6))),
    ],
    ids=["too wide", "reasons that would lose their judge", "statuses", "mostly empty"],
)
def test_what_makes_no_matrix_stays_a_list(listed):
    assert grid(listed, matrices=True) == grid(listed)


def test_a_column_of_percentages_has_the_sign_and_the_printed_digits_throughout() -> None:
    printed = Row("Recovered", 0.9429, evidence="published", printed="94.29", unit="share")
    computed = Row("Recovered", 908 / 963, evidence="recomputed", unit="share")
    twice = structs.replace(printed, source="elsewhere", printed="94.3%")
    for rows in ((printed, computed), (printed, computed, structs.replace(computed, value=0.9), twice)):
        shown = [cell.value for line in grid(table(*rows)).lines() for cell in line.cells if cell]
        assert shown[:2] == ["94.29%", "94.29%"]
    assert value_text(structs.replace(printed, printed=".943", value=0.943)) == ".943"
    assert value_text(structs.replace(printed, printed="about 90", value=0.9)) == "about 90"
