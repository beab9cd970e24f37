"""What a figure is made of is what was passed with it and its table, never guessed from their words."""

import pytest

from misstep_analysis.tables import Row, Table, measured_on
from misstep_analysis.tables.summary import data_sets_behind, figures_of, generator_behind, papers_behind

PAPERS = ("wink", "fruit")


def table(*rows: Row, paper: str = "fruit", datasets: tuple[str, ...] = (), **fields: str) -> Table:
    return Table("t", paper, "T", "F", rows, datasets=datasets, **fields)


@pytest.mark.parametrize(
    "row",
    [
        Row("a", 1, evidence="published", figures=("wink/shadow.p",)),
        Row("a", 1, evidence="recomputed", papers=("wink",)),
    ],
)
def test_a_row_is_made_of_the_papers_of_its_figures_or_of_those_it_says_before_that_of_its_table(row):
    assert papers_behind(row, table(row, paper="overview"), PAPERS) == ("wink",)
    assert papers_behind(row, table(row, paper="fruit"), PAPERS) == ("wink",)


def test_a_figure_that_the_page_of_a_data_set_prints_is_of_the_set_and_of_no_paper():
    row = Row("a", 1, evidence="published", figures=("pages/pears.rate",), datasets=("pears",))
    assert papers_behind(row, table(row), PAPERS) == ()
    assert data_sets_behind(row, table(row)) == ("pears",)


def test_a_measured_row_is_of_the_sets_it_says_and_else_of_all_of_its_table():
    two = table(datasets=("mast", "trail"))
    assert [data_sets_behind(row, two) for row in measured_on("trail", [Row("a", 1)])] == [("trail",)]
    assert data_sets_behind(Row("a", 1, source="trail@1a2b"), two) == ("mast", "trail")


def test_generated_cases_are_made_by_the_generator_that_is_named_and_else_by_the_function_of_the_table():
    row = Row("a", 1, evidence="generated")
    assert generator_behind(row, table(made_by="x.f", generator="y.g")) == "y.g"
    assert generator_behind(row, table(made_by="x.f")) == "x.f"
    assert generator_behind(Row("a", 1), table(made_by="x.f")) == ""


def test_every_row_of_every_table_stands_once_in_its_place():
    tables = [table(Row("a", 1), Row("a", 2), datasets=("mast",)), table(Row("b", 1, group="g"), made_by="x.f")]
    figures = figures_of(tables, PAPERS, seed=3)
    assert [(one.quantity, one.row, one.group) for one in figures] == [("a", 0, ""), ("a", 1, ""), ("b", 0, "g")]
    assert figures[0].inputs == ("datasets/mast",)
    assert (figures[2].function, figures[2].seed) == ("x.f", 3)
