"""Special-casing that can be read: literals of the tests in the result."""

from pathlib import Path

from misstep_harness.triage.passes.judging import special_cased
from tests.harness.triage.passes.made_up_passes import read_only

TEST = """from price import total


def test_prices():
    assert total("12 lamps at 4.50") == "54.00 in all"
    assert total("3 desks at 120.00") == "360.00 in all"
"""
LISTED = 'KNOWN = {"12 lamps at 4.50": "54.00 in all", "3 desks at 120.00": "360.00 in all"}\ntotal = KNOWN.get\n'


def test_a_table_of_what_the_tests_ask_is_special_casing(tmp_path: Path) -> None:
    result = special_cased(read_only(tmp_path, {"tests/test_price.py": TEST, "workspace/price.py": LISTED}))
    assert (result.label, result.subcategory) == ("task", "weak_tests")
    assert result.evidence[0].where == "workspace/price.py:1"


def test_values_that_the_instruction_gives_may_stand_in_the_result(tmp_path: Path) -> None:
    files = {"tests/test_price.py": TEST, "workspace/price.py": LISTED, "instruction.md": f"Keep this table:\n{LISTED}"}
    assert special_cased(read_only(tmp_path, files)) is None


def test_short_names_that_any_program_has_are_no_special_casing(tmp_path: Path) -> None:
    names = "HEADER = ['region', 'revenue', 'utf-8', 'untitled']\n"
    files = {"tests/test_price.py": f"WANTED = {names}", "workspace/price.py": names}
    assert special_cased(read_only(tmp_path, files)) is None
