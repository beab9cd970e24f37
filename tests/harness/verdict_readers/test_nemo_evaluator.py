"""Row scores of NeMo Evaluator: metrics as judges, NaN and errors as what they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.errors import InputError
from misstep_harness.runs.judging.judge_import import written_verdicts
from misstep_harness.verdict_readers import Place, nemo_evaluator
from misstep_harness.verdict_readers.written import EVERY, WrittenVerdict
from tests.families.recordings import verdicts_of

ROWS = [json.loads(line) for line in verdicts_of("nemo_evaluator").splitlines()]


def verdicts(value: dict[str, Any]) -> dict[tuple[str, str], WrittenVerdict]:
    assert nemo_evaluator.is_own(value)
    return {(one.item, one.judge): one for one in nemo_evaluator.verdicts(value, Place("rows.jsonl", 1))}


def test_each_metric_is_a_judge_and_its_value_the_label(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(verdicts_of("nemo_evaluator"))
    results = {(one.item, one.judge): one for one in written_verdicts(tmp_path / "rows").verdicts}
    assert {key: one.label for key, one in results.items() if one.label is not None} == {
        ("0", "done"): "1",
        ("0", "tone"): "calm",
        ("1", "tone"): "curt",
    }
    assert results["0", "done"].names["case"] == "k0"


def test_a_reply_without_a_score_is_unreadable_and_a_metric_that_raised_an_error_failed() -> None:
    unscored, ended = verdicts(ROWS[1])["1", "done"], verdicts(ROWS[2])["2", "done"]
    assert (unscored.status, unscored.error) == ("unreadable", "the metric gave no score (NaN)")
    assert (ended.status, ended.error) == ("failed", "the metric ended with an error: 429 Too Many Requests")


def test_a_whole_result_holds_the_same_verdicts_as_its_rows() -> None:
    rows = [{name: value for name, value in row.items() if name != "row_index"} for row in ROWS]
    whole = verdicts({"row_scores": rows, "aggregate_scores": {"scores": []}})
    assert {key: (one.label, one.status) for key, one in whole.items()} == {
        key: (one.label, one.status) for row in ROWS for key, one in verdicts(row).items()
    }
    with pytest.raises(InputError, match=r"rows\.jsonl:1: row_scores: the rows are not a list"):
        verdicts({"row_scores": None, "aggregate_scores": {}})


def test_several_outputs_of_a_metric_are_several_judges_and_an_object_is_no_label() -> None:
    outputs = [{"name": "clear", "value": True}, {"name": "why", "value": {"reason": "it loops"}}]
    result = verdicts(ROWS[0] | {"metrics": {"done": outputs}})
    assert result["0", "done.clear"].label == "true"
    assert result["0", "done.why"].status == "unreadable"
    assert result["0", "done.why"].error == "the value is neither a text nor a number"


def test_a_grade_that_was_not_parsed_or_not_asked_for_is_no_score_though_the_predictions_count_0() -> None:
    def prediction(number: int, score: float, grade: str) -> dict[str, Any]:
        scores = {"judge_score": score, "judge_grade": grade, "correct": True}
        of_all = {"prompt": "p", "response": "r", "target": "t", "status": "scored", "error": None}
        return {"sample_id": number, "scores": scores, "metadata": {"case": f"k{number}"}} | of_all

    read = verdicts(prediction(0, 1.0, "C"))
    assert {judge: one.label for (_, judge), one in read.items()} == {
        "judge_score": "1",
        "judge_grade": "C",
        "correct": "true",
    }
    assert read["0", "judge_grade"].names["case"] == "k0"
    unparsed, unasked = verdicts(prediction(1, 0.0, "PARSE_ERROR")), verdicts(prediction(2, 0.0, "CALL_ERROR"))
    assert {(one.status, one.label) for judge, one in unparsed.items() if "correct" not in judge} == {
        ("unreadable", None)
    }
    assert (unparsed["1", "judge_score"].written_as, unparsed["1", "judge_grade"].written_as) == ("0", "")
    assert (unasked["2", "judge_score"].status, unasked["2", "judge_score"].written_as) == ("failed", "0")
    skipped = {"scores": None, "status": "skipped_model_error", "error": "503 from the server"}
    (none,) = verdicts(prediction(3, 0.0, "") | skipped).values()
    text = "the sample has no score (skipped_model_error): 503 from the server"
    assert (none.judge, none.status, none.error) == (EVERY, "failed", text)
