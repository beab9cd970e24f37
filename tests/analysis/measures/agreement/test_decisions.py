"""CSV files for what comes after agreement: the consensus, and what to adjudicate."""

import csv
import io
from pathlib import Path

from misstep.analysis.labels import Reading, read_questions
from misstep.analysis.measures.agreement import QuestionReports, agreement_report
from misstep.analysis.measures.agreement.decisions import adjudication_csv, consensus_csv


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
