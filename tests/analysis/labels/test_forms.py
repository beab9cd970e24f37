"""Columns are recognised by rules that a person can foresee and that are reported; options go before them."""

from pathlib import Path

import pytest

from misstep_harness.errors import InputError, UsageError
from tests.analysis.labels.shown import given, read, read_several

EXPECTED = {"r1": {"ann": "yes", "ben": "yes"}, "r2": {"ann": "no", "ben": "yes"}}
ROWS = [(item, rater, label) for item, labels in EXPECTED.items() for rater, label in labels.items()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "labels.csv"


def long(item: str, rater: str, label: str, **more: str) -> str:
    lines = [",".join([item, rater, label, *more])]
    lines += [",".join([*row, *(f"{value}{number}" for value in more.values())]) for number, row in enumerate(ROWS)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("item", "rater", "label"),
    [
        ("task_id", "annotator", "category"),
        ("Document ID", "Coder", "Rating"),
        ("id", "user", "is it a loop"),
        ("trajectory", "completed_by", "loop?"),
        ("what was read", "annotator", "label"),
    ],
)
def test_a_long_file_with_other_names_is_recognised_and_said(path: Path, item: str, rater: str, label: str) -> None:
    labels = read(path, long(item, rater, label))
    assert given(labels) == EXPECTED
    assert labels.remarks == [f"read as one rating a row: items in {item!r}, raters in {rater!r}, labels in {label!r}"]


def shaped(delimiter: str, names: str, order: str) -> str:
    """Twelve items by three raters, in some order of the columns, beside what an export brings along."""
    rows = [
        {"i": f"case {item}", "r": rater, "l": ("agent", "task")[(item + (rater == "ben") * (item % 5 == 0)) % 2]}
        | {"n": str(3 * item + place), "t": f"2026-05-01 10:{item:02d}", "c": "unclear" if item % 4 else "see log"}
        for item in range(12)
        for place, rater in enumerate(("ann", "ben", "cleo"))
    ]
    return "\n".join([names, *(delimiter.join(row[one] for one in order) for row in rows)])


@pytest.mark.parametrize(
    ("delimiter", "names", "order"),
    [
        (",", "rater,case name,verdict", "ril"),
        (";", "\ufeffRATER;Case Name;Verdict", "ril"),
        ("\t", "Prüfer\tFall\tKategorie", "ril"),
        (";", "étiquette;cas;annotateur", "lir"),
        (",", "said,who,about what", "lri"),
        (",", "annotation_id,coder,fall,kategorie", "nril"),
        (";", "nr;Kommentar;wer;was;Urteil;Zeit", "ncrilt"),
    ],
)
def test_a_long_file_is_told_by_what_stands_in_its_columns_in_any_order(path, delimiter, names, order) -> None:
    expected = given(read(path, shaped(",", "item,rater,label", "irl")))
    assert len(expected) == 12
    assert given(read(path, shaped(delimiter, names, order))) == expected


def test_items_are_in_the_column_that_tells_most_of_them_apart(path: Path) -> None:
    text = "task,id,annotator,label\nfix,r1,ann,yes\nfix,r1,ben,yes\nfix,r2,ann,no\nfix,r2,ben,yes\n"
    assert given(read(path, text)) == EXPECTED


def test_a_file_with_items_on_several_rows_and_no_known_raters_says_how_to_name_its_columns(path: Path) -> None:
    with pytest.raises(InputError, match="item 'r1' is on line 2 already") as asked:
        read(path, long("what", "who", "which"))
    assert "--item, --rater and --label" in asked.value.advice


def test_options_name_columns_that_are_not_recognised(path: Path) -> None:
    text = long("what", "who", "which", when="2026-05-0")
    labels = read(path, text, item="what", rater="WHO", labels=["which"])
    assert given(labels) == EXPECTED
    assert labels.remarks == ["columns besides what, who and which are not looked at: 'when'"]


def test_several_columns_that_may_hold_labels_are_asked_about(path: Path) -> None:
    text = "id,annotator,cause,severity\n1,ann,a,low\n1,ben,a,high\n2,ann,b,low\n2,ben,a,low\n"
    with pytest.raises(InputError, match="2 columns may hold the labels: 'cause', 'severity'") as asked:
        read(path, text)
    assert "--label" in asked.value.advice
    assert read(path, text, labels=["severity"]).categories == ["high", "low"]
    both, remarks = read_several(path, text, labels=["cause", "severity"])
    assert {name: labels.categories for name, labels in both.items()} == {
        "cause": ["a", "b"],
        "severity": ["high", "low"],
    }
    assert remarks[0].startswith("read as one rating a row: items in 'id', raters in 'annotator'")


def test_a_property_of_the_item_is_no_label(path: Path) -> None:
    text = "id,annotator,title,verdict of all\n" + "".join(
        f"{item},{who},run {item},{'yes' if item % 3 else 'no'}\n" for item in range(12) for who in ("ann", "ben")
    )
    assert read(path, text).categories == ["no", "yes"]


def test_questions_that_a_column_names_are_measured_apart(path: Path) -> None:
    text = "item,rater,label,topic\n" + "".join(
        f"{item},{who},{topic[0]}{item},{topic}\n"
        for topic in ("cause", "severity")
        for item in (1, 2)
        for who in ("ann", "ben")
    )
    with pytest.raises(InputError, match="'ann' rated '1' on line 2 already") as asked:
        read(path, text)
    assert "--by COLUMN" in asked.value.advice
    result, _ = read_several(path, text, by="topic")
    assert {name: labels.categories for name, labels in result.items()} == {
        "cause": ["c1", "c2"],
        "severity": ["s1", "s2"],
    }


def test_a_wide_file_may_name_its_questions_too(path: Path) -> None:
    text = "item,topic,ann,ben\n1,cause,a,b\n1,severity,low,low\n2,cause,b,b\n2,severity,high,low\n"
    result, _ = read_several(path, text, by="topic")
    assert given(result["severity"]) == {"1": {"ann": "low", "ben": "low"}, "2": {"ann": "high", "ben": "low"}}


def test_a_question_that_one_rater_answered_is_left_out_and_said(path: Path) -> None:
    text = "item,rater,label,topic\n1,ann,a,one\n1,ben,a,one\n1,ann,b,two\n"
    result, remarks = read_several(path, text, by="topic")
    assert list(result) == ["one"]
    assert "question 'two' has fewer than two raters and is left out" in remarks
    with pytest.raises(UsageError, match="no question of"):
        read_several(path, text.replace("1,ben,a,one\n", "1,ben,a,three\n"), by="topic")


def test_a_row_without_a_question_is_named(path: Path) -> None:
    text = "item,rater,label,topic\n1,ann,a,one\n1,ben,a,\n"
    with pytest.raises(InputError, match=r"labels\.csv:3: topic: no question"):
        read_several(path, text, by="topic")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rater": "nobody"}, "--rater nobody: .* has no such column"),
        ({"item": "x"}, "--item x: .* has no such column"),
        ({"by": "x"}, "--by x: .* has no such column"),
        ({"labels": ["x"]}, "--label x: .* has no such column"),
        ({"item": "who", "rater": "who", "labels": ["which"]}, "one column is named for two things"),
        ({"rater": "what", "labels": ["who"]}, "no column is known to hold the items of ratings"),
        ({"item": "which", "labels": ["what"]}, "no column is known to hold the raters of ratings"),
    ],
)
def test_a_column_that_is_not_there_or_not_known_is_asked_for(path, options, message) -> None:
    with pytest.raises((InputError, UsageError), match=message):
        read(path, long("what", "who", "which"), **options)


AGAIN = "item,rater,label,updated_at\n1,ann,a,2026-05-03\n1,ann,b,2026-05-01\n1,ben,a,2026-05-02\n1,ann,,2026-05-09\n"


@pytest.mark.parametrize(("keep", "label"), [("last", "a"), ("first", "b")])
def test_a_rating_given_again_is_chosen_by_its_time(path: Path, keep: str, label: str) -> None:
    labels = read(path, AGAIN, keep=keep)
    assert given(labels) == {"1": {"ann": label, "ben": "a"}}
    assert labels.remarks == [
        f"of several ratings of an item by one rater the {keep} is kept, by column 'updated_at': 1 left out"
    ]


def test_a_mark_of_a_missing_rating_is_none_that_was_given_again(path: Path) -> None:
    labels = read(path, AGAIN.replace("ann,,", "ann,NA,"), keep="last", missing=["na"])
    assert given(labels) == {"1": {"ann": "a", "ben": "a"}}


@pytest.mark.parametrize(("keep", "label"), [("last", "b"), ("first", "a")])
def test_without_times_that_can_be_understood_the_order_of_the_rows_counts(path: Path, keep: str, label: str) -> None:
    labels = read(path, AGAIN.replace("2026-05-03", "today"), keep=keep)
    assert given(labels) == {"1": {"ann": label, "ben": "a"}}
    assert "by their order in the file: 1 left out" in labels.remarks[-1]


def test_rows_of_a_wide_file_may_be_given_again(path: Path) -> None:
    labels = read(path, "item,ann,ben\n1,a,a\n2,a,b\n1,b,b\n", keep="last")
    assert given(labels) == {"2": {"ann": "a", "ben": "b"}, "1": {"ann": "b", "ben": "b"}}


@pytest.mark.parametrize("word", ["NA", "N/A", "?", "None"])
def test_a_label_that_a_person_calls_missing_is_missing_and_said(path: Path, word: str) -> None:
    labels = read(path, f"item,ann,ben\n1,yes,{word}\n2,no,no\n", missing=[word.lower(), "-"])
    assert given(labels) == {"1": {"ann": "yes"}, "2": {"ann": "no", "ben": "no"}}
    assert labels.remarks == [
        f"{word.lower()!r} is taken for a missing rating in 1 cell",
        "'-' to stand for a missing rating is in no cell",
    ]


def test_of_names_only_whole_numbers_are_missing_in_another_spelling(path: Path) -> None:
    labels = read(path, "item,ann,ben\n1,1.1,99.0\n2,1.10,1.1\n3,2,2\n", missing=["1.1", "99"])
    assert given(labels) == {"1": {}, "2": {"ann": "1.10"}, "3": {"ann": "2", "ben": "2"}}


def test_numbers_with_a_missing_word_among_them_say_how_to_name_it(path: Path) -> None:
    text = "item,ann,ben\n1,1,NA\n2,2,3\n"
    for level in ("ordinal", "interval"):
        with pytest.raises(InputError) as asked:
            read(path, text, level=level)
        assert "--missing NA" in asked.value.advice
        assert read(path, text, level=level, missing=["NA"]).values == [1, 2, 3]


COMMA = "item;ann;ben\n1;2,5;3\n2;1,25;2,5\n"


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_a_decimal_comma_is_read_as_a_point_where_all_labels_are_numbers_then(path: Path, level: str) -> None:
    labels = read(path, COMMA, level=level)
    assert labels.values == [1.25, 2.5, 3]
    assert labels.remarks == [
        "a comma in numbers is read as a decimal point; --decimal point keeps such labels as they are"
    ]


@pytest.mark.parametrize(
    "text",
    [COMMA.replace("2,5;3", "2.5;3"), "item;ann;ben\n1;1,000;2,000\n", 'item,ann,ben\n1,"2,5",3\n'],
)
def test_a_comma_that_may_mean_something_else_is_asked_about(path: Path, text: str) -> None:
    with pytest.raises(InputError, match="is not a number") as asked:
        read(path, text, level="interval")
    assert "--decimal comma" in asked.value.advice


def test_a_person_may_say_what_a_comma_means(path: Path) -> None:
    assert read(path, COMMA).categories == ["1,25", "2,5", "3"]
    assert read(path, COMMA, decimal="comma").categories == ["1.25", "2.5", "3"]
    assert read(path, "item;ann;ben\n1;1,000;2\n", level="interval", decimal="comma").values == [1, 2]
    with pytest.raises(InputError):
        read(path, COMMA, level="interval", decimal="point")


@pytest.mark.parametrize(
    ("header", "raters"),
    [("rater1,rater2", ()), ("WorkerA,WorkerB", ()), ("ann,ben", ("ann", "ben")), ("x,b,c", ("b", "c"))],
)
def test_a_table_in_which_no_column_names_the_items_has_one_a_row(path: Path, header: str, raters) -> None:
    rows = [line + ",a" * (header.count(",") - 1) for line in ("a,a", "b,a", "b,b", "a,a")]
    labels = read(path, "\n".join([header, *rows]), raters=raters)
    assert labels.items == ["row 1", "row 2", "row 3", "row 4"]
    assert labels.raters == list(raters or header.split(","))
    assert labels.remarks == ["no column names the items: each row is one"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,good,bad\n1,3,0\n2,2,1\n3,0,3\n4,1,2\n5,3,0\n6,3,0\n", "each row adds up to 3"),
        ("ann,good,bad\ngood,30,2\nbad,4,20\n", "rows and columns have the same names"),
    ],
)
def test_counts_of_ratings_are_no_ratings_unless_a_person_says_so(path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(path, text)
    assert read(path, text, raters=["good", "bad"]).raters == ["good", "bad"]


@pytest.mark.parametrize(
    ("item", "rater", "label"),
    [
        ("ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "OUTPUT:q1"),
        ("HITId", "WorkerId", "Answer.kind"),
        ("input.taskId", "meta.annotatorName", "answer"),
    ],
)
def test_columns_of_crowds_are_known_by_the_last_part_of_their_names(path: Path, item, rater, label) -> None:
    rows = [(f"w{who}", f"t{task}", "ab"[task % (who + 2) > 1]) for who in range(6) for task in range(4)]
    header = ",".join((rater, item, label, "ASSIGNMENT:status"))
    labels = read(path, "\n".join([header, *(f"{who},{task},{one},OK" for who, task, one in rows)]))
    assert (labels.items, labels.raters) == ([f"t{n}" for n in range(4)], [f"w{n}" for n in range(6)])


@pytest.mark.parametrize("name", ["annotator_id", "annotator.id", "workerId"])
def test_a_column_called_like_raters_is_none_of_items_also_where_it_has_more_names(path: Path, name: str) -> None:
    rows = [f"w{who},t{task},{'ab'[task % (who + 2) > 1]}" for who in range(6) for task in range(4)]
    labels = read(path, "\n".join([f"{name},ticket,label", *rows]))
    assert labels.items == [f"t{n}" for n in range(4)]


def test_a_column_of_models_is_no_column_of_raters_unless_a_person_says_so(path: Path) -> None:
    rows = [f"a{n // 2},m{n % 2},{'yes' if n % 3 else 'no'}" for n in range(12)]
    text = "\n".join(["article,model,label", *rows])
    with pytest.raises(InputError, match="Where a row is one rating: --item, --rater"):
        read(path, text)
    assert read(path, text, rater="model").raters == ["m0", "m1"]


def test_a_column_that_says_the_same_of_all_items_is_not_taken_for_labels_by_itself(path: Path) -> None:
    rows = [f"t{n // 2},w{n % 2},30,the quick red fox {n} jumps" for n in range(12)]
    with pytest.raises(InputError, match="no column looks like labels: 'most', 'said'"):
        read(path, "\n".join(["task_id,worker_id,most,said", *rows]))


def test_the_name_of_an_item_is_shown_as_far_as_a_person_reads_it(path: Path) -> None:
    long = "word " * 200
    with pytest.raises(InputError) as caught:
        read(path, f"item,ann,ben\n{long},a,b\n{long},a,a\n")
    assert len(caught.value.found) < 150


def test_a_column_of_raters_that_names_one_alone_is_said(path: Path) -> None:
    text = "\n".join(["output_id,rater_id,rating", *(f"{n},R1,{n % 3}" for n in range(8))])
    with pytest.raises(InputError, match="needs two raters, and 'rater_id' names one: 'R1'"):
        read(path, text)
