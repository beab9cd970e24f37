"""An export to Inspect Scout has the files and columns that Scout writes itself."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from misstep.harness.errors import UsageError
from misstep.harness.runs.classify import ClassifyPlan
from misstep.studies.classified_paths import classified_findings
from misstep.studies.exports.writing import export_run
from misstep.studies.kinds.kind import Choice
from tests.misstep.made_up import atif_lines, by_id

COLUMNS = """
transcript_id transcript_source_type transcript_source_id transcript_source_uri transcript_date transcript_task_set
transcript_task_id transcript_task_repeat transcript_agent transcript_agent_args transcript_model
transcript_model_options transcript_score transcript_score_explanation transcript_success transcript_message_count
transcript_total_time transcript_total_tokens transcript_error transcript_limit transcript_trust_content
transcript_metadata scan_id scan_tags scan_metadata scan_git_origin scan_git_version scan_git_commit scanner_key
scanner_name scanner_version scanner_package_version scanner_file scanner_params input_type input_ids input input_data
uuid label value value_type answer explanation metadata message_references event_references scan_error
scan_error_traceback scan_error_type validation_target validation_result validation_predicate validation_split
scan_total_tokens scan_model_usage scan_events timestamp
"""
"""The columns of a file that inspect_scout 0.6.1 wrote of a made-up scan by its own recorder, in its order
(https://github.com/meridianlabs-ai/inspect_scout, `_recorder/buffer.py`)."""


def scan_in(out: Path) -> Path:
    (scan,) = out.glob("scan_id=*")
    return scan


def test_a_judge_of_yes_and_no_is_a_scanner_of_true_and_false(runs: dict[str, Path], tmp_path: Path) -> None:
    assert export_run(runs["judged"], "scout", tmp_path / "out", Choice()) == {"made_up": 8}
    scan = scan_in(tmp_path / "out")
    table = pq.read_table(scan / "made_up.parquet")
    assert table.column_names == COLUMNS.split()
    results = table.to_pylist()
    assert [one["value"] for one in results] == ["true", "false", "true", "false", "true", None, None, None]
    assert {one["value_type"] for one in results} == {"boolean"}
    errors = [(None, None), ("refusal", "refused: I cannot help with that."), (None, "failed: the server is gone")]
    assert [(one["scan_error_type"], one["scan_error"]) for one in results[5:]] == errors
    assert json.loads(results[0]["metadata"])["steps"] == [1, 3]
    assert {one["scan_id"] for one in results} == {scan.name.removeprefix("scan_id=")}
    assert len({one["uuid"] for one in results}) == 8


def test_summary_and_errors_count_as_scout_does(runs: dict[str, Path], tmp_path: Path) -> None:
    export_run(runs["judged"], "scout", tmp_path / "out", Choice())
    scan = scan_in(tmp_path / "out")
    summary = json.loads((scan / "_summary.json").read_bytes())
    assert summary["complete"] is True
    counts = summary["scanners"]["made_up"]
    assert [counts[name] for name in ("scans", "results", "errors", "tokens")] == [8, 3, 2, 24]
    assert counts["model_usage"] == {"m-1": {"input_tokens": 20, "output_tokens": 4, "total_tokens": 24}}
    errors = [json.loads(line) for line in (scan / "_errors.jsonl").read_text().splitlines()]
    assert [(one["transcript_id"], one["refusal"]) for one in errors] == [("item-6", True), ("item-7", False)]
    assert list(json.loads((scan / "_scan.json").read_bytes())["scanners"]) == ["made_up"]


def test_other_labels_are_values_and_a_category_is_a_scanner_with_its_sessions(runs, tmp_path) -> None:
    export_run(runs["triaged"], "scout", tmp_path / "triaged", Choice())
    (file,) = scan_in(tmp_path / "triaged").glob("*.parquet")
    values = pq.read_table(file).column("value").to_pylist()
    assert values == ["agent", "agent", "task", None, "pass"]
    assert set(export_run(runs["classified"], "scout", tmp_path / "classified", Choice())) == {"first", "second"}
    first = pq.read_table(scan_in(tmp_path / "classified") / "first.parquet").to_pylist()
    assert first[0]["transcript_message_count"] == 3
    assert first[0]["transcript_source_uri"].endswith("sessions.jsonl:1")


def test_a_run_without_verdicts_and_gold_labels_are_no_scan(runs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no verdicts"):
        export_run(runs["observed"], "scout", tmp_path / "out", Choice())
    with pytest.raises(UsageError, match="no place for gold labels"):
        export_run(runs["judged"], "scout", tmp_path / "out", Choice(gold=True))


def test_two_judges_whose_names_are_one_name_of_a_file_have_files_of_their_own(tmp_path: Path) -> None:
    sessions = atif_lines(tmp_path / "sessions.jsonl", ["one"])
    classified_findings([sessions], ClassifyPlan(["a/b", "a b"], by_id), tmp_path / "run")
    export_run(tmp_path / "run", "scout", tmp_path / "out", Choice())
    assert sorted(file.name for file in scan_in(tmp_path / "out").glob("*.parquet")) == ["a_b.parquet", "a_b_.parquet"]
