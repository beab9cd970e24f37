"""Results of Inspect Scout: values as labels, scanners that say nothing, scans that failed."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.runs.verdict_files import written_verdicts
from harness.verdict_readers import Place, inspect_scout
from harness.verdict_readers.written import WrittenVerdict
from tests.families import samples_verdicts


def one(**fields: Any) -> WrittenVerdict:
    """The verdict of a row."""
    row = {"transcript_id": "a1", "scanner_name": "tone", "value": "calm", "value_type": "string"} | fields
    (found,) = inspect_scout.verdicts(row, Place("rows.jsonl", 1))
    return found


def test_a_value_is_the_label_and_none_abstains_fails_or_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(samples_verdicts.inspect_scout())
    found = {one.item: one for one in written_verdicts(tmp_path / "rows").verdicts}
    assert [found[f"a{number}"].label for number in (1, 2)] == ["true", "false"]
    assert [found[f"a{number}"].status for number in (3, 4, 5)] == ["abstained", "unreadable", "failed"]
    assert found["a5"].error == "the scan ended with an error: the model is not reachable"
    assert {one.judge for one in found.values()} == {"deception"}


@pytest.mark.parametrize(
    ("value", "kind", "label"),
    [("True", "boolean", "true"), ("2.0", "number", "2"), (2, "number", "2"), ("calm", "string", "calm")],
)
def test_csv_and_json_lines_give_one_label(value: Any, kind: str, label: str) -> None:
    assert one(value=value, value_type=kind).label == label


def test_a_value_beside_an_error_is_no_label() -> None:
    assert one(scan_error="cut off").status == "failed"


def test_the_key_of_a_scanner_tells_two_of_one_name_apart() -> None:
    assert one(scanner_key="tone-2").judge == "tone-2"
    assert one().judge == "tone"


def test_a_row_without_a_transcript_is_an_error() -> None:
    with pytest.raises(InputError, match=r"rows\.jsonl:1: transcript_id: the row names no transcript"):
        one(transcript_id=None)
