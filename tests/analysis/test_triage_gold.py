"""Files beside `gold.csv` that say more of triage cases."""

from pathlib import Path

import pytest

from misstep.analysis.triage_gold import Construction, families_of, read_constructions, read_subcategories
from misstep.harness.errors import InputError


def test_a_folder_without_the_files_has_nothing_more(tmp_path: Path) -> None:
    assert read_subcategories(tmp_path) == ()
    assert read_constructions(tmp_path) == {}


def test_cases_of_one_family_hang_together(tmp_path: Path) -> None:
    lines = "item,family,set,variant,partner\na,csv,scoring,plain,b\nb,csv,scoring,harder,a\nc,,,,\n"
    (tmp_path / "gold_construction.csv").write_text(lines)
    found = read_constructions(tmp_path)
    assert found["a"] == Construction("a", "csv", "scoring", "plain", "b")
    assert families_of(found) == {"a": "family csv", "b": "family csv"}


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "gold_construction.csv").write_text("item,set\na,scoring\n")
    with pytest.raises(InputError, match="there is no column 'family'"):
        read_constructions(tmp_path)
