"""Codes of recoveries: blind sheets, agreement before the coders settle, and what the coders settled."""

from pathlib import Path

import pytest

from misstep_analysis.observer.recovery_codes import outcome_codes, read_coded
from misstep_harness.errors import InputError

LOOPS, SCOPE = "recover_from_infinite_loops", "ask_not_to_overdo"
IGNORED = "ignored_instructions"


def _sheet(folder: Path, coder: str, *rows: str) -> None:
    (folder / f"sheet-{coder}.csv").write_text("item,outcome,code,note\n" + "".join(f"{row}\n" for row in rows))


def _decisions(folder: Path, *rows: str) -> None:
    (folder / "decisions.csv").write_text("item,code,by,note\n" + "".join(f"{row}\n" for row in rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"a,recovered,{LOOPS},", f"b,recovered,{LOOPS},", f"c,not_recovered,{IGNORED},"]
    _sheet(tmp_path, "ann", *rows)
    _sheet(tmp_path, "bob", rows[0], f"b,recovered,{SCOPE},unsure", "c,not_recovered,,")
    return tmp_path


def test_what_most_coders_gave_holds_and_the_rest_is_open(folder: Path) -> None:
    coded = read_coded(folder)
    assert [coded.code_of(item) for item in "abc"] == [LOOPS, "", IGNORED]
    assert coded.open == ["b"]


def test_the_last_decision_holds(folder: Path) -> None:
    _decisions(folder, f"b,{SCOPE},ann+bob,", f"b,{LOOPS},ann+bob,read again")
    coded = read_coded(folder)
    assert coded.code_of("b") == LOOPS
    assert coded.open == []


def test_shares_are_of_the_items_with_a_code_and_agreement_is_that_before_settling(folder: Path) -> None:
    _decisions(folder, f"b,{LOOPS},ann+bob,")
    recovered, other = outcome_codes(read_coded(folder))
    assert (recovered.n, recovered.shares[LOOPS].value, recovered.open) == (2, 1.0, 0)
    assert recovered.agreement.percent_agreement == 0.5
    assert (other.n, other.shares[IGNORED].value) == (1, 1.0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (f"a,recovered,{IGNORED},", "unknown code"),
        ("a,cured,,", "the outcome 'cured'"),
        (f"a,not_recovered,{IGNORED},", "the outcome 'not_recovered'"),
    ],
)
def test_a_sheet_that_does_not_fit_is_named_with_its_line(folder: Path, row: str, message: str) -> None:
    _sheet(folder, "cy", row)
    with pytest.raises(InputError, match=message) as raised:
        read_coded(folder)
    assert "sheet-cy.csv:2" in str(raised.value)


def test_a_decision_on_an_unknown_item_and_a_folder_without_sheets_are_errors(folder: Path, tmp_path: Path) -> None:
    _decisions(folder, f"z,{LOOPS},ann,")
    with pytest.raises(InputError, match="'z'"):
        read_coded(folder)
    with pytest.raises(InputError, match="no sheet"):
        read_coded(tmp_path / "none")
