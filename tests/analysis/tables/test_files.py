"""A table's CSV and JSON have every field of every row, and a spreadsheet runs none of them."""

import csv
import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.files import (
    FORMATS,
    csv_text,
    document,
    file_addresses,
    from_document,
    json_text,
    write_table,
)
from misstep_harness.errors import InputError
from misstep_harness.escaping import printable

TABLE = Table(
    "shares",
    "made_up",
    "Shares",
    "A third of them.",
    (
        Row("loops", 1 / 3, 0.2, 0.5, 30, "real", "a set", unit="share", group="one"),
        Row("loops", 0.3, n=30, evidence="published", printed="-30%", status="differs", reason="It is 33.3%, not 30%."),
        Row("none", None, reason="No one was asked."),
    ),
    ("A note.",),
    ("a_set",),
)


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_printed_figures_of_a_row_are_one_field_of_the_csv_and_a_list_of_the_json():
    table = Table("t", "p", "T", "F", (Row("a", 1, figures=("fruit/pears", "fruit/plums")), Row("b", 2)))
    assert [row["figures"] for row in read_csv(csv_text(table))] == ["fruit/pears; fruit/plums", ""]
    assert json.loads(json_text(table))["rows"][0]["figures"] == ["fruit/pears", "fruit/plums"]
    assert from_document(json.loads(json_text(table))) == table


def test_a_missing_value_is_empty_in_csv_and_null_in_json():
    assert read_csv(csv_text(TABLE))[2]["value"] == ""
    assert json.loads(json_text(TABLE))["rows"][2]["value"] is None


def test_what_is_not_finite_is_null_because_json_has_no_word_for_it():
    table = Table("t", "p", "T", "F", (Row("a", math.nan, -math.inf, math.inf),))
    row = json.loads(json_text(table))["rows"][0]
    assert (row["value"], row["low"], row["high"]) == (None, None, None)


def test_a_document_that_is_no_table_names_the_field():
    with pytest.raises(InputError, match="rows"):
        from_document(document(TABLE) | {"rows": 3})


@pytest.mark.parametrize("label", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx"])
def test_a_label_that_a_spreadsheet_would_run_is_text(label):
    table = Table("t", "p", "T", "F", (Row(label, 1),))
    assert read_csv(csv_text(table))[0]["quantity"] == f"'{label}"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_label_survives_in_json_and_all_that_is_printable_of_it_in_csv(label):
    table = Table("t", "p", "T", "F", (Row(label, 1),))
    assert json.loads(json_text(table))["rows"][0]["quantity"] == label
    (row,) = csv.DictReader(io.StringIO(csv_text(table), newline=""))
    assert row["quantity"] in (printable(label), f"'{printable(label)}")


def test_the_files_stand_under_the_paper_by_the_name_one_for_each_format(tmp_path):
    paths = write_table(TABLE, tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in paths.values()} == set(file_addresses(TABLE).values())
    assert str(paths["csv"].relative_to(tmp_path)) == "made_up/shares.csv"
    assert {ending: path.read_text() for ending, path in paths.items()} == {
        ending: text_of(TABLE) for ending, (_, text_of) in FORMATS.items()
    }


@pytest.mark.parametrize("name", ["../up", "a/b", "", "A b", ".hidden"])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="not a valid name"):
        write_table(Table(name, "p", "T", "F", ()), tmp_path / "in")
    assert list(tmp_path.iterdir()) == []
