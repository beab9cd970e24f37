"""Evaluations of Phoenix: frames, annotations, and replies that could not be parsed."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.runs.judging.judge_import import written_verdicts
from misstep_harness.verdict_readers import Place, phoenix, reader_of
from misstep_harness.verdict_readers.written import WrittenVerdict
from tests.families.recordings import verdicts_of


def one(**fields: Any) -> WrittenVerdict:
    assert reader_of(fields) is phoenix
    (result,) = phoenix.verdicts(fields, Place("rows.jsonl", 1))
    return result


def test_what_could_not_be_parsed_is_unreadable_though_its_score_is_0(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(verdicts_of("phoenix"))
    correct, unparsed, failed = written_verdicts(tmp_path / "rows").verdicts
    assert (correct.item, correct.label, correct.score, correct.grade) == ("a1", "correct", None, 1.0)
    assert (unparsed.status, unparsed.label, unparsed.written_as) == ("unreadable", None, "0")
    assert (failed.status, failed.error) == ("failed", "the evaluation failed (FAILED): TimeoutError()")


def test_a_frame_as_csv_is_known_by_its_columns_and_its_index_is_the_item(tmp_path: Path) -> None:
    (tmp_path / "frame.csv").write_text(
        ",label,explanation,exceptions,execution_status,execution_seconds\n"
        "0,yes,it says so,[],COMPLETED,0.8\n"
        "1,,,['ValueError()'],FAILED,0.9\n"
        "2,,,[],MISSING INPUT,0.9\n"
    )
    result = written_verdicts(tmp_path / "frame.csv").verdicts
    assert [(one.item, one.label, one.status) for one in result] == [
        ("0", "yes", "answered"),
        ("1", None, "failed"),
        ("2", None, "failed"),
    ]


@pytest.mark.parametrize("text", [json.dumps, str, dict])
def test_each_evaluator_of_a_frame_is_a_judge_and_one_that_failed_has_no_score(text: Any) -> None:
    score = {"name": "done", "score": 1.0, "label": "yes", "explanation": "it says so"}
    ended = {"status": "FAILED", "exceptions": ["TimeoutError()"]}
    row = {"span_id": "s1", "done_score": text(score), "done_execution_details": text({"status": "COMPLETED"})}
    row |= {"clear_score": None, "clear_execution_details": text(ended)}
    rows = {one.judge: one for one in phoenix.verdicts(row, Place("rows.jsonl", 1))}
    assert (rows["done"].label, rows["done"].rationale) == ("yes", "it says so")
    assert (rows["clear"].status, rows["clear"].error) == ("failed", "the evaluation failed (FAILED): TimeoutError()")


def test_an_evaluator_that_failed_on_all_rows_is_a_judge_and_a_column_of_the_users_own_is_none() -> None:
    ended = {"status": "DID NOT RUN", "exceptions": []}
    row = {"span_id": "s1", "bleu_score": 0.7, "done_execution_details": ended}
    row |= {"precision_score": {"score": 1.0}, "prf_execution_details": {"status": "COMPLETED"}}
    read = {(one.judge, one.status) for one in phoenix.verdicts(row, Place("rows.jsonl", 1))}
    assert read == {("done", "failed"), ("precision", "answered")}
    assert one(span_id="s1", label=None, score=None, execution_status="DID NOT RUN").status == "failed"


def test_annotations_of_spans_are_named_and_those_of_people_are_told_apart() -> None:
    result = {"label": "yes", "score": 1, "explanation": "it says so"}
    assert one(span_id="s1", name="done", annotator_kind="LLM", result=result).judge == "done"
    assert one(span_id="s1", name="done", annotator_kind="HUMAN", result=result).judge == "done (HUMAN)"
    flat = {f"result.{name}": value for name, value in result.items()}
    outcome = one(span_id="s1", annotation_name="done", annotator_kind="CODE", **flat)
    assert (outcome.judge, outcome.label, outcome.rationale) == ("done", "yes", "it says so")


@pytest.mark.parametrize(("score", "label"), [(1.0, "1"), ("0.0", "0"), (0.25, "0.25"), ("nan", None), (None, None)])
def test_an_evaluation_without_a_label_has_its_score_for_one(score: Any, label: str | None) -> None:
    assert one(span_id="s1", name="length", result={"label": None, "score": score}).label == label
