"""Printed figures: a string with its place, checked against the paper's text where that is available."""

import re
from pathlib import Path

import pytest

from misstep_analysis.published import Derivation, Figure, load_paper, published_papers, published_row, read_paper
from misstep_analysis.tables import Unit
from misstep_harness.errors import InputError, UsageError
from tests.analysis.paper_texts import is_printed, places_of, stands_in, unrecorded

FORM = """
slug = "made-up"
title = "A made-up paper"
authors = "Nobody"

[[figure]]
id = "a"
place = "Table 1"
row = "A"
column = "share"
printed = "~1,250%"
unit = "share"
"""
SECOND = FORM[FORM.index("[[figure]]") :].replace('id = "a"', 'id = "b"')


@pytest.mark.parametrize("slug", published_papers())
def test_every_shipped_file_has_the_form(slug: str) -> None:
    assert load_paper(slug).slug == slug
    assert load_paper(slug).figure


def test_a_share_is_printed_in_percent_and_given_as_a_fraction(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(FORM)
    figure = read_paper(file)["a"]
    assert (figure.digits, figure.number) == ("1250", 12.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("unit = ", "units = "), "units"),
        (('id = "a"', 'id = "a"\ncheck = "percentage"\ninputs = { n = "b" }'), "the figure 'b', which does not exist"),
        (('id = "a"', 'id = "a"\ninputs = { n = "a" }'), "the figure has inputs but no check"),
        (('id = "a"', 'id = "a"\ncheck = "percentage"\ninputs = { m = "a" }'), "percentage takes no 'm'"),
        (('id = "a"', 'id = "a"\ncheck = "sum"\ninputs = { parts = "a" }'), "'parts' is not a list of ids"),
        (
            ('id = "a"', 'id = "a"\ncheck = "sum"\ninputs = { parts = ["a", "b"] }'),
            "the figure 'b', which does not exist",
        ),
        (('id = "a"', 'id = "a"\ncheck = "percentage"\ninputs = { n = ["a"] }'), "'n' is not one id"),
        (('id = "a"', 'id = "a"\ncheck = "kappa"\ninputs = { matrix = "a" }'), "the matrix 'a', which does not exist"),
        (
            ('id = "a"', 'id = "a"\nalso = [{ check = "same", inputs = { other = "b" } }]'),
            "the figure 'b', which does not exist",
        ),
        (('id = "a"', 'id = "a"\ncheck = "guess"'), "guess"),
        (("~1,250%", "about a tenth"), "'about a tenth' is not a number"),
        (("printed = ", "printed = 12 #"), "printed"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(FORM.replace(*change))
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_paper(file)
    assert str(file) in caught.value.line()


def test_a_figure_named_twice_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(FORM + FORM[FORM.index("[[figure]]") :])
    with pytest.raises(InputError, match="the id is used twice"):
        read_paper(file)


@pytest.mark.parametrize(
    ("printed", "unit", "number"),
    [
        ("−71pp", "difference", -0.71),
        ("-4.2%**", "share", -0.042),
        ("200+", "count", 200),
        ("< 0.00001", "p", 0.00001),
        ("+0.24", "coefficient", 0.24),
        (".867", "coefficient", 0.867),
        ("12,499", "count", 12499),
    ],
)
def test_signs_around_a_number_are_no_part_of_it(printed: str, unit: Unit, number: float) -> None:
    figure = Figure(id="a", place="Table 1", row="A", column="B", printed=printed, unit=unit)
    assert figure.number == pytest.approx(number)


def test_a_figure_names_every_way_to_work_it_out_the_first_one_first(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    ways = 'check = "same"\ninputs = { other = "b" }\nalso = [{ check = "sum", inputs = { parts = ["b", "b"] } }]\n'
    file.write_text(FORM + ways + SECOND)
    figure = read_paper(file)["a"]
    assert figure.derivations == (Derivation("same", {"other": "b"}), Derivation("sum", {"parts": ("b", "b")}))


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"a": 'check = "same"\ninputs = { other = "a" }'}, "a: the figure is computed from itself: a → a"),
        ({"a": 'check = "sum"\ninputs = { parts = ["b", "a"] }'}, "a: the figure is computed from itself: a → a"),
        (
            {"a": 'check = "precision_recall"\ninputs = { recall = "a" }'},
            "a: the figure is computed from itself: a → a",
        ),
        (
            {"a": 'check = "same"\ninputs = { other = "b" }', "b": 'check = "same"\ninputs = { other = "a" }'},
            " → b → ",
        ),
        (
            {
                "a": 'check = "percentage"\ninputs = { n = "b" }',
                "b": 'also = [{ check = "same", inputs = { other = "c" } }]',
                "c": 'check = "difference"\ninputs = { a = "a", b = "b" }',
            },
            "the figure is computed from itself",
        ),
    ],
)
def test_a_figure_that_is_worked_out_from_itself_is_an_error_that_names_the_way_round(tmp_path, inputs, text) -> None:
    file = tmp_path / "paper.toml"
    figures = [FORM.replace('id = "a"', f'id = "{name}"\n{inputs.get(name, "")}') for name in "abc"]
    file.write_text(figures[0] + "".join(one[one.index("[[figure]]") :] for one in figures[1:]))
    with pytest.raises(InputError) as caught:
        read_paper(file)
    assert text in f"{caught.value.line()} → "


def test_a_matrix_that_holds_the_figure_that_is_worked_out_from_it_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(
        FORM + 'check = "kappa"\ninputs = { matrix = "m" }\n' + SECOND + MATRIX.replace('"b", "b"', '"b", "a"')
    )
    with pytest.raises(InputError, match="a → a"):
        read_paper(file)


def test_the_figures_of_one_judge_may_name_each_other_as_they_have_to_fit_one_table(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    first = FORM + 'check = "precision_recall"\ninputs = { recall = "b" }\n'
    file.write_text(first + SECOND + 'check = "precision_recall"\ninputs = { precision = "a" }\n')
    assert read_paper(file)["a"].derivations[0].inputs == {"recall": "b"}


def test_a_figure_in_words_is_a_row_that_shows_the_words() -> None:
    figure = Figure(id="a", place="Section 1", row="Users", column="count", printed="thousands", unit="text")
    assert (published_row(figure).value, published_row(figure).printed) == ("thousands", "thousands")


MATRIX = """
[[matrix]]
id = "m"
place = "Table 2"
rows = ["yes"]
columns = ["yes", "no"]
cells = [["b", "b"]]
"""


def test_a_matrix_holds_the_ids_of_its_cells_and_a_kappa_may_name_it(tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(FORM + 'check = "kappa"\ninputs = { matrix = "m" }\n' + SECOND + MATRIX)
    paper = read_paper(file)
    assert paper.matrix[0].cells == (("b", "b"),)
    assert paper["a"].derivations == (Derivation("kappa", {"matrix": "m"}),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('[["b", "b"]]', '[["b"]]'), "cells are not 1 rows of 2"),
        (('[["b", "b"]]', '[["b", "c"]]'), "the figure 'c', which does not exist"),
        (('id = "m"', 'id = "a"'), "the id is used twice"),
    ],
)
def test_a_matrix_that_does_not_fit_its_labels_or_the_figures_is_an_error(tmp_path, change, message) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(FORM + SECOND + MATRIX.replace(*change))
    with pytest.raises(InputError, match=re.escape(message)):
        read_paper(file)


def test_an_unknown_paper_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="wink"):
        load_paper("nobody")


@pytest.mark.data
@pytest.mark.parametrize("slug", published_papers())
def test_every_printed_figure_stands_at_its_place_in_the_paper(data_folder: Path, slug: str) -> None:
    places = places_of(slug, data_folder)
    figures = [figure for figure in load_paper(slug).figure if is_printed(figure)]
    assert {figure.place for figure in figures} <= set(places)
    assert [figure.id for figure in figures if not stands_in(figure.printed, places[figure.place])] == []


@pytest.mark.data
@pytest.mark.parametrize("slug", published_papers())
def test_every_number_of_a_paper_is_a_figure_or_said_to_be_no_result(data_folder: Path, slug: str) -> None:
    missing = {place: unrecorded(slug, place, text) for place, text in places_of(slug, data_folder).items()}
    assert {place: numbers for place, numbers in missing.items() if numbers} == {}
