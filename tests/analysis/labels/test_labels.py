"""Labels are read from any usual shape of CSV, and a file that cannot be understood is named with line and remedy."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.labels import Labels, Reading, read_labels, read_questions
from misstep_analysis.labels.rows import split_columns
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_harness.errors import InputError, MisstepError, UsageError

WIDE = "item,ann,ben\nrun-1,agent,agent\nrun-2,task,\nrun-3,task,agent\n"
LONG = "item,rater,label\nrun-1,ann,agent\nrun-1,ben,agent\nrun-2,ann,task\nrun-3,ann,task\nrun-3,ben,agent\n"


@pytest.fixture
def labels_file(tmp_path: Path) -> Path:
    return tmp_path / "labels.csv"


def read(path: Path, text: str | bytes, **options: object) -> Labels:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_labels(path, **options)  # type: ignore[arg-type]


def cells(labels: Labels) -> list[list[str | None]]:
    return [[None if code == MISSING else labels.categories[code] for code in row] for row in labels.codes.tolist()]


EXPECTED = [["agent", "agent"], ["task", None], ["task", "agent"]]


@pytest.mark.parametrize(
    "text",
    [
        WIDE,
        LONG,
        WIDE.replace(",", ";"),
        WIDE.replace(",", "\t"),
        WIDE.replace("\n", "\r\n"),
        WIDE.replace("\n", "\r"),
        "\ufeff" + WIDE,
        "\n" + WIDE + "\n\n,,\n",
        WIDE.rstrip(),
        WIDE.replace("agent", '"agent"'),
        WIDE.replace("agent", " agent "),
        WIDE.replace("task,", "task,  "),
        WIDE.replace("item,ann,ben", " ITEM , ann,ben "),
        WIDE.replace("item,", "task id,"),
        WIDE.replace("item,", ","),
        "ann,item,ben\nagent,run-1,agent\ntask,run-2,\ntask,run-3,agent\n",
        LONG.replace("item,rater,label", "Item,Rater,Label"),
        "\n".join(",".join(reversed(line.split(","))) for line in LONG.splitlines()),
        LONG + "run-2,ben,\n",
    ],
    ids=lambda text: repr(text[:40]),
)
def test_one_set_of_labels_reads_alike_in_every_shape(labels_file: Path, text: str) -> None:
    labels = read(labels_file, text)
    assert labels.items == ["run-1", "run-2", "run-3"]
    assert sorted(labels.raters) == ["ann", "ben"]
    order = [labels.raters.index(rater) for rater in ("ann", "ben")]
    assert [[row[place] for place in order] for row in cells(labels)] == EXPECTED


CELL = st.text(st.sampled_from("ab ,;\t'\r\n\"x"), max_size=4)


@given(st.lists(st.lists(CELL, min_size=1, max_size=3), min_size=1, max_size=4), st.sampled_from(",;\t"))
def test_splitting_gives_what_parsing_gives_or_declines(rows: list[list[str]], delimiter: str) -> None:
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    columns = split_columns(text, delimiter)
    if columns is not None:
        parsed = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        assert [list(column) for column in columns] == [list(column) for column in zip(*parsed, strict=True)]


def test_a_letter_written_in_two_ways_of_unicode_is_one_label(labels_file: Path) -> None:
    labels = read(labels_file, "item,ann,ben\n1,caf\u00e9,cafe\u0301\n")
    assert labels.categories == ["caf\u00e9"]


@pytest.mark.parametrize(("level", "categories"), [("nominal", ["0", "1"]), ("interval", ["0", "1"])])
def test_a_whole_number_is_one_label_with_and_without_its_decimal_zero(labels_file, level, categories) -> None:
    labels = read(labels_file, "item,ann,ben\n1,0,0.0\n2,1,1.0\n3,1,\n4,0,\n", level=level)
    assert labels.categories == categories
    assert len(labels.remarks) == 2


def test_a_whole_number_is_one_label_whatever_word_is_beside_it(labels_file: Path) -> None:
    labels = read(labels_file, "item,ann,ben\n1,4,4.0\n2,5,5.0\n3,3,nan\n")
    assert cells(labels) == [["4", "4"], ["5", "5"], ["3", "nan"]]


def test_a_number_that_is_named_is_meant_however_a_cell_writes_it(labels_file: Path) -> None:
    text = "item,ann,ben\n1,1.0,1.0\n2,2.0,99.0\n"
    labels_file.write_text(text)
    (labels,) = read_questions(labels_file, Reading(missing=["99"])).labels.values()
    assert cells(labels) == [["1.0", "1.0"], ["2.0", None]]
    ordered = read(labels_file, text, level="ordinal", order=["1", "2", "99"])
    assert cells(ordered) == [["1.0", "1.0"], ["2.0", "99.0"]]


def test_nominal_version_numbers_stay_apart_and_interval_numbers_do_not(labels_file: Path) -> None:
    text = "item,ann,ben\n1,1.1,1.10\n2,1.2,1.2\n"
    assert read(labels_file, text).categories == ["1.1", "1.10", "1.2"]
    assert read(labels_file, text, level="interval").values == [1.1, 1.2]


@pytest.mark.parametrize("word", ["NA", "nan", "None", "?"])
def test_only_an_empty_cell_is_missing_and_a_label_that_looks_so_is_reported(labels_file: Path, word: str) -> None:
    labels = read(labels_file, f"item,ann,ben\n1,yes,{word}\n2,no,no\n")
    assert word in labels.categories
    assert any(word in remark and "leave the cell empty" in remark for remark in labels.remarks)


def test_a_label_that_the_order_names_is_none_that_may_be_missing(labels_file: Path) -> None:
    text = "item,ann,ben\n1,none,minor\n2,major,?\n"
    labels = read(labels_file, text, level="ordinal", order=["None", "minor", "major", "?"])
    assert labels.remarks == []
    partly = read(labels_file, text.replace("?", "na"), level="ordinal", order=["none", "minor", "major", "na"])
    assert partly.remarks == []


@pytest.mark.parametrize("unseen", ["\ufeff", "\u200b", "\u2060", "\u00ad", "\u200e"])
def test_characters_that_cannot_be_seen_make_no_other_label_item_or_rater(labels_file: Path, unseen: str) -> None:
    wide = f"item,{unseen}ann,ben\n{unseen}run-1,agent{unseen},agent\nrun-2,{unseen} ,a{unseen}gent\n"
    labels = read(labels_file, wide)
    assert (labels.items, labels.raters, labels.categories) == (["run-1", "run-2"], ["ann", "ben"], ["agent"])
    assert cells(labels) == [["agent", "agent"], [None, "agent"]]
    long = f"item,rater,label\n{unseen}run-1,ann,agent\nrun-1,ben{unseen},agent\n"
    assert cells(read(labels_file, long)) == [["agent", "agent"]]


def test_what_joins_the_parts_of_a_letter_or_an_emoji_is_part_of_a_label(labels_file: Path) -> None:
    labels = read(labels_file, "item,ann,ben\n1,\U0001f469\u200d\U0001f4bb,\U0001f469\U0001f4bb\n")
    assert len(labels.categories) == 2


def test_an_order_given_is_the_scale_unused_labels_included(labels_file: Path) -> None:
    text = "item,ann,ben\n1,Low,high\n2,low,low\n"
    labels = read(labels_file, text, level="ordinal", order=["LOW", "mid", "high"])
    assert labels.categories == ["low", "mid", "high"]
    assert labels.codes.tolist() == [[0, 2], [0, 0]]


def test_raters_are_chosen_by_name_in_the_order_asked_for(labels_file: Path) -> None:
    text = "item,ann,ben,cy\n1,a,b,c\n"
    assert read(labels_file, text, raters=["CY", " ann "]).raters == ["cy", "ann"]
    long = "item,rater,label\n1,ann,a\n1,ben,b\n1,cy,c\n2,ben,x\n"
    labels = read(labels_file, long, raters=["cy", "ann"])
    assert cells(labels) == [["c", "a"], [None, None]]
    assert labels.categories == ["a", "c"]


def test_raters_and_items_that_differ_by_letter_case_are_reported_and_kept_apart(labels_file: Path) -> None:
    labels = read(labels_file, "item,rater,label\nA,ann,x\na,Ann,x\n")
    assert (labels.items, labels.raters) == (["A", "a"], ["ann", "Ann"])
    assert len(labels.remarks) == 2


BAD = {
    "no file": (None, {}, "labels.csv: cannot be read: No such file or directory. "),
    "empty": ("", {}, "labels.csv: no labels: the file is empty or has a header only. "),
    "blank": ("\n \n,\n", {}, "labels.csv: no labels: the file is empty or has a header only. "),
    "header only": ("item,ann,ben\n", {}, "labels.csv: no labels: the file is empty or has a header only. "),
    "one column": ("item\nrun-1\n", {}, "labels.csv:1: one column, 'item'. "),
    "latin-1": (WIDE.replace("run-3", "rün-3").encode("latin-1"), {}, "labels.csv:4: not UTF-8. "),
    "a NUL": ("item,ann,ben\n1,a,b\n2,a\0,b\n", {}, "labels.csv:3: a NUL character. "),
    "UTF-16": (WIDE.encode("utf-16-le"), {}, "labels.csv:1: not UTF-8 but UTF-16. "),
    "UTF-16 with a mark": (WIDE.encode("utf-16"), {}, "labels.csv:1: not UTF-8 but UTF-16. "),
    "a control character": (
        "item,ann,ben\n1,a,b\n2,a\x1b[0m,b\n",
        {},
        "labels.csv:3: ann: label 'a\\x1b[0m' has a control character. ",
    ),
    "open quote": ('item,ann,ben\n1,"a,b\n2,a,b\n', {}, "labels.csv:3: not valid CSV: unexpected end of data. "),
    "short row": ("item,ann,ben\n1,a,b\n2,a\n", {}, "labels.csv:3: 2 cells where the header has 3. "),
    "long row": ("item,ann,ben\n\n1,a,b,c\n", {}, "labels.csv:3: 4 cells where the header has 3. "),
    "all rows long": ("item,ann,ben\n1,a,b,c\n2,a,b,c\n", {}, "labels.csv:2: 4 cells where the header has 3. "),
    "unnamed": ("item,ann,,ben\n1,a,b,c\n", {}, "labels.csv:1: column 3 has no name. "),
    "twice named": ("item,ann, ann\n1,a,b\n", {}, "labels.csv:1: columns 2 and 3 are both called 'ann'. "),
    "no item": ("item,ann,ben\n1,a,b\n ,a,b\n", {}, "labels.csv:3: no item in item. "),
    "item twice": (
        "item,ann,ben\n1,a,b\n2,a,b\n 1 ,a,a\n",
        {},
        "labels.csv:4: item '1' is on line 2 already. ",
    ),
    "item twice after a break": (
        'item,ann,ben\n1,"a\nb",b\n\n1,a,a\n',
        {},
        "labels.csv:5: item '1' is on line 3 already. ",
    ),
    "rated twice": (
        "item,rater,label\n1,ann,a\n1,ben,a\n1,ann,a\n",
        {},
        "labels.csv:4: 'ann' rated '1' on line 2 already. ",
    ),
    "long without rater": ("item,rater,label\n1,ann,a\n1,,a\n", {}, "labels.csv:3: rater: no rater. "),
    "long without item": ("item,rater,label\n1,ann,a\n,ben,a\n", {}, "labels.csv:3: item: no item. "),
    "no labels": ("item,ann,ben\n1,,\n2, ,\n", {}, "labels.csv: no cell has a label. "),
    "words as numbers": (
        "item,ann,ben\n1,2,3\n2,3,two\n",
        {"level": "interval"},
        "labels.csv:3: ben: label 'two' is not a number. ",
    ),
    "nan as a number": (
        "item,rater,label\n1,ann,2\n1,ben,nan\n",
        {"level": "interval"},
        "labels.csv:3: label: label 'nan' is not a number. ",
    ),
    "decimal comma among commas": (
        'item,ann,ben\n1,"2,5",3\n',
        {"level": "interval"},
        "labels.csv:2: ann: label '2,5' is not a number. ",
    ),
    "unknown order": (
        "item,ann,ben\n1,low,high\n",
        {"level": "ordinal"},
        "labels.csv: the order of these labels is not known: 'high', 'low'. Give it from lowest to highest: --order",
    ),
    "not in order": (
        "item,ann,ben\n1,low,high\n2,low,odd\n",
        {"level": "ordinal", "order": ["low", "high"]},
        "labels.csv:3: ben: label 'odd' is not in --order low,high. ",
    ),
    "order twice": (
        "item,ann,ben\n1,low,high\n",
        {"level": "ordinal", "order": ["low", "high", "Low"]},
        "--order has an empty or a repeated label",
    ),
    "order of names": (WIDE, {"order": ["agent", "task"]}, "--order has no effect at the nominal level. "),
    "unknown rater": (WIDE, {"raters": ["ann", "zoe"]}, "labels.csv has no rater 'zoe'. "),
    "rater twice": (WIDE, {"raters": ["ann", "Ann"]}, "rater 'Ann' is named twice. "),
    "one rater": ("item,ann\n1,a\n", {}, "agreement needs two raters, and there is one: 'ann'. "),
    "one rater chosen": (WIDE, {"raters": ["ann"]}, "agreement needs two raters, and there is one: 'ann'. "),
    "one rater in a long file": (
        "item,rater,label\n1,ann,a\n",
        {},
        "agreement needs two raters, and there is one: 'ann'. ",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_with_file_and_line_and_how_to_put_it_right(labels_file: Path, case: str) -> None:
    text, options, message = BAD[case]
    if text is not None:
        labels_file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(MisstepError) as caught:
        read_labels(labels_file, **options)
    line = str(caught.value).replace(f"{labels_file.parent}/", "")
    assert line.startswith(message)
    assert caught.value.advice
    assert "\n" not in line
    assert caught.value.exit_code == 2


def test_labels_beyond_number_are_refused_and_the_column_with_most_of_them_is_named(labels_file: Path) -> None:
    rows = [f"run-{number},yes,no,note {number}" for number in range(1200)]
    text = "item,ann,ben,notes\n" + "\n".join(rows)
    with pytest.raises(InputError, match=r"1,202 distinct labels, more than 1,000; column 'notes' alone has 1,200"):
        read(labels_file, text, raters=["ann", "ben", "notes"])
    assert read(labels_file, text, raters=["ann", "ben"]).categories == ["no", "yes"]


def test_a_table_with_raters_beyond_number_is_refused(labels_file: Path) -> None:
    header = ",".join(["item", *(f"r{number}" for number in range(201))])
    with pytest.raises(UsageError, match="201 columns that would be raters"):
        read(labels_file, f"{header}\n1{',a' * 201}\n")
