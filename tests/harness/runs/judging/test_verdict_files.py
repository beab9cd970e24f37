"""Files of verdicts: opened, recognised, and the errors of those that cannot be read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import InputError
from misstep_harness.runs.judging.judge_import import written_verdicts
from misstep_harness.verdict_readers import VERDICT_READERS, Place, WrittenVerdict


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,grade\ni0,1\n", r"known: it has the fields item, grade\. A table needs the columns item and label\."),
        ("[1, 2]", "it has a value that is not an object"),
        ("", "the file has no row and no JSON value"),
        ("item,label\n", "the file has no row and no JSON value"),
        ('{"item": "i0", "label": "fruit"}\n{"item": "i0"}\n', r"f:2: it does not fit the rest"),
        ('{"item": "i0", "label": "fruit"}\n{"item": \n{}\n', r"f:2: no JSON"),
        ('[{"item": "i0"', r"f:1: no JSON: [^<]*\. Copy the file again"),
        (
            '{"version": 2, "status": "error", "eval": {"task": "t"}}',
            r"no verdict in an Inspect eval log\. See whether its samples were scored",
        ),
        ("item,label\ni0\n", r"f:2: 1 cells where the header has 2"),
        ('item,label\ni0,"fruit\n', r"f:2: not valid CSV"),
        ("item,label,Label\ni0,fruit,berry\n", r"f:1: the header has the column label twice"),
    ],
)
def test_an_error_names_the_place_and_what_was_found(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "f").write_text(content)
    with pytest.raises(InputError, match=message):
        written_verdicts(tmp_path / "f")


def test_a_file_in_a_folder_that_is_no_table_of_verdicts_is_passed_over_whatever_it_holds(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("day,hours\nMonday\n")
    (tmp_path / "verdicts.csv").write_text("item,label\na,yes\n")
    result = written_verdicts(tmp_path)
    assert (len(result.verdicts), result.skipped) == (1, 1)


def test_the_names_of_columns_may_have_any_letter_case_and_a_reason_any_length(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(f"Item;LABEL;Score;Reason;Case\na;yes;0,9;{'word ' * 30_000};k1\n")
    (result,) = written_verdicts(tmp_path / "v.csv").verdicts
    assert (result.item, result.label, result.score, len(result.rationale)) == ("a", "yes", 0.9, 149_999)
    assert result.names["Case"] == "k1"


class _Raising:
    """A reader of another package that breaks on what it reads."""

    NAME = "a file of ours"

    @staticmethod
    def is_own(value: dict[str, Any]) -> bool:
        return "ours" in value

    @staticmethod
    def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
        yield WrittenVerdict(value["ours"]["item"], "yes", place)


def test_the_line_that_tells_a_spreadsheet_the_delimiter_is_no_header(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("sep=;\r\nitem;label;reason\r\na;yes;\r\n")
    (result,) = written_verdicts(tmp_path / "v.csv").verdicts
    assert (result.item, result.label, str(result.place)) == ("a", "yes", "line 3")


def test_a_last_line_that_is_cut_off_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl").write_text('{"item": "a", "label": "yes"}\n{"item": "b", "la')
    with pytest.raises(InputError, match=r"the last line is cut off, after 1 whole ones"):
        written_verdicts(tmp_path / "cut.jsonl")
    with pytest.raises(InputError, match=r"cut\.jsonl: the last line is cut off"):
        written_verdicts(tmp_path)
    (tmp_path / "whole.csv").write_text("item,label\na,yes\n")
    assert written_verdicts(tmp_path).unreadable == (str(tmp_path / "cut.jsonl"),)


def test_a_reader_of_another_package_that_breaks_is_named_with_the_place(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(VERDICT_READERS, "ours", f"{__name__}:_Raising")
    (tmp_path / "ours.jsonl").write_text('{"ours": {"item": "a"}}\n{"ours": {}}\n')
    with pytest.raises(InputError, match=r"ours\.jsonl:2: it cannot be read as a file of ours: KeyError: 'item'"):
        written_verdicts(tmp_path / "ours.jsonl")
