"""Whatever a file of printed figures says, it is judged or refused in one line, and in bounded work."""

import tracemalloc
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misstep_analysis.audit.findings import Finding, document, paper_findings, row_findings
from misstep_analysis.audit.user_file import read_user_rows
from misstep_analysis.published import INPUTS, LISTS, Check, read_paper
from misstep_analysis.tables import Unit
from misstep_harness.errors import MisstepError

ODD = (
    *("0", "-5", "-0.5", "150%", "100%", "1e3", "1e400", "1e308", "inf", "nan", "-inf", "20000000000", "9" * 5000),
    *("9" * 15, "9" * 16, "<0.001", "p<.05", "~1,250", "42.8k", "5.14M", "0x10", "1_000", "٣", "½", "−5", "1'250"),
    *("", "-", "%", "*", "0.04**", "< 3%", "three", "true", "2020-01-01", "1/3", "9/12", "1e-300", "5\x00", "1."),
)
NUMBERS = st.one_of(
    st.integers(0, 300).map(str),
    st.floats(0, 1).map(lambda value: f"{value:.3f}"),
    st.floats(0, 100).map(lambda value: f"{value:.1f}%"),
    st.sampled_from(ODD),
)
CHECKS: st.SearchStrategy[Check] = st.sampled_from(sorted(INPUTS))
UNITS: tuple[Unit, ...] = ("share", "count", "coefficient", "p", "difference", "number", "text", "usd", "seconds")
ANY_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)


@st.composite
def rows(draw: st.DrawFn) -> str:
    check = draw(CHECKS)
    keys = draw(st.lists(st.sampled_from(sorted(INPUTS[check])), unique=True, max_size=6))
    inputs = []
    for key in keys:
        if key == "matrix":
            value = "/".join(" ".join(draw(st.lists(NUMBERS, min_size=2, max_size=2))) for _ in range(2))
        else:
            value = " ".join(draw(st.lists(NUMBERS, min_size=1, max_size=3 if key in LISTS else 1)))
        inputs.append(f"{key}={value}")
    cells = ("row", check, draw(NUMBERS), ";".join(inputs))
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


@st.composite
def papers(draw: st.DrawFn) -> str:
    lines = ['slug = "made-up"', 'title = "Made up"', 'authors = "Nobody"']
    names = [f"f{place}" for place in range(draw(st.integers(2, 6)))]
    for place, name in enumerate(names):
        column = draw(st.sampled_from(["Precision", "Recall", "F1", "p, one-sided", "x"]))
        lines += ["[[figure]]", f'id = "{name}"', 'place = "Table 1"', 'row = "R"', f'column = "{column}"']
        lines += [f"printed = {in_quotes(draw(NUMBERS))}", f'unit = "{draw(st.sampled_from(UNITS))}"']
        if place and draw(st.booleans()):
            check, known = draw(CHECKS), st.sampled_from(names[:place])
            keys = draw(st.lists(st.sampled_from(sorted(INPUTS[check] - {"matrix"})), unique=True, max_size=6))
            values = [draw(st.lists(known, max_size=3) if key in LISTS else known) for key in keys]
            inputs = ", ".join(f"{key} = {in_quotes(value)}" for key, value in zip(keys, values, strict=True))
            lines += [f'check = "{check}"', f"inputs = {{ {inputs} }}"]
    return "\n".join(lines) + "\n"


def in_quotes(value: object) -> str:
    return msgspec.json.encode(value).decode()


def judged(file: Path) -> list[Finding]:
    if file.suffix == ".toml":
        return paper_findings(read_paper(file), file.name)
    return row_findings(read_user_rows(file), file.name)


def judged_or_refused(file: Path) -> None:
    message = ""
    try:
        assert msgspec.json.encode(document(judged(file)))
    except MisstepError as error:
        message = error.line()
    assert not message or message.startswith(str(file))
    assert "\n" not in message


@given(row=rows())
@ANY_FOLDER
def test_any_row_of_a_csv_is_judged_or_refused_in_one_line(tmp_path: Path, row: str) -> None:
    file = tmp_path / "figures.csv"
    file.write_text(f"id,check,printed,inputs\n{row}\n", "utf-8")
    judged_or_refused(file)


@given(text=papers())
@ANY_FOLDER
def test_any_toml_is_judged_or_refused_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(text, "utf-8")
    judged_or_refused(file)


BROKEN = (
    *(f"printed = {value}" for value in ("inf", "nan", "true", "2020-01-01", "9" * 5000, "[" * 3000)),
    *(f'printed = "{text}"' for text in ("inf", "nan", "1e400", "1e308", "0x10", "1_000", "٣", "9" * 100_000)),
    'printed = "5"\nvalue = "inf"',
    'printed = "5"\nvalue = 5',
)


@pytest.mark.parametrize("line", BROKEN, ids=[line[:30] for line in BROKEN])
def test_what_is_no_number_in_a_toml_is_an_error_that_names_the_file_and_where(tmp_path: Path, line: str) -> None:
    file = tmp_path / "paper.toml"
    text = f'slug = "x"\ntitle = "x"\nauthors = "x"\n[[figure]]\nid = "apples"\n{line}\nunit = "number"\n'
    file.write_text(text + 'place = "Table 1"\nrow = "R"\ncolumn = "C"\n', "utf-8")
    with pytest.raises(MisstepError) as caught:
        judged(file)
    message = caught.value.line()
    assert message.startswith(f"{file}:")
    assert len(message) < 400
    assert any(where in message for where in ("apples", "figure", "line", "column", "digits", "nested", "recursion"))


HUGE = {
    "percentage": ("12.5%", "n={n}"),
    "mean": ("3.47", "n={n}"),
    "kappa": ("0.61", "n={n};agreement=80%"),
    "kappa of a count": ("0.61", "n={n};agreement={half}/{n}"),
    "two_proportion_p": ("0.031", "n1={n};n2={n};share1=12%;share2=13%"),
    "rater_agreement": ("0.4", "n={n};agreements={half}/{n} {half}/{n} {half}/{n};labels=2"),
    "precision_recall": ("0.91/0.5", "n={n}"),
}


@pytest.mark.parametrize("name", HUGE)
def test_work_is_bounded_whatever_the_number_of_cases(tmp_path: Path, name: str) -> None:
    printed, inputs = HUGE[name]
    check = name.partition(" ")[0]
    peaks = []
    for n in (200_000, 20_000_000_000):
        file = tmp_path / f"{n}.csv"
        file.write_text(f"id,check,printed,inputs\na,{check},{printed},{inputs.format(n=n, half=n // 2)}\n")
        judged(file)  # what is loaded or kept once does not count
        tracemalloc.start()
        assert judged(file)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= 2 * peaks[0] + 5_000_000


@pytest.mark.parametrize(
    ("row", "status", "message"),
    [
        (
            "kappa,0.61,n=1000;agreement=80%;labels=1000000000",
            "underdetermined",
            "how often each rater used each label is not printed.",
        ),
        (f"sum,2999,parts={'+'.join(['1'] * 3000)}", "differs", "… (3,000 parts) is 3,000, not 2999."),
    ],
    ids=["labels", "parts"],
)
def test_very_many_inputs_are_not_all_searched_or_told(tmp_path: Path, row: str, status: str, message: str) -> None:
    file = tmp_path / "figures.csv"
    file.write_text(f"id,check,printed,inputs\na,{row}\n")
    [finding] = judged(file)
    assert (finding.status, message in finding.sentence, len(finding.sentence) < 200) == (status, True, True)
