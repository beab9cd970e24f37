"""Row scores of NeMo Evaluator (`row-scores.jsonl`, `evaluation-results.json`), and predictions of its own benchmarks.

A row (made up)::

    {"row_index": 3, "item": {"case": "k7", "expected": "yes"}, "sample": {"output_text": "yes"},
     "metrics": {"done": [{"name": "done", "value": 1.0}]}, "requests": [], "metric_errors": null}

Each metric is a judge, and each output if a metric has several: `METRIC.OUTPUT`. The label is the value: a text, a
number, `true` or `false`. The item is the number of the row. `NaN`, of a judge whose reply gives no score, is
unreadable. A metric that raised an error has failed. A benchmark of one's own (BYOB, `--save-predictions`) has a line a
sample::

    {"sample_id": 3, "prompt": "…", "response": "yes", "target": "yes", "status": "scored", "error": null,
     "scores": {"judge_score": 0.0, "judge_grade": "PARSE_ERROR"}, "metadata": {"case": "k7"}}

Each score is a judge. If a grade is `PARSE_ERROR` or `CALL_ERROR`, NeMo counts the score 0, which no judge gave.

Sources: https://docs.nvidia.com/nemo-platform/documentation/evaluate-models/metrics/llm-as-a-judge.md,
https://github.com/NVIDIA-NeMo/nemo-platform (packages/nemo_evaluator_sdk/src/nemo_evaluator_sdk/values/results.py and
protocol.py), https://github.com/NVIDIA-NeMo/Evaluator (packages/nemo-evaluator/src/nemo_evaluator/contrib/byob/
eval_logic.py and judge.py).
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.values import plain
from misstep_harness.verdict import Status
from misstep_harness.verdict_readers.written import EVERY, Place, WrittenVerdict, mapping, objects, scalars, text

NAME = "a file of row scores of NeMo Evaluator"

_NAN = "nan"
_OF_A_ROW = frozenset({"item", "sample", "metrics", "requests"})
_OF_RESULTS = frozenset({"row_scores", "aggregate_scores"})
_OF_A_PREDICTION = frozenset({"sample_id", "response", "scores", "status"})
_SCORE, _GRADE = "_score", "_grade"
_NOT_PARSED, _NOT_CALLED = "PARSE_ERROR", "CALL_ERROR"
_FORM = "Download the result of the job again."


def is_own(value: dict[str, Any]) -> bool:
    """Return whether an object is a row with its scores, a result with such rows, or a prediction with its scores."""
    return any(value.keys() >= own for own in (_OF_A_ROW, _OF_RESULTS, _OF_A_PREDICTION))


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """Return the outputs of all metrics."""
    if value.keys() >= _OF_A_PREDICTION:
        yield from _of_prediction(value, place)
        return
    if not value.keys() >= _OF_RESULTS:
        yield from _of_row(value, place.number - 1, place)
        return
    if not isinstance(value["row_scores"], list):
        raise place.error("the rows are not a list", _FORM, "row_scores")
    for position, row in enumerate(value["row_scores"]):
        yield from _of_row(mapping(row), position, place)


def _of_row(row: dict[str, Any], position: int, place: Place) -> Iterator[WrittenVerdict]:
    index = row.get("row_index")
    item = plain(index if isinstance(index, int) else position)
    names = {"row_index": item} | scalars(row.get("item"))
    metrics, errors = mapping(row.get("metrics")), mapping(row.get("metric_errors"))
    for metric, outputs in metrics.items():
        listed = objects(outputs)
        for output in listed:
            judge = metric if len(listed) == 1 else f"{metric}.{text(output.get('name'))}"
            label = _label(output.get("value"))
            if label:
                yield WrittenVerdict(item, label, place, judge, names=names)
            else:
                why = text(errors.get(metric)) or _why_none(output.get("value"))
                yield WrittenVerdict(item, None, place, judge, "unreadable", error=why, names=names)
    for metric, error in errors.items():
        if not objects(metrics.get(metric)):
            why = f"the metric ended with an error: {text(error) or 'without a message'}"
            yield WrittenVerdict(item, None, place, metric, "failed", error=why, names=names)


def _of_prediction(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    if not isinstance(value["sample_id"], int | str):
        raise place.error("the sample has no number", "Run the benchmark again with --save-predictions.", "sample_id")
    item, scores = plain(value["sample_id"]), mapping(value["scores"])
    names = {"sample_id": item} | scalars(value.get("metadata"))
    if not scores:
        why = f"the sample has no score ({plain(value['status'])}): {text(value.get('error')) or 'without a reason'}"
        yield WrittenVerdict(item, None, place, EVERY, "failed", error=why, names=names)
    for judge, score in scores.items():
        grade = scores.get(judge.removesuffix(_SCORE) + _GRADE) if judge.endswith(_SCORE) else score
        label = _label(score)
        if grade in (_NOT_PARSED, _NOT_CALLED):
            parsed = grade == _NOT_PARSED
            error = "the reply of the judge has no grade" if parsed else "the judge could not be asked"
            status: Status = "unreadable" if parsed else "failed"
            counted = "" if score is grade else label
            yield WrittenVerdict(item, None, place, judge, status, error=error, written_as=counted, names=names)
        elif label:
            yield WrittenVerdict(item, label, place, judge, names=names)
        else:
            yield WrittenVerdict(item, None, place, judge, "unreadable", error=_why_none(score), names=names)


def _label(value: Any) -> str:
    """Return the value as text; empty where it is not a single value, or no number."""
    if isinstance(value, str):
        return "" if value.strip().casefold() == _NAN else value.strip()
    return plain(value) if isinstance(value, int | float) else ""


def _why_none(value: Any) -> str:
    return (
        "the value is neither a text nor a number"
        if isinstance(value, list | dict)
        else "the metric gave no score (NaN)"
    )
