"""Row scores of NeMo Evaluator: `row-scores.jsonl` of a job, and `evaluation-results.json`, which has them in a list.

A row (made up)::

    {"row_index": 3, "item": {"case": "k7", "expected": "yes"}, "sample": {"output_text": "yes"},
     "metrics": {"done": [{"name": "done", "value": 1.0}]}, "requests": [], "metric_errors": null}

Each metric is a judge, and each output where a metric has several: `METRIC.OUTPUT`. The label is the value: a text, a
number, `true` or `false`. The item is the number of the row, and `item` has its fields. A judge whose reply gives no
score is written as `NaN`: it is unreadable. A metric that raised an error has failed.

Sources: https://docs.nvidia.com/nemo-platform/documentation/evaluate-models/metrics/llm-as-a-judge.md,
https://github.com/NVIDIA-NeMo/nemo-platform (packages/nemo_evaluator_sdk/src/nemo_evaluator_sdk/values/results.py and
protocol.py).
"""

from collections.abc import Iterator
from typing import Any

from harness.values import plain
from harness.verdict_readers.shapes import mapping, objects, scalars, text
from harness.verdict_readers.written import Place, WrittenVerdict

NAME = "a file of row scores of NeMo Evaluator"

_NAN = "nan"
_OF_A_ROW = frozenset({"item", "sample", "metrics", "requests"})
_OF_RESULTS = frozenset({"row_scores", "aggregate_scores"})
_FORM = "Download the result of the job again."


def is_own(value: dict[str, Any]) -> bool:
    """Whether an object is a row with its scores, or a result with such rows."""
    return value.keys() >= _OF_A_ROW or value.keys() >= _OF_RESULTS


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """The outputs of all metrics.

    Raises
    ------
    InputError
        The rows of a result are no list.
    """
    if not value.keys() >= _OF_RESULTS:
        yield from _of_row(value, place.number - 1, place)
        return
    if not isinstance(value["row_scores"], list):
        raise place.error("the rows are no list", _FORM, "row_scores")
    for position, row in enumerate(value["row_scores"]):
        yield from _of_row(mapping(row), position, place)


def _of_row(row: dict[str, Any], position: int, place: Place) -> Iterator[WrittenVerdict]:
    """The outputs of a row; its position stands for its number where it has none, as in NeMo Evaluator itself."""
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


def _label(value: Any) -> str:
    """The value as text; empty where it is no single value, or no number."""
    if isinstance(value, str):
        return "" if value.strip().casefold() == _NAN else value.strip()
    return plain(value) if isinstance(value, int | float) else ""


def _why_none(value: Any) -> str:
    return "the value is no text and no number" if isinstance(value, list | dict) else "the metric gave no score (NaN)"
