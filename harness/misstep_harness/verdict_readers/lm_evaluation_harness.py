"""Samples of the LM Evaluation Harness (`samples_TASK_TIME.jsonl`, of `--log_samples`): a line a document and filter.

A line (made up)::

    {"doc_id": 3, "doc": {"case": "k7", "question": "Is it done?"}, "target": "yes", "filter": "strict-match",
     "arguments": {}, "resps": [["So the answer is yes."]], "filtered_resps": ["yes"], "metrics": ["exact_match"],
     "exact_match": 1.0, "doc_hash": "5d", "prompt_hash": "6e", "target_hash": "7f"}

Each metric is a judge, whose label is its number, and the reply after the filter is another one, `response`. If there
are several filters, their names follow: `exact_match,strict-match`. A filter that finds no answer writes `[invalid]`,
and metrics then count 0: both are unreadable. `bypass` is not a metric.

Sources: https://github.com/EleutherAI/lm-evaluation-harness (lm_eval/evaluator.py, lm_eval/filters/extraction.py),
https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md.
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.values import plain
from misstep_harness.verdict_readers.written import Place, WrittenVerdict, scalars

NAME = "a file of samples of the LM Evaluation Harness"

RESPONSE = "response"
"""The judge whose labels are the replies themselves."""

_INVALID = "[invalid]"
_OWN = frozenset({"doc_id", "filtered_resps", "resps", "target"})
_NO_METRICS = frozenset({"doc_id", "filter", "doc_hash", "prompt_hash", "target_hash", "target", "bypass"})
_ONLY_FILTER = "none"


def is_own(value: dict[str, Any]) -> bool:
    """Return whether an object is a sample."""
    return value.keys() >= _OWN


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """Return the reply of a line and its metrics."""
    if not isinstance(value["doc_id"], int | str):
        raise place.error(
            "the id is neither a number nor a text", "Write the samples anew with --log_samples.", "doc_id"
        )
    item = plain(value["doc_id"])
    names = {"doc_id": item} | scalars(value.get("doc"))
    filtered = value["filtered_resps"]
    reply = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
    unanswered = isinstance(reply, str) and reply.strip() in ("", _INVALID)
    error = "the filter found no answer in the reply" if unanswered else None
    rationale = _whole_reply(value["resps"])
    labels = [(RESPONSE, reply, "")] if isinstance(reply, str) else []
    labels += [(metric, plain(value[metric]), plain(value[metric])) for metric in _metrics(value)]
    for metric, label, counted in labels:
        named = value.get("filter")
        yield WrittenVerdict(
            item,
            None if unanswered else label,
            place,
            f"{metric},{named}" if isinstance(named, str) and named != _ONLY_FILTER else metric,
            "unreadable" if unanswered else "answered",
            rationale=rationale,
            error=error,
            written_as=counted if unanswered else "",
            names=names,
        )


def _metrics(value: dict[str, Any]) -> list[str]:
    listed = value.get("metrics")
    names = [name for name in (listed if isinstance(listed, list) else value) if isinstance(name, str)]
    return [name for name in names if name not in _NO_METRICS and isinstance(value.get(name), int | float)]


def _whole_reply(resps: Any) -> str:
    while isinstance(resps, list) and len(resps) == 1:
        resps = resps[0]
    return resps if isinstance(resps, str) else ""
