"""The tables of an agreement report: words for a coefficient, matrices where they fit, lists cut with a word."""

import csv
import io
from pathlib import Path

import pytest

from misstep_analysis.agreement import AgreementReport, QuestionReports, agreement_report
from misstep_analysis.agreement.tables import (
    adjudication_csv,
    confusion_tables,
    consensus_csv,
    disagreement_tables,
    headline,
    reading,
)
from misstep_analysis.labels import Reading, ScaleLevel, read_labels, read_questions


def report(folder: Path, lines: list[str], level: ScaleLevel = "nominal") -> AgreementReport:
    path = folder / "labels.csv"
    path.write_text("\n".join(lines) + "\n")
    return agreement_report(read_labels(path, level=level), level, resamples=50)


@pytest.mark.parametrize(
    ("kappa", "words"),
    [
        (-0.01, "poor"),
        (0.0, "slight"),
        (0.2, "slight"),
        (0.21, "fair"),
        (0.4, "fair"),
        (0.6, "moderate"),
        (0.61, "substantial"),
        (0.8, "substantial"),
        (0.81, "almost perfect"),
        (1.0, "almost perfect"),
    ],
)
def test_a_coefficient_in_the_words_of_landis_and_koch(kappa: float, words: str) -> None:
    assert reading(kappa) == words


def test_the_headline_suits_the_level_of_measurement(tmp_path: Path) -> None:
    lines = ["item,ann,ben", "1,1,2", "2,3,3", "3,1,1"]
    assert headline(report(tmp_path, lines)).partition(". ")[2].startswith("Fleiss' kappa is ")
    assert (
        headline(report(tmp_path, lines, "interval"))
        .partition(". ")[2]
        .startswith("Krippendorff's alpha (interval) is ")
    )


def test_few_labels_give_a_matrix_a_pair_and_many_a_list_of_confusions(tmp_path: Path) -> None:
    few = report(tmp_path, ["item,ann,ben", "1,a,b", "2,a,a", "3,b,b"])
    assert [table.name for table in confusion_tables(few)] == ["confusion_1"]
    assert [table.name for table in disagreement_tables(few)] == ["disagreements", "ties"]
    many = report(tmp_path, ["item,ann,ben", "1,a,b", "2,a,b", "3,c,d", "4,e,f", "5,b,b"])
    (confusions,) = confusion_tables(many)
    assert confusions.finding == "Most often, ann said a where ben said b: 2 items."
    assert [(row.quantity, row.value) for row in confusions.rows] == [("a / b", 2), ("c / d", 1), ("e / f", 1)]


def test_long_lists_are_cut_and_say_how_much_is_left(tmp_path: Path) -> None:
    result = report(tmp_path, ["item,ann,ben", *(f"{item},{'ab'[item % 2]},{'ba'[item % 2]}" for item in range(250))])
    disagreements = next(disagreement_tables(result))
    assert len(disagreements.rows) == 200 * 2
    assert disagreements.notes == ("The first 200; 50 more are in the output of --json.",)
    assert disagreements.finding == "Raters differ on 250 items of 250 (100.0%)."


def test_perfect_agreement_has_no_table_of_disagreements(tmp_path: Path) -> None:
    result = report(tmp_path, ["item,ann,ben", "1,a,a", "2,b,b"])
    assert list(disagreement_tables(result)) == []


def test_with_more_raters_than_fit_abreast_labels_are_tallied(tmp_path: Path) -> None:
    result = report(tmp_path, ["item,a,b,c,d,e,f", "1,x,x,y,x,y,z", "2,x,x,x,x,x,x"])
    disagreements = next(disagreement_tables(result))
    assert [row.value for row in disagreements.rows] == ["x 3, y 2, z 1"]


def found(folder: Path, text: str, **options: object) -> QuestionReports:
    path = folder / "labels.csv"
    path.write_text(text)
    questions = read_questions(path, Reading(**options))  # type: ignore[arg-type]
    reports = {name: agreement_report(labels, resamples=10) for name, labels in questions.labels.items()}
    return QuestionReports(reports, questions.remarks)


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


LABELS = "item,ann,ben,cat\n1,a,a,b\n2,a,b,c\n3,b,b,b\n4,a,b,\n5,b,b,a\n6,,,\n"


def test_the_consensus_has_every_rated_item_and_names_the_labels_of_a_tie(tmp_path: Path) -> None:
    assert rows(consensus_csv(found(tmp_path, LABELS))) == [
        ["item", "label", "tied", "candidates"],
        ["1", "a", "no", ""],
        ["2", "", "yes", "a; b; c"],
        ["3", "b", "no", ""],
        ["4", "", "yes", "a; b"],
        ["5", "b", "no", ""],
    ]


def test_items_to_adjudicate_come_with_all_labels_the_most_disputed_first(tmp_path: Path) -> None:
    assert rows(adjudication_csv(found(tmp_path, LABELS))) == [
        ["item", "ann", "ben", "cat", "decision"],
        ["2", "a", "b", "c", ""],
        ["4", "a", "b", "", ""],
        ["1", "a", "a", "b", ""],
        ["5", "b", "b", "a", ""],
    ]


def test_several_questions_stand_in_one_file_under_their_names(tmp_path: Path) -> None:
    text = "item,rater,label,topic\n1,ann,a,x\n1,ben,b,x\n1,ben,c,y\n1,cat,d,y\n"
    several = found(tmp_path, text, by="topic")
    assert rows(adjudication_csv(several)) == [
        ["question", "item", "ann", "ben", "cat", "decision"],
        ["x", "1", "a", "b", "", ""],
        ["y", "1", "", "c", "d", ""],
    ]
    assert [row[:2] for row in rows(consensus_csv(several))] == [["question", "item"], ["x", "1"], ["y", "1"]]


def test_a_spreadsheet_finds_no_formula_in_names_and_labels(tmp_path: Path) -> None:
    text = 'item,=cmd(),decision\n"=1+1",@a,-\n2,-1,-1\n'
    assert rows(adjudication_csv(found(tmp_path, text))) == [
        ["item", "'=cmd()", "decision", "decision_"],
        ["'=1+1", "'@a", "'-", ""],
    ]
