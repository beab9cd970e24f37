"""Rows of a table with one error each, and the same without it: each error is found and no sound row is accused."""

from pathlib import Path

import pytest

from misstep_analysis.audit.findings import Finding, row_findings
from misstep_analysis.audit.user_file import read_user_rows
from misstep_analysis.tables import FAILED

CUT, ROWS, COLUMNS = "cut off instead of rounded", "rows of the two classes are swapped", "columns are swapped"
CELLS, CLASSES = "tp=72;fp=11;fn=115;tn=46", "positives=187;negatives=57"
ARMS, TWO = "x1=60;n1=200;x2=90;n2=200", "a=33.0%;b=29.8%"
CHANGE, PAIRS = "from=29.8%;to=33.0%", "n=50;agreements=98% 96% 94%"

PLANTED = [
    ("one digit of a count", "percentage", "18.6%", "18.6%", "count=42;n=226", "count=47;n=226", ""),
    ("a count above its total", "percentage", "95.0%", "95.0%", "count=190;n=200", "count=209;n=200", ""),
    ("total off by one", "sum", "79", "80", "parts=31 27 21", "", ""),
    ("total of rounded parts", "sum", "2.0%", "2.2%", "parts=0.8% 1.2%", "", ""),
    ("exchanged digits of a part", "sum", "315", "315", "parts=264 51", "parts=246 51", ""),
    ("percentage of another n", "percentage", "42.0%", "42.0%", "count=21;n=50", "count=21;n=51", ""),
    ("percentage of another n, no count", "percentage", "33.3%", "33.3%", "n=12", "n=11", ""),
    ("percentage cut off", "percentage", "62.6%", "62.5%", "count=251;n=401", "", CUT),
    ("percentage cut off, no count", "percentage", "0.6%", "0.5%", "n=181", "", CUT),
    ("exchanged digits of a percentage", "percentage", "18.58%", "18.85%", "count=42;n=226", "", ""),
    ("exchanged digits, no count", "percentage", "15.38%", "15.83%", "n=13", "", ""),
    ("percentage above 100", "percentage", "92.3%", "192.3%", "n=13", "", ""),
    ("last digit of a mean", "mean", "3.19", "3.18", "n=16", "", ""),
    ("mean of steps", "mean", "2.50", "3.00", "n=4;step=5", "", ""),
    ("precision of the other class", "precision_recall", "0.867", "0.286", f"{CELLS};measure=precision", "", ROWS),
    ("recall of the other class", "precision_recall", "0.385", "0.807", f"{CELLS};measure=recall", "", ROWS),
    (
        "recall for precision",
        "precision_recall",
        "0.83",
        "0.25",
        "tp=10;fp=2;fn=30;tn=8;measure=precision",
        "",
        COLUMNS,
    ),
    ("rows of two classes", "precision_recall", "0.867/0.385", "0.286/0.807", CLASSES, "", ROWS),
    ("accuracy of cells", "precision_recall", "0.48", "0.84", f"{CELLS};measure=accuracy", "", ""),
    ("F1 of cells", "precision_recall", "0.53", "0.35", f"{CELLS};measure=f1", "", ""),
    ("a cell above its class", "precision_recall", "0.867", "0.867", CELLS, f"{CELLS};positives=70", ""),
    ("one-sided p-value", "two_proportion_p", "0.0020", "0.0010", ARMS, "", "one-sided"),
    ("p-value of another row", "two_proportion_p", "0.0020", "0.41", ARMS, "", ""),
    ("one digit of a p-value", "two_proportion_p", "0.0020", "0.0090", ARMS, "", ""),
    ("stars of another level", "stars", "**", "***", "p=0.004;one=0.05;two=0.01;three=0.001", "", ""),
    ("sign of a difference", "difference", "3.2pp", "-3.2pp", TWO, "", "opposite sign"),
    ("relative change for a difference", "difference", "3.2pp", "10.7pp", TWO, "", "relative change"),
    ("difference for a relative change", "relative_change", "+10.7%", "+3.2%", CHANGE, "", "difference"),
    ("sign of a change", "relative_change", "+10.7%", "-10.7%", CHANGE, "", "opposite sign"),
    ("change of the second figure", "relative_change", "+10.7%", "+9.7%", CHANGE, "", "second figure"),
    ("quotient of another part", "share_of", "0.64", "0.46", "part=6.1;whole=9.5", "", ""),
    ("stale copy", "same", "226", "229", "other=226", "", ""),
    ("copy cut off", "same", "62.6%", "62.5%", "other=62.59%", "", "cut off"),
    ("one digit of kappa", "kappa", "0.60", "0.70", "matrix=40 10/10 40", "", ""),
    ("kappa above the agreement", "kappa", "0.60", "0.84", "n=60;agreement=48/60", "", ""),
    ("agreement that is not the mean of pairs", "rater_agreement", "96%", "93%", PAIRS, "", ""),
    ("Fleiss' kappa above the agreement", "rater_agreement", "0.90", "0.99", PAIRS, "", ""),
]
"""What is planted, the check, the sound and the wrong print, the inputs, other inputs of the wrong row, the repair."""


def finding(folder: Path, check: str, printed: str, inputs: str) -> Finding:
    file = folder / "table.csv"
    file.write_text(f'id,check,printed,inputs\nrow,{check},{printed},"{inputs}"\n')
    (one,) = row_findings(read_user_rows(file), "table.csv")
    return one


@pytest.mark.parametrize(
    ("check", "sound", "wrong", "inputs", "wrong_inputs", "repair"),
    [one[1:] for one in PLANTED],
    ids=[one[0] for one in PLANTED],
)
def test_a_planted_error_is_found_and_the_sound_row_is_not_accused(
    check: str, sound: str, wrong: str, inputs: str, wrong_inputs: str, repair: str, tmp_path: Path
) -> None:
    assert finding(tmp_path, check, sound, inputs).status not in FAILED
    found = finding(tmp_path, check, wrong, wrong_inputs or inputs)
    assert found.status in FAILED, found.sentence
    assert repair in found.suggestion
