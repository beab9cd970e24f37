"""Raters in rows are told from raters in columns by what both are called, and asked about where that does not tell."""

from pathlib import Path

import pytest

from misstep_analysis.labels import Labels, Reading, read_questions
from misstep_harness.errors import MisstepError, UsageError

QUESTIONS = [f"q{number:02d}" for number in range(1, 13)]


def read(folder: Path, title: str, rows: list[str], columns: list[str], **how: object) -> Labels:
    file = folder / "labels.csv"
    lines = [
        ",".join([name, *(str((at * 7 + row) % 3) for at in range(len(columns)))]) for row, name in enumerate(rows)
    ]
    file.write_text("\n".join([",".join([title, *columns]), *lines]) + "\n")
    (labels,) = read_questions(file, Reading(**how)).labels.values()
    return labels


PEOPLE = ["mia", "noah", "olga"]


@pytest.mark.parametrize(
    ("title", "rows", "columns"),
    [
        ("annotator", PEOPLE, QUESTIONS),
        ("Rater name", PEOPLE, ["ease", "depth", "style", "care"]),
        ("annotator_id", ["7", "9"], ["1", "2", "3", "4"]),
        ("", ["rater 1", "rater 2"], ["alpha", "beta", "gamma"]),
        ("name", ["coder_a", "coder_b"], QUESTIONS),
        ("prüfer", PEOPLE, ["Fall 1", "Fall 2"]),
    ],
)
def test_raters_in_rows_are_told_by_the_header_or_by_their_names(tmp_path, title, rows, columns) -> None:
    labels = read(tmp_path, title, rows, columns)
    assert (labels.items, labels.raters) == (columns, rows)
    assert labels.codes.T.tolist() == [[(at * 7 + row) % 3 for at in range(len(columns))] for row in range(len(rows))]
    assert any(remark.startswith("read as one row a rater") for remark in labels.remarks)


@pytest.mark.parametrize(
    ("title", "rows", "columns"),
    [
        ("item", ["x", "y", "z"], PEOPLE),
        ("", ["x", "y", "z"], PEOPLE),
        ("id", ["1", "2", "3"], ["rater 1", "rater 2"]),
        ("task", ["t1", "t2"], [f"annotator {number}" for number in range(9)]),
        ("item", ["x", "y", "z"], ["1", "2", "3", "4"]),
        ("user", ["x", "y", "z"], PEOPLE),
        ("text", ["x", "y"], [*PEOPLE, "pia", "quin", "rosa"]),
    ],
)
def test_raters_in_columns_stay_where_they_are(tmp_path, title, rows, columns) -> None:
    labels = read(tmp_path, title, rows, columns)
    assert (labels.items, labels.raters) == (rows, columns)


@pytest.mark.parametrize(
    ("title", "rows", "columns"),
    [
        ("name", PEOPLE, QUESTIONS),
        ("", PEOPLE, ["Question 1", "Question 2"]),
        ("model", PEOPLE, ["item1", "item2", "item3"]),
        ("item", ["x", "y", "z"], ["q1", "q2", "q3"]),
        ("person", ["x", "y"], ["ease", "depth", "style", "care", "tone", "tempo"]),
        ("annotator", ["x", "y"], ["rater 1", "rater 2"]),
    ],
)
def test_a_table_whose_names_do_not_tell_is_asked_about_and_the_answer_is_taken(tmp_path, title, rows, columns) -> None:
    with pytest.raises(UsageError, match=r"does not say who the raters are.*--raters-in rows") as asked:
        read(tmp_path, title, rows, columns)
    assert asked.value.exit_code == 2
    assert read(tmp_path, title, rows, columns, raters_in="rows").raters == rows
    assert read(tmp_path, title, rows, columns, raters_in="columns").raters == columns
    assert read(tmp_path, title, rows, columns, item=title).raters == columns if title else True


def test_raters_in_rows_can_be_chosen_by_their_names(tmp_path: Path) -> None:
    assert read(tmp_path, "annotator", PEOPLE, QUESTIONS, raters=["olga", "mia"]).raters == ["olga", "mia"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,q1,q2\nmia,1,2\nmia,1,2\n", "labels.csv:3: name: rater 'mia' is on line 2 already"),
        ("name,q1,q2\nmia,1,2\n,1,2\n", "labels.csv:3: name: no rater"),
        ("item,rater,label\nx,mia,1\nx,noah,1\n", "has one rating per row. Leave --raters-in out"),
    ],
)
def test_a_table_that_cannot_have_a_row_a_rater_is_refused_with_its_place(tmp_path, text: str, message: str) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(text)
    with pytest.raises(MisstepError, match=message):
        read_questions(file, Reading(raters_in="rows"))


def test_a_column_that_does_not_look_like_an_item_is_asked_about_unless_rows_are_told(tmp_path: Path) -> None:
    with pytest.raises(MisstepError, match=r"do not look like items: 'batch'.*--raters-in rows"):
        read(tmp_path, "annotator", PEOPLE, ["batch", "q1", "q2"])
    assert read(tmp_path, "annotator", PEOPLE, ["batch", "q1"], raters_in="rows").items == ["batch", "q1"]


def test_a_label_that_cannot_be_read_names_the_column_it_is_in(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("annotator,q1,q2\nmia,1,2\nnoah,good,2\n")
    with pytest.raises(MisstepError, match=r"column 2: noah: .*'good'"):
        read_questions(file, Reading(level="interval"))


@pytest.mark.parametrize("title", ["trace_id", "conversation key", "file_name"])
def test_a_rating_a_row_with_the_rater_first_is_read(tmp_path: Path, title: str) -> None:
    file = tmp_path / "labels.csv"
    rows = "".join(
        f"{rater},t{row},{'yes' if row % step else 'no'}\n"
        for step, rater in ((2, "ann"), (3, "ben"))
        for row in range(9)
    )
    file.write_text(f"annotator,{title},verdict\n{rows}")
    (labels,) = read_questions(file, Reading()).labels.values()
    assert (labels.raters, len(labels.items)) == (["ann", "ben"], 9)
