"""What a figure is made of follows from its evidence, its source and its table, and from nothing else."""

import pytest

from analysis.provenance import data_sets_behind, figures_of, generator_behind, is_named, papers_behind
from analysis.tables import Row, Table

PAPERS = ("wink", "fruit")


def table(*rows: Row, paper: str = "fruit", datasets: tuple[str, ...] = (), **fields: str) -> Table:
    return Table("t", paper, "T", "F", rows, datasets=datasets, **fields)


@pytest.mark.parametrize(
    ("name", "text", "is_there"),
    [("wink", "wink, table 1", True), ("wink", "winking", False), ("a_b", "a_b@1a2b", True), ("a", "a_b@1a2b", False)],
)
def test_a_name_is_named_where_it_stands_as_a_word(name, text, is_there):
    assert is_named(name, text) is is_there


@pytest.mark.parametrize("evidence", ["published", "recomputed", "generated"])
def test_printed_figures_stand_behind_all_that_is_not_measured(evidence):
    row = Row("a", 1, evidence=evidence, source="Table 1")
    assert papers_behind(row, table(row), PAPERS) == ("fruit",)


def test_what_is_measured_has_no_paper_behind_it():
    assert papers_behind(Row("a", 1, evidence="real"), table(), PAPERS) == ()


@pytest.mark.parametrize(
    ("row", "paper"),
    [
        (Row("a", 1, evidence="published", source="Table 1", group="Wink"), "wink"),
        (Row("a", 1, evidence="recomputed", source="wink, table 1"), "wink"),
        (Row("Red Plums", 1, evidence="recomputed"), "red_plums"),
    ],
)
def test_in_a_table_of_several_papers_a_row_names_its_own(row, paper):
    assert papers_behind(row, table(row, paper="overview"), (*PAPERS, "red_plums")) == (paper,)


def test_a_row_that_names_no_paper_has_none_behind_it():
    assert papers_behind(Row("a", 1, evidence="published"), table(paper="overview"), PAPERS) == ()


def test_a_measured_row_is_of_the_set_that_it_names_and_else_of_all_of_its_table():
    two = table(datasets=("mast", "trail"))
    assert data_sets_behind(Row("a", 1, source="trail@1a2b"), two) == ("trail",)
    assert data_sets_behind(Row("a", 1, group="mast"), two) == ("mast",)
    assert data_sets_behind(Row("a", 1, source="2 public sets"), two) == ("mast", "trail")


def test_a_recomputed_row_is_of_a_set_only_where_it_names_it():
    two = table(datasets=("mast", "trail"))
    assert data_sets_behind(Row("a", 1, evidence="recomputed", source="Table 1"), two) == ()
    assert data_sets_behind(Row("a", 1, evidence="recomputed", source="of mast"), two) == ("mast",)
    assert data_sets_behind(Row("a", 1, evidence="published", source="of mast"), two) == ()


def test_generated_cases_are_made_by_the_generator_that_is_named_and_else_by_the_function_of_the_table():
    row = Row("a", 1, evidence="generated")
    assert generator_behind(row, table(made_by="x.f", generator="y.g")) == "y.g"
    assert generator_behind(row, table(made_by="x.f")) == "x.f"
    assert generator_behind(Row("a", 1), table(made_by="x.f")) == ""


def test_every_row_of_every_table_stands_once_in_its_place():
    tables = [table(Row("a", 1), Row("a", 2), datasets=("mast",)), table(Row("b", 1, group="g"), made_by="x.f")]
    figures = figures_of(tables, seed=3)
    assert [(one.quantity, one.row, one.group) for one in figures] == [("a", 0, ""), ("a", 1, ""), ("b", 0, "g")]
    assert figures[0].inputs == ("datasets/mast",)
    assert (figures[2].function, figures[2].seed) == ("x.f", 3)
