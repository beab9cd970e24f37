"""Inputs that cannot be together reproduce nothing, end no audit, and what is wrong is named with its line."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep_analysis.audit.checks import check_all
from misstep_analysis.audit.findings import Finding, row_findings
from misstep_analysis.audit.user_file import read_user_rows
from misstep_analysis.published import Figure, Paper, PrintedMatrix
from misstep_harness.errors import InputError

HEADER = "id,check,printed,inputs\n"
SOUND = "sound,sum,3,parts=1 2\n"


def audited(folder: Path, check: str, printed: str, inputs: str) -> list[Finding]:
    """What a file says of a sound row and of one more."""
    file = folder / "figures.csv"
    file.write_text(f'{HEADER}{SOUND}one,{check},"{printed}","{inputs}"\n')
    return row_findings(read_user_rows(file), "figures.csv")


CONTRADICTORY = [
    ("percentage", "120%", "n=10;count=12"),
    ("percentage", "120%", "n=10"),
    ("percentage", "133.3%", "n=10;repeats=3;count=40"),
    ("two_proportion_p", "0.178", "x1=6;n1=10;x2=3;n2=10;share1=90%"),
    ("two_proportion_p", "0.178", "x1=6;n1=10;x2=3;n2=10;share1=60%;share2=50%"),
    ("two_proportion_p", "0.5", "x1=6;n1=5;x2=1;n2=5"),
    ("two_proportion_p", "1.5", "x1=3;n1=5;x2=1;n2=5"),
    ("stars", "**", "p=-0.1;one=0.05;two=0.01"),
    ("stars", "*", "p=0.03;one=5"),
    ("stars", "**", "p=0.005;one=0.01;two=0.05"),
    ("kappa", "0.60", "matrix=20 5/5 20;margins=30 20"),
    ("kappa", "0.60", "matrix=20 5/5 20;labels=1"),
    ("kappa", "0.60", "n=50;agreement=120%"),
    ("rater_agreement", "90.0%", "n=20;agreements=95% 90% 85%;kappas=120% 10% 5%"),
    ("rater_agreement", "90.0%", "n=20;agreements=95% 90% 85%;labels=1"),
    ("rater_agreement", "66.7%", "n=20;agreements=100% 100% 0%"),
    ("precision_recall", "0.5455", "tp=60;fp=50;n=100;measure=precision"),
    ("precision_recall", "0.5455", "tp=60;fp=50;fn=0;n=100;measure=precision"),
    ("precision_recall", "0.8/1", "tp=8;fp=2;fn=0;n=9"),
    ("precision_recall", "0.8", "tp=8;fp=2;positives=5;measure=precision"),
    ("precision_recall", "0.8", "tp=8;fp=2;n=20;positives=15;negatives=9;measure=precision"),
    ("precision_recall", "0.8", "tp=8;fp=2;fn=2;recall=0.1;measure=precision"),
    ("precision_recall", "0.8", "tp=8;fp=2;fn=2;tn=8;accuracy=0.1;measure=precision"),
    ("precision_recall", "0.8", "tp=8;fp=2;fn=2;tn=8;kappa=0.9;measure=precision"),
]


@pytest.mark.parametrize(("check", "printed", "inputs"), CONTRADICTORY)
def test_inputs_that_cannot_be_together_are_impossible_and_other_rows_go_on(tmp_path, check, printed, inputs) -> None:
    findings = audited(tmp_path, check, printed, inputs)
    assert findings[0].status == "reproduced"
    assert {one.status for one in findings[1:]} == {"impossible"}


@pytest.mark.parametrize(
    ("check", "printed", "inputs"),
    [
        ("two_proportion_p", "0.178", "x1=6;n1=10;x2=3;n2=10;share1=60%;share2=30.0%"),
        ("stars", "**", "p=0.005;one=0.05;two=0.01;three=0.001"),
        ("kappa", "0.60", "matrix=20 5/5 20;margins=25 25;labels=2"),
        ("precision_recall", "0.8", "tp=8;fp=2;fn=2;tn=8;recall=80%;accuracy=0.80;kappa=0.60;measure=precision"),
        ("precision_recall", "0.8", "tp=8;fp=2;n=10;measure=precision"),
        ("share_of", "120%", "part=12;whole=10"),
        ("rater_agreement", "90.0%", "n=20;agreements=95% 90% 85%"),
    ],
)
def test_inputs_that_say_one_thing_twice_are_no_contradiction(tmp_path, check, printed, inputs) -> None:
    assert {one.status for one in audited(tmp_path, check, printed, inputs)} == {"reproduced"}


@pytest.mark.parametrize(
    ("check", "printed", "inputs", "found"),
    [
        ("rater_agreement", "90.0%", "n=20;agreements=95% 90% 0.85", "95% has a percent sign and 0.85 has none"),
        ("two_proportion_p", "0.5", "share1=20%;n1=50;share2=0.1;n2=50", "20% has a percent sign and 0.1 has none"),
        ("precision_recall", "80%/0.5", "tp=8;fp=2;fn=8", "80% has a percent sign and 0.5 has none"),
        ("stars", "*", "p=0.03;one=5%", "one = 5% has a percent sign"),
        ("mean", "3", "n=-4", "is not a whole count"),
        ("percentage", "50%", "n=2.5", "is not a whole count"),
        ("kappa", "0.6", "matrix=20 -5/5 20", "is not a whole count"),
        ("sum", "3", "parts=nan 3", "is not a number"),
        ("mean", "inf", "n=3", "is not a number"),
    ],
)
def test_what_cannot_be_read_names_its_line(tmp_path, check: str, printed: str, inputs: str, found: str) -> None:
    with pytest.raises(InputError, match=rf"figures\.csv:3: .*{found}"):
        audited(tmp_path, check, printed, inputs)


NUMBERS = st.sampled_from(
    ["0", "1", "2", "5", "9", "10", "40", "-3", "2.5", "0.5", "50%", "120%", "0.8", "1e6", "nan", "<3"]
)
LISTS = {"parts", "beside", "agreements", "kappas", "margins"}
KEYS = {
    "percentage": ("n", "count", "repeats", "beside", "most"),
    "mean": ("n", "step", "repeats"),
    "two_proportion_p": ("n1", "n2", "x1", "x2", "share1", "share2"),
    "stars": ("p", "one", "two", "three"),
    "precision_recall": ("tp", "fp", "fn", "tn", "positives", "negatives", "n", "recall", "accuracy", "kappa"),
    "kappa": ("n", "agreement", "labels", "margins", "matrix"),
    "rater_agreement": ("n", "labels", "agreements", "kappas"),
    "sum": ("parts", "total"),
    "difference": ("a", "b"),
    "relative_change": ("from", "to"),
    "share_of": ("part", "whole"),
    "same": ("other",),
}


@st.composite
def rows(draw: st.DrawFn) -> tuple[str, str, dict[str, str]]:
    check = draw(st.sampled_from(sorted(KEYS)))
    inputs = {}
    for key in draw(st.sets(st.sampled_from(KEYS[check]), min_size=1)):
        cells = draw(st.lists(NUMBERS, min_size=4, max_size=4))
        if key == "matrix":
            inputs[key] = f"{cells[0]} {cells[1]}/{cells[2]} {cells[3]}"
        else:
            inputs[key] = " ".join(cells[:3]) if key in LISTS else cells[0]
    return check, draw(NUMBERS), inputs


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows())
def test_no_row_ends_the_audit_but_by_an_error_with_its_line_and_none_with_a_count_above_its_whole_is_reproduced(
    tmp_path: Path, row: tuple[str, str, dict[str, str]]
) -> None:
    check, printed, inputs = row
    try:
        findings = audited(tmp_path, check, printed, ";".join(f"{key}={value}" for key, value in inputs.items()))
    except InputError as error:
        assert "figures.csv:3" in str(error)  # noqa: PT017 (either is right)
        return
    above = {"percentage": [("count", "n")], "two_proportion_p": [("x1", "n1"), ("x2", "n2")]}.get(check, [])
    above += [(cell, "n") for cell in ("tp", "fp", "fn", "tn", "positives", "negatives")] * (
        check == "precision_recall"
    )
    whole = {key: float(value) for key, value in inputs.items() if re.fullmatch(r"\d+(e6)?", value)}
    for part, of in above:
        if {part, of} <= whole.keys() and "repeats" not in inputs and whole[part] > whole[of] > 0:
            assert "reproduced" not in {one.status for one in findings[1:]}


@pytest.mark.parametrize("columns", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
def test_a_right_kappa_is_right_whatever_the_order_of_the_columns(columns: tuple[str, ...]) -> None:
    counts = {"a": {"a": 20, "b": 3, "c": 1}, "b": {"a": 2, "b": 15, "c": 4}, "c": {"a": 0, "b": 5, "c": 10}}
    cells = {f"{row}{column}": counts[row][column] for row in counts for column in columns}
    figures = [Figure(name, "table", name, "count", str(n), "count") for name, n in cells.items()]
    matrix = PrintedMatrix(
        "m", "table", tuple(counts), columns, tuple(tuple(f"{r}{c}" for c in columns) for r in counts)
    )
    kappa = Figure("k", "table", "k", "kappa", "0.62", "coefficient", check="kappa", inputs={"matrix": "m"})
    [(_, checked)] = check_all(Paper("p", "P", "", (kappa, *figures), (matrix,)))
    assert checked.status == "reproduced"
