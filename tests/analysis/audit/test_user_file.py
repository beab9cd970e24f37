"""A user's file of printed figures: what people type is understood, and what cannot be is an error with its line."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.audit.findings import Finding, row_findings
from misstep_analysis.audit.row_figures import typed
from misstep_analysis.audit.user_file import read_user_rows
from misstep_harness.errors import InputError

HEADER = "id,check,printed,inputs\n"


def read(folder: Path, text: str | bytes) -> list[Finding]:
    file = folder / "figures.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return row_findings(read_user_rows(file), "figures.csv")


def judged(folder: Path, check: str, printed: str, inputs: str, row: str = "a") -> Finding:
    """What one row gives."""
    quoted = ",".join(f'"{cell}"' for cell in (row, check, printed, inputs))
    [result] = read(folder, HEADER + quoted + "\n")
    return result


@pytest.mark.parametrize(
    ("text", "digits", "sign", "bound", "approximate"),
    [
        ("49.0%", "49.0", "%", None, False),
        (" 49.0 % ", "49.0", "%", None, False),
        ("42,807", "42807", "", None, False),
        ("42\u202f807", "42807", "", None, False),
        ("42 807", "42807", "", None, False),
        ("1'250", "1250", "", None, False),
        ("5.14M", "5140000", "", None, False),
        ("\u22123.5 pp", "-3.5", "points", None, False),
        ("–3.5 percentage points", "-3.5", "points", None, False),
        ("+330%", "330", "%", None, False),
        ("< .001", "0.001", "", "below", False),
        ("p<=0.05", "0.05", "", "below", False),
        ("p = 0.03*", "0.03", "", None, False),
        ("1.2×10^-4", "0.00012", "", None, False),
        ("3e-5", "0.00003", "", None, False),
        ("200+", "200", "", "above", False),
        ("~14,300", "14300", "", None, True),
        ("about 50%", "50", "%", None, True),
    ],
)
def test_a_number_is_read_in_the_ways_people_write_it(text, digits, sign, bound, approximate) -> None:
    result = typed(text)
    assert (result.digits, result.sign, result.bound, result.approximate) == (digits, sign, bound, approximate)


@pytest.mark.parametrize("text", ["", "-", ".", "%", "n.s.", "49,0", "1,23", "1 2", "nan", "∞", "٣", "1e99", "9" * 50])
def test_what_is_no_number_is_said_not_guessed(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number|too many digits"):
        typed(text)


@given(st.text(max_size=80))
def test_any_text_is_a_number_or_a_sentence_why_not(text: str) -> None:
    with suppress(ValueError):
        assert typed(text).number.is_finite()


@given(st.integers(0, 10**8), st.integers(0, 6), st.booleans())
def test_grouped_thousands_change_nothing(whole: int, decimals: int, negative: bool) -> None:
    number = f"{'-' if negative else ''}{whole}" + (f".{'5' * decimals}" if decimals else "")
    grouped = f"{'-' if negative else ''}{whole:,}" + (f".{'5' * decimals}" if decimals else "")
    assert typed(grouped).number == typed(number).number


@pytest.mark.parametrize(
    ("check", "printed", "inputs", "status"),
    [
        ("percentage", "28.5%", "n=123", "reproduced"),
        ("percentage", "28.5", " N = 123 ; count = 35 ", "reproduced"),
        ("percentage", "49.0%", "n=123", "impossible"),
        ("percentage", "49.0%", "n=123;repeats=7", "reproduced"),
        ("Percentage", "50%", "n=1,000;count=511", "differs"),
        ("mean", "3.47", "n=19", "reproduced"),
        ("mean", "3.48", "n=19", "impossible"),
        ("mean", "3.19", "n=150", "underdetermined"),
        ("mean", "3.45", "n=10;step=0.5", "reproduced"),
        ("two_proportion_p", "<0.001", "x1=60;n1=123;x2=35;n2=123", "reproduced"),
        ("two-proportion p", "p = 0.4", "x1=60;n1=123;x2=35;n2=123", "differs"),
        ("kappa", "0.60", "matrix=20 5/5 20", "reproduced"),
        ("kappa", "0.60", "n=50;agreement=80%;matrix=20,5/5,20", "reproduced"),
        ("kappa", "0.60", "n=51;agreement=80%;matrix=20 5/5 20", "differs"),
        ("kappa", "0.60", "n=50;agreement=40/50;matrix=20 5/5 20", "reproduced"),
        ("kappa", "0.60", "n=50;agreement=41/50;matrix=20 5/5 20", "differs"),
        ("kappa", "0.83", "n=60;agreement=80%", "impossible"),
        ("kappa", "0.83", "n=60;agreement=48/60", "impossible"),
        ("kappa", "0.83", "n=60;agreement=80", "impossible"),
        ("kappa", "0.83", "n=60;agreement=48", "impossible"),
        ("kappa", "0.50", "n=12;agreement=9/12", "underdetermined"),
        ("rater_agreement", "90.0%", "n=20;agreements=95% 90% 85%", "reproduced"),
        ("rater_agreement", "90.0%", "n=20;agreements=19/20 18/20 85%", "reproduced"),
        ("rater_agreement", "94.0%", "n=20;agreements=95% 90% 85%", "differs"),
        ("sum", "119", "parts=93 26", "reproduced"),
        ("sum", "119", "parts=93, 26", "reproduced"),
        ("sum", "119", "parts=93+26", "reproduced"),
        ("sum", "3,234", "parts=1,234 2,000", "reproduced"),
        ("sum", "119", "parts=93 26;total=120", "differs"),
        ("sum", "120", "parts=93 26;total=119", "differs"),
        ("sum", "", "parts=93 26;total=119", "reproduced"),
        ("sum", "100", "parts=33.3% 33.3% 33.3%", "reproduced"),
        ("difference", "30.9 pp", "a=80.9%;b=50.0%", "reproduced"),
        ("difference", "-0.24", "a=0.592;b=0.833", "reproduced"),
        ("relative_change", "+50%", "from=40;to=60", "reproduced"),
        ("relative_change", "−50%", "from=40;to=60", "differs"),
        ("share_of", "12.6", "part=120;whole=9.5", "reproduced"),
        ("same", "42,807", "other=42807", "reproduced"),
        ("same", "42,807", "other=42,920", "differs"),
        ("stars", "0.3**", "p=0.003;one=0.05;two=0.01", "reproduced"),
    ],
)
def test_each_check_takes_the_keys_that_it_says(tmp_path, check, printed, inputs, status) -> None:
    result = judged(tmp_path, check, printed, inputs)
    assert (result.status, bool(result.explanation)) == (status, True)


JUDGE = "tp=40;fp=10;fn=40;tn=30"


@pytest.mark.parametrize(
    ("row", "printed", "inputs", "status", "computed"),
    [
        ("a", "0.80/0.50", JUDGE, "reproduced", 0.8),
        ("a", "80% / 50%", JUDGE, "reproduced", 80),
        ("a", "recall=0.50 precision=0.80", JUDGE, "reproduced", 0.5),
        ("a", "precision: 0.80, recall: 0.51", JUDGE, "differs", 0.5),
        ("a", "0.43/0.75", JUDGE, "differs", 0.8),
        ("a", "0.50", f"{JUDGE};measure=recall", "reproduced", 0.5),
        ("a", "0.50", f"{JUDGE};measure=precision", "differs", 0.8),
        ("the judge's precision", "0.50", JUDGE, "differs", 0.8),
        ("a", "0.50", JUDGE, "reproduced", 0.5),
        ("a", "0.50", "tp=40;positives=80;measure=recall", "reproduced", 0.5),
        ("a", "0.91", "positives=50;negatives=50", "underdetermined", None),
        ("a", "f1=0.62", JUDGE, "reproduced", 0.615384615385),
        ("a", "0.58", f"{JUDGE};measure=accuracy", "reproduced", 0.583333333333),
        ("a", "0.80/0.52", "positives=80;negatives=40", "impossible", None),
        ("a", "80%", "positives=80;negatives=40;measure=precision;recall=52%", "impossible", None),
    ],
)
def test_a_judges_figure_is_of_the_measure_that_is_named_or_that_fits(tmp_path, row, printed, inputs, status, computed):
    result = judged(tmp_path, "precision_recall", printed, inputs, row)
    assert (result.status, result.computed, result.printed) == (status, computed, printed)


def test_an_agreement_as_a_count_is_the_percentage_that_it_is_of_n(tmp_path: Path) -> None:
    count, share = (judged(tmp_path, "kappa", "0.50", f"n=12;agreement={text}") for text in ("9/12", "75%"))
    assert count.explanation == share.explanation
    assert count.explanation.startswith("9 of 12 agree")


def test_a_measure_that_was_not_named_is_said(tmp_path: Path) -> None:
    assert judged(tmp_path, "precision_recall", "0.50", JUDGE).explanation.startswith("As recall: 40 / 80 is")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,percentage,50%,n=2\nb,percent,50%,n=2", ":3: check: no check 'percent'"),
        ("a,,50%,n=2", ":2: check: no check"),
        (",percentage,50%,n=2", ":2: id: no id"),
        ("a,percentage,50%,n=2\na,percentage,50%,n=2", ":3: id: 'a' is on line 2 already"),
        ("a,percentage,half,n=2", ":2: printed: 'half' is not a number"),
        ("a,percentage,,n=2", ":2: printed: nothing is printed"),
        ("a,percentage,50%,n=two", ":2: inputs: n = 'two' is not a number"),
        ("a,percentage,50%,n=2.5", ":2: inputs: n = 2.5 is not a whole count"),
        ("a,percentage,50%,n=-2", ":2: inputs: n = -2 is not a whole count"),
        ("a,percentage,50%,m=2", ":2: inputs: percentage takes no 'm'"),
        ("a,percentage,50%,n=2;n=2", ":2: inputs: 'n' is given twice"),
        ("a,percentage,50%,n=", ":2: inputs: n has no value"),
        ("a,percentage,50%,2", ":2: inputs: '2' is not a key=value"),
        ("a,percentage,50%,", ":2: inputs: n is missing"),
        ("a,mean,3.1,n=10;step=0", ":2: inputs: step = 0 is not above 0"),
        ("a,kappa,0.6,n=40", ":2: inputs: agreement is missing"),
        ("a,kappa,0.5,n=12;agreement=9", "agreement = 9 may be a count or a percentage; write a count as 9/12"),
        ("a,rater_agreement,90%,n=20;agreements=19 18 17", "agreements = 19 may be a count or a percentage"),
        ("a,kappa,0.5,n=12;agreement=9/13", ":2: inputs: agreement = 9/13 is not of n = 12"),
        ("a,kappa,0.5,n=12;agreement=13/12", ":2: inputs: agreement = '13/12' is not part of a whole"),
        ("a,kappa,0.5,n=12;agreement=75%/12", ":2: inputs: agreement = '75%/12' is not part of a whole"),
        ("a,percentage,50%,n=9/12", ":2: inputs: n = '9/12' is not a number"),
        ("a,kappa,0.6,matrix=8 1/2", ":2: inputs: the matrix has rows of 2 / 1 cells"),
        ("a,kappa,0.6,matrix=8 1.5/2 3", ":2: inputs: matrix = 1.5 is not a whole count"),
        ("a,sum,5,total=5", ":2: inputs: parts is missing"),
        ("a,sum,5,parts=2% 3", ":2: inputs: some inputs have a percent sign and some have not"),
        ("a,two_proportion_p,0.1,x1=3;n1=9;n2=9", ":2: inputs: x2 is missing"),
        ("a,precision_recall,0.5,tp=5", ":2: inputs: tp and fp, or tp and fn, are missing"),
        ("a,precision_recall,0.5,tp=5;fp=5;measure=recall", ":2: inputs: recall needs fn too"),
        ("a,precision_recall,0.5,tp=5;fp=5;measure=f7", ":2: inputs: no measure 'f7'"),
        ("a,precision_recall,.1/.2/.3/.4/.5,tp=5;fp=5", ":2: printed: '.1/.2/.3/.4/.5' is not precision or recall"),
        ("a,sum,100,parts=40,60", ":2: 5 cells where the header has 4"),
        ('"a,percentage,50%,n=2', "not valid CSV"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_the_line(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read(tmp_path, f"{HEADER}{row}\n")
    assert caught.value.advice
    assert "figures.csv" in caught.value.line()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no printed figures"),
        (HEADER.encode(), "no printed figures"),
        (b"id,check,printed\na,percentage,50%\n", "no column inputs"),
        (HEADER.encode() + b"a,percentage,50\xff%,n=2\n", "not UTF-8"),
        (HEADER.encode() + b"a,percentage," + b"5" * 200_000 + b",n=2\n", "field larger than field limit|not a number"),
    ],
)
def test_a_file_that_is_no_table_of_figures_is_an_error(tmp_path: Path, text: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffid,check,printed,inputs\r\na,percentage,50%,n=2\r\n",
        "ID;Check;Printed;Inputs\na;percentage;50%;n=2\n",
        "id\tcheck\tprinted\tinputs\na\tpercentage\t50%\tn=2;count=1\n",
        "note,inputs,printed,check,id\nseen,n=2,50%,percentage,a\n",
        '"id","check","printed","inputs"\n"a\x1b[31m","percentage","50%","n=2"\n\n',
    ],
)
def test_a_mark_a_delimiter_an_order_or_control_codes_do_not_matter(tmp_path: Path, text: str) -> None:
    [result] = read(tmp_path, text)
    assert (result.row, result.status) == ("a", "reproduced")


@pytest.mark.parametrize(
    ("share", "kappa", "status"),
    [
        ("raw agreement,percentage,74.2%,n=31", "Cohen kappa,kappa,.640,n=31;labels=2", "impossible"),
        ("raw agreement,percentage,74.2%,n=31", "Cohen kappa,kappa,.640,n=31;labels=4", "underdetermined"),
        ("A1-A2 (%),percentage,74.2,n=31", "κ of A1 and A2,kappa,.9,", "impossible"),
        ("judge acc.,percentage,75%,n=31", "judge kappa,kappa,.640,n=31", "impossible"),
    ],
)
def test_a_kappa_and_the_agreement_of_the_same_raters_are_checked_against_one_table(tmp_path, share, kappa, status):
    others = "other agreement,percentage,96.8%,n=31\nsolved,percentage,29.0%,n=31\nother kappa,kappa,.9,n=31\n"
    result = read(tmp_path, f"{HEADER}{share}\n{others}{kappa}\n")
    assert result[-1].status == status
    assert result[3].status == "underdetermined"


@pytest.mark.parametrize(
    "rows",
    [
        "solved,percentage,29.0%,n=31\nkappa,kappa,.640,n=31",
        "agreement,percentage,74.2%,n=40\nkappa,kappa,.640,n=31",
        "a agreement,percentage,74.2%,n=31\nb agreement,percentage,71.0%,n=31\nkappa,kappa,.640,n=31",
    ],
)
def test_a_share_of_something_else_is_no_agreement_of_a_kappa(tmp_path: Path, rows: str) -> None:
    with pytest.raises(InputError, match="agreement is missing"):
        read(tmp_path, HEADER + rows + "\n")


@pytest.mark.parametrize(
    ("printed", "inputs", "status", "text"),
    [
        ("88.9%", "most=118;beside=74.2% 71.0% 54.8%", "impossible", "of 31, 62 or 93 prints as 88.9%"),
        ("64.5%", "most=118;beside=74.2% 71.0% 54.8%", "underdetermined", "31, 62 or 93 fit"),
        ("64.5%", "most=30;beside=74.2% 71.0% 54.8%", "impossible", "No number up to 30"),
    ],
)
def test_shares_of_the_same_items_are_checked_together_where_their_number_is_not_printed(
    tmp_path: Path, printed: str, inputs: str, status: str, text: str
) -> None:
    result = judged(tmp_path, "percentage", printed, inputs)
    assert result.status == status
    assert text in result.explanation
