"""`misstep audit` says which printed figures cannot be, the worst first, with the arithmetic."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from misstep_analysis.audit.user_file import OWN_KEYS
from misstep_analysis.published import INPUTS
from tests.analysis.pages.html_rules import check_page
from tests.misstep.as_a_user import in_this_process

FIGURES = """\
id,check,printed,inputs
solved,percentage,37.5%,n=80
best of five,percentage,47.0%,n=80
reviewed,percentage,62%,count=251;n=401
judge,precision_recall,0.43/0.75,tp=40;fp=10;fn=40;tn=30
rate,percentage,50%,n=400
"""

PAPER = """\
slug = "made-up"
title = "A made-up paper"
authors = "Nobody"

[[figure]]
id = "n"
place = "Table 1"
row = "Runs"
column = "N"
printed = "80"
unit = "count"

[[figure]]
id = "share"
place = "Table 1"
row = "Solved"
column = "share"
printed = "47.0%"
unit = "share"
check = "percentage"
inputs = { n = "n" }
"""


@pytest.fixture
def figures(tmp_path: Path) -> Path:
    path = tmp_path / "figures.csv"
    path.write_text(FIGURES, encoding="utf-8")
    return path


@pytest.fixture
def misstep(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """`misstep audit` in this process: exit code, stdout, stderr."""
    return in_this_process("audit", monkeypatch, capsys)


def test_all_lists_what_is_sound_too(misstep: Any, figures: Path) -> None:
    code, out, _ = misstep(figures, "--all")
    assert code == 0
    assert "reproduced: solved (percentage), printed 37.5%\n    30 / 80 is 37.5%, printed as 37.5%." in out
    assert "underdetermined: rate (percentage), printed 50%\n    The count is not printed, and out of 400 " in out


def test_the_json_has_every_check_in_the_order_of_the_file(misstep: Any, figures: Path) -> None:
    code, out, err = misstep(figures, "--json")
    result = json.loads(out)
    assert (code, err, result["checked"]) == (0, "", 5)
    assert [one["row"] for one in result["findings"]] == ["solved", "best of five", "reviewed", "judge", "rate"]
    assert result["findings"][1] == {
        "source": str(figures),
        "row": "best of five",
        "check": "percentage",
        "status": "impossible",
        "printed": "47.0%",
        "computed": None,
        "explanation": "No whole count of 80 prints as 47.0%: 37 / 80 is 46.25% and 38 / 80 is 47.5%.",
    }
    assert result["findings"][0]["computed"] == 37.5


@pytest.mark.parametrize(
    ("rows", "asked", "code"),
    [
        ("a,percentage,47.0%,n=80", "differs", 1),
        ("a,percentage,47.0%,n=80", "impossible", 1),
        ("a,percentage,62%,count=251;n=401", "differs", 1),
        ("a,percentage,62%,count=251;n=401", "impossible", 0),
        ("a,percentage,50%,n=400", "differs", 0),
    ],
)
def test_a_threshold_that_was_asked_for_gives_exit_code_1(misstep, tmp_path, rows, asked, code) -> None:
    file = tmp_path / "figures.csv"
    file.write_text(f"id,check,printed,inputs\n{rows}\n")
    ended, out, _ = misstep(file, "--fail-on", asked)
    assert ended == code
    assert out.endswith(".\n")


def test_a_wrong_row_is_one_line_that_names_it(misstep: Any, tmp_path: Path) -> None:
    file = tmp_path / "figures.csv"
    file.write_text("id,check,printed,inputs\na,percentage,half,n=80\n")
    code, out, err = misstep(file)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"misstep: {file}:2: printed: 'half' is not a number.")


def test_a_toml_in_the_form_of_the_shipped_papers_works_as_well(misstep: Any, tmp_path: Path) -> None:
    file = tmp_path / "paper.toml"
    file.write_text(PAPER)
    code, out, _ = misstep(file, "--json")
    [result] = json.loads(out)["findings"]
    assert (code, result["source"], result["row"], result["status"]) == (0, str(file), "share", "impossible")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"slug = ", "See data/published/wink.toml"),
        (b"\xff", "not UTF-8"),
        (PAPER.partition("check = ")[0].encode(), "no figure"),
    ],
)
def test_a_toml_that_is_broken_or_has_no_check_is_an_error(misstep, tmp_path, content, text) -> None:
    file = tmp_path / "paper.toml"
    file.write_bytes(content)
    code, out, err = misstep(file)
    assert (code, out) == (2, "")
    assert text in err


def test_the_help_names_every_check_with_all_its_keys(misstep: Any) -> None:
    code, out, _ = misstep("--help")
    lines = out.partition("The checks and their keys:\n\n")[2].partition("\n\n")[0].splitlines()
    shown: dict[str, set[str]] = {}
    check = ""
    for line in lines:
        words = re.findall(r"[a-z_]+[0-9]?", line)
        check = words.pop(0) if words[0] in INPUTS else check
        shown.setdefault(check, set()).update(words)
    assert code == 0
    assert set(shown) == set(INPUTS)
    assert {name for name, keys in INPUTS.items() if not keys | OWN_KEYS.get(name, frozenset()) <= shown[name]} == set()


def test_what_is_neither_a_file_nor_a_paper_is_an_error_that_names_the_papers(misstep: Any, tmp_path: Path) -> None:
    code, _, err = misstep(tmp_path / "nothing.csv")
    assert code == 2
    assert "autotriage, engineering_agent, reflexive, wink" in err


def test_a_shipped_paper_goes_by_its_slug_and_all_of_them_by_none(misstep: Any) -> None:
    one, every = (json.loads(misstep(*names, "--json")[1])["findings"] for names in (["wink"], []))
    assert {finding["source"] for finding in every} == {"autotriage", "engineering_agent", "reflexive", "wink"}
    assert [finding for finding in every if finding["source"] == "wink"] == one


def test_the_page_opens_with_the_finding_and_escapes_what_the_file_says(misstep: Any, tmp_path: Path) -> None:
    file, page = tmp_path / "figures.csv", tmp_path / "page.html"
    file.write_text(FIGURES.replace("best of five", "<script>alert(1)</script>"))
    code, _, _ = misstep(file, "--html", page)
    content = page.read_text(encoding="utf-8")
    text = check_page(content).text
    assert code == 0
    assert "<script>alert" not in content
    assert "Of 5 checks, 1 is impossible, 2 differ" in text
    assert "No whole count of 80 prints as 47.0%" in text


def test_a_page_that_cannot_be_written_is_an_error(misstep: Any, figures: Path, tmp_path: Path) -> None:
    code, _, err = misstep(figures, "--html", tmp_path / "nowhere" / "page.html")
    assert (code, "nowhere" in err) == (2, True)
