"""A table of judged items: which columns are what, what counts as one label, and what is asked about."""

from pathlib import Path

import pytest

from misstep_analysis.labels.judged_table import JudgedColumns, JudgedTable, read_judged_table
from misstep_harness.errors import InputError, MisstepError


def _read(folder: Path, text: str, *, renamed: dict[str, str] | None = None, **named: object) -> JudgedTable:
    file = folder / "results.csv"
    file.write_text(text)
    return read_judged_table(file, JudgedColumns(**named), renamed or {})


@pytest.mark.parametrize(
    ("header", "people", "judges", "scored"),
    [
        ("id,human_label,judge_label,judge_score", ["human_label"], ["judge_label"], ["judge_label"]),
        ("item,label,prediction,probability", ["label"], ["prediction"], ["prediction"]),
        ("id,groundTruth,gptJudge,claudeJudge", ["groundTruth"], ["gptJudge", "claudeJudge"], []),
        ("id,expert 1,llm label,model_score", ["expert 1"], ["llm label"], []),
    ],
)
def test_columns_are_recognised_by_the_words_of_their_names(tmp_path, header, people, judges, scored) -> None:
    last = ("yes", "no") if "claude" in header else ("0.9", "0.8")
    rows = f"1,yes,no,{last[0]}\n2,no,no,{last[1]}\n"
    table = _read(tmp_path, f"{header}\n{rows}")
    assert (list(table.people), list(table.judges), list(table.scores)) == (people, judges, scored)


def test_letter_case_and_the_zeros_of_a_whole_number_make_no_other_label(tmp_path: Path) -> None:
    table = _read(tmp_path, "gold,judge\n1,1.0\n0,0\n,0.0\n")
    assert (table.people["gold"], table.judges["judge"]) == (("1", "0", ""), ("1", "0", "0"))
    cased = _read(tmp_path, "gold,judge\nYes,YES\nno,No\n")
    assert cased.judges["judge"] == ("Yes", "no")


def test_a_mark_of_a_missing_label_that_counts_as_one_is_named_with_its_column(tmp_path: Path) -> None:
    table = _read(tmp_path, "gold,judge\nyes,None\nno,no\nN/A,yes\nyes,yes\n")
    assert table.labels == ("N/A", "no", "yes")
    assert table.remarks == (
        "gold: 'N/A' is counted as a label (1 cell): leave the cell empty where it means missing",
        "judge: 'None' is counted as a label (1 cell): leave the cell empty where it means missing",
    )


def test_rows_about_one_item_are_told_apart_and_clustered(tmp_path: Path) -> None:
    table = _read(tmp_path, "task,gold,judge\na,yes,yes\na,no,yes\nb,no,no\n")
    assert table.items == ("a 1", "a 2", "b")
    assert table.clusters == {"a 1": "a", "a 2": "a", "b": "b"}
    assert "clustered" in table.remarks[0]


def test_labels_of_a_judge_are_mapped_to_those_of_people(tmp_path: Path) -> None:
    text = "gold,judge\n1,pass\n0,fail\n"
    assert _read(tmp_path, text, renamed={"PASS": "1", "fail": "0"}).judges["judge"] == ("1", "0")


def test_scores_that_are_no_probabilities_are_left_out_or_refused_if_named(tmp_path: Path) -> None:
    text = "gold,judge,judge_score\nyes,yes,7\nno,no,0.5\n"
    table = _read(tmp_path, text)
    assert (table.scores, len(table.remarks)) == ({}, 1)
    with pytest.raises(InputError, match=r"results.csv:2: judge_score: the score '7'"):
        _read(tmp_path, text, scores=["judge_score"])


def test_a_column_called_like_a_judge_that_says_nothing_of_what_people_say_is_none(tmp_path: Path) -> None:
    text = "human_label,model,model_answer,judge_label\nyes,m-1,it is done,yes\nno,m-1,it is not,no\n"
    table = _read(tmp_path, text)
    assert list(table.judges) == ["judge_label"]
    assert table.remarks[0].endswith("common with people: 'model', 'model_answer'; --judge names one")
    assert list(_read(tmp_path, text, renamed={"m-1": "yes"}).judges) == ["model", "judge_label"]


@pytest.mark.parametrize(
    ("text", "named", "message"),
    [
        ("a,b\n1,2\n", {}, r"which column has the human labels.*Add --human COLUMN.* --human a --judge b"),
        ("gold,b\n1,2\n", {}, "which column has the judge's labels.* --human gold --judge b"),
        ("gold,judge\n1,pass\n", {}, "no label in common.*--label pass=1"),
        ("gold,judge\n1,1\n", {"judges": ["other"]}, "--judge other.*no such column"),
        ("gold,judge\n1,1\n", {"people": ["judge"], "judges": ["judge"]}, "named for people and for a judge"),
        ("gold,judge,judge_b\n1,1,1\n", {"scores": ["gold"]}, "--score gold with several judges"),
    ],
)
def test_a_table_that_leaves_a_choice_is_asked_about(tmp_path, text, named, message) -> None:
    with pytest.raises(MisstepError, match=message):
        _read(tmp_path, text, **named)


def test_a_mapping_to_a_label_that_people_do_not_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MisstepError, match="'2' is not a label of people"):
        _read(tmp_path, "gold,judge\n1,pass\n", renamed={"pass": "2"})


@pytest.mark.parametrize(
    ("header", "scored"),
    [
        ("gold,judge,judge_b,judge_score", None),
        ("gold,judge_a,judge_b,judge_score", None),
        ("gold,judge label,other judge,judge_confidence", None),
        ("gold,judge_a,judge_b,judge_b_score", {"judge_b"}),
        ("gold,judge,judge_b,judge_score,judge_b_score", {"judge", "judge_b"}),
        ("gold,judge,judge_score", {"judge"}),
        ("gold,judge,confidence", {"judge"}),
    ],
)
def test_scores_that_may_be_those_of_two_judges_are_asked_about(tmp_path, header: str, scored) -> None:
    cells = {"gold": ("yes", "no"), "judge": ("yes", "no")}
    numbers = ("score" in name or "confidence" in name for name in header.split(","))
    columns = [("0.9", "0.4") if number else cells["judge"] for number in numbers]
    text = f"{header}\n" + "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))
    if scored is not None:
        assert set(_read(tmp_path, text).scores) == scored
        return
    with pytest.raises(InputError, match=r"may be those of .* --score '?judge.*; or name one judge"):
        _read(tmp_path, text)
    name = header.rpartition(",")[2]
    judge = header.split(",")[1]
    assert set(_read(tmp_path, text, scores=[f"{judge}={name}"]).scores) == {judge}


def test_a_score_that_is_told_is_of_a_judge_of_the_table(tmp_path: Path) -> None:
    with pytest.raises(MisstepError, match=r"'gold' is not a judge here\. The judges are 'judge'"):
        _read(tmp_path, "gold,judge,certain\nyes,no,0.5\n", scores=["gold=certain"])


def test_columns_named_for_labels_are_nobodys_scores(tmp_path: Path) -> None:
    text = "human_score,judge_score\n1,2\n2,2\n"
    table = _read(tmp_path, text, people=["human_score"], judges=["judge_score"])
    assert (table.scores, table.remarks) == ({}, ())


LONG = "annotator,trace_id,verdict\nhuman,t1,pass\nhuman,t2,fail\njudge,t2,pass\njudge,t1,pass\n"


def test_a_rating_a_row_is_read_whoever_comes_first(tmp_path: Path) -> None:
    table = _read(tmp_path, LONG)
    assert (table.items, table.people, table.judges) == (
        ("t1", "t2"),
        {"human": ("pass", "fail")},
        {"judge": ("pass", "pass")},
    )
    named = _read(tmp_path, LONG.replace("human", "ann").replace("judge", "ben"), people=["ann"], judges=["ben"])
    assert (named.people["ann"], named.judges["ben"]) == (("pass", "fail"), ("pass", "pass"))


def test_a_column_of_an_annotators_labels_is_not_one_of_raters(tmp_path: Path) -> None:
    table = _read(tmp_path, "task,annotator,verdict\na,yes,no\na,no,no\nb,yes,yes\nb,no,no\n")
    assert (list(table.people), list(table.judges)) == (["annotator"], ["verdict"])


@pytest.mark.parametrize(
    ("last", "told", "is_named"), [("unsure", None, True), ("4", None, False), ("unsure", "nominal", False)]
)
def test_one_word_among_grades_does_not_make_names_of_them_without_a_remark(tmp_path, last, told, is_named) -> None:
    table = _read(tmp_path, f"gold,judge\n1,1\n2,3\n3,2\n2,{last}\n", level=told)
    assert table.level == ("ordinal" if last == "4" else "nominal")
    assert any("grades are read as names, for 'unsure'" in remark for remark in table.remarks) == is_named


@pytest.mark.parametrize("written", ["{}.0", "{},0"])
def test_grades_that_a_spreadsheet_writes_with_a_zero_are_grades(tmp_path: Path, written: str) -> None:
    rows = "".join(f"{written.format(a)};{written.format(b)}\n" for a, b in ((1, 1), (2, 3), (3, 3)))
    table = _read(tmp_path, f"gold;judge\n{rows};1\n")
    assert (table.level, table.labels) == ("ordinal", ("1", "2", "3"))


def test_thousands_are_not_whole_numbers_with_a_decimal_comma(tmp_path: Path) -> None:
    assert _read(tmp_path, "gold;judge\n1,000;1\n1;1\n").labels == ("1", "1,000")


def test_the_label_that_another_means_may_be_written_in_any_way_of_it(tmp_path: Path) -> None:
    table = _read(tmp_path, "gold,judge\n1.0,pass\n0.0,fail\n", renamed={"pass": "1.0", "fail": "0"})
    assert table.judges["judge"] == ("1", "0")


def test_scores_may_have_a_decimal_comma_and_one_may_be_missing(tmp_path: Path) -> None:
    table = _read(tmp_path, "gold;judge;judge_score\nyes;no;0,75\nno;no;NaN\n")
    assert (table.scores, table.remarks) == ({"judge": (0.75, None)}, ())


@pytest.mark.parametrize("cells", [[""] * 21, [f"no, for reason {n}" for n in range(21)]])
def test_a_column_that_is_called_like_labels_and_holds_none_is_named(tmp_path: Path, cells: list[str]) -> None:
    text = "id,human_label,judge_label\n" + "".join(f'{n},yes,"{cell}"\n' for n, cell in enumerate(cells))
    with pytest.raises(InputError, match=r"'judge_label' seems to hold .* nothing"):
        _read(tmp_path, text)


def test_the_option_that_says_what_a_label_means_can_be_pasted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"as --label '\[\[A\]\]=A'\."):
        _read(tmp_path, "gold,judge\nA,[[A]]\nA,[[A]]\n")
