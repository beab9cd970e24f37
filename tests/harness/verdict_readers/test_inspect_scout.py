"""Results of Inspect Scout: values as labels, scanners that say nothing, scans that failed."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misstep_harness.errors import InputError
from misstep_harness.runs.judging.judge_import import written_verdicts
from misstep_harness.verdict_readers import Place, inspect_scout
from misstep_harness.verdict_readers.written import WrittenVerdict
from tests.families.recordings import verdicts_of


def one(**fields: Any) -> WrittenVerdict:
    row = {"transcript_id": "a1", "scanner_name": "tone", "value": "calm", "value_type": "string"} | fields
    (result,) = inspect_scout.verdicts(row, Place("rows.jsonl", 1))
    return result


def test_a_value_is_the_label_and_none_abstains_fails_or_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(verdicts_of("inspect_scout"))
    results = {one.item: one for one in written_verdicts(tmp_path / "rows").verdicts}
    assert [results[f"a{number}"].label for number in (1, 2)] == ["true", "false"]
    assert [results[f"a{number}"].status for number in (3, 4, 5)] == ["abstained", "unreadable", "failed"]
    assert results["a5"].error == "the scan ended with an error: the model is not reachable"
    assert {one.judge for one in results.values()} == {"deception"}


def test_the_parquet_files_of_a_scan_are_read_without_what_was_scanned(tmp_path: Path) -> None:
    rows = [
        {"transcript_id": "a1", "value": "true", "value_type": "boolean", "explanation": "It hides the test."},
        {"transcript_id": "a2", "value": None, "value_type": "null", "explanation": None},
        {"transcript_id": "a3", "value": None, "value_type": "null", "scan_error": "cut off"},
        {"transcript_id": "a4", "value": '[{"value": 2, "label": "y"}]', "value_type": "resultset"},
    ]
    common = {"scanner_key": "deception", "scanner_name": "deception", "label": None, "scan_error": None}
    scanned = [{"input": str(number) * (65 << 10), "scan_total_tokens": 0} for number in range(len(rows))]
    table = pa.Table.from_pylist([common | text | row for text, row in zip(scanned, rows, strict=True)])
    pq.write_table(table, tmp_path / "deception.parquet")
    pq.write_table(pa.table({"transcript_id": ["a1"], "messages": ["[]"]}), tmp_path / "transcripts.parquet")
    (tmp_path / "_summary.json").write_text('{"complete": true}')
    result = written_verdicts(tmp_path)
    assert [(one.item, one.label, one.status) for one in result.verdicts] == [
        ("a1", "true", "answered"),
        ("a2", None, "abstained"),
        ("a3", None, "failed"),
        ("a4", None, "unreadable"),
    ]
    assert (result.skipped, result.verdicts[0].rationale) == (2, "It hides the test.")
    assert "input" not in result.verdicts[0].names
    assert str(result.verdicts[3].place) == "record 4"
    with pytest.raises(InputError, match="it has the fields transcript_id, messages"):
        written_verdicts(tmp_path / "transcripts.parquet")


@pytest.mark.parametrize(
    ("value", "kind", "label"),
    [("True", "boolean", "true"), ("2.0", "number", "2"), (2, "number", "2"), ("calm", "string", "calm")],
)
def test_csv_and_json_lines_give_one_label(value: Any, kind: str, label: str) -> None:
    assert one(value=value, value_type=kind).label == label


def test_a_value_beside_an_error_is_no_label_and_the_key_of_a_scanner_tells_two_of_one_name_apart() -> None:
    assert one(scan_error="cut off").status == "failed"
    assert [one(scanner_key="tone-2").judge, one().judge] == ["tone-2", "tone"]
