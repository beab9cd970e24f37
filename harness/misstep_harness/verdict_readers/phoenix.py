"""Evaluations of Phoenix: frames of `llm_classify` and `evaluate_dataframe`, and annotations of spans.

Rows of `llm_classify` and `run_evals`, as CSV or records (made up)::

    context.span_id,label,score,explanation,exceptions,execution_status,execution_seconds
    5b8e,correct,1,it names the file,[],COMPLETED,0.8
    e19b,NOT_PARSABLE,0.0,I would say so,[],COMPLETED,0.9

A row of `evaluate_dataframe` has, for each evaluator, `NAME_score` with `{"name": …, "label": …, "score": …,
"explanation": …}` and `NAME_execution_details`. An annotation has `span_id`, `name`, `annotator_kind` and
`result: {label, score, explanation}`, in a frame `annotation_name` and `result.label`.

The judge is the name of the evaluation, and none in a frame of one evaluator; a person's annotations are
`NAME (HUMAN)`. The item is the span, else the row's index. The label is by default the score.
`NOT_PARSABLE` is unreadable: `run_evals` scores it 0.

Sources: https://arize.com/docs/phoenix/tracing/how-to-tracing/feedback-and-annotations/llm-evaluations,
https://arize.com/docs/phoenix/evaluation/how-to-evals/batch-evaluations, https://github.com/Arize-ai/phoenix
(packages/phoenix-evals/src/phoenix/evals/legacy/classify.py and templates.py).
"""

import ast
from collections.abc import Iterator
from typing import Any

import msgspec

from misstep_harness.verdict_readers.written import Place, WrittenVerdict, mapping, number_text, scalars, text

NAME = "a file of evaluations of Phoenix"

_NOT_PARSABLE = "NOT_PARSABLE"
_SCORE, _DETAILS, _RESULT = "_score", "_execution_details", "result."
_SPANS = ("context.span_id", "span_id")
_INDEX = ""
_OF_EVALUATIONS = frozenset({*_SPANS, "execution_status"})
_HUMAN = "HUMAN"
_FAILED = ("FAILED", "MISSING INPUT", "DID NOT RUN")


def is_own(value: dict[str, Any]) -> bool:
    """Return whether an object is a row of evaluations, or an annotation of a span."""
    if any(name.endswith(_DETAILS) for name in value):
        return True
    if "label" in value:
        return not _OF_EVALUATIONS.isdisjoint(value)
    return "span_id" in value and (isinstance(value.get("result"), dict) or f"{_RESULT}label" in value)


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """Return the evaluations of a row; one with neither a span nor an index names no item."""
    names = scalars(value)
    item = next((names[name] for name in (*_SPANS, _INDEX) if names.get(name)), "")
    for judge, result, details in _results(value):
        yield _verdict(item, judge, result, details, place, names)


def _results(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    named = text(value.get("name")) or text(value.get("annotation_name"))
    if named and value.get("annotator_kind") == _HUMAN:
        named += f" ({_HUMAN})"
    if any(name.endswith(_DETAILS) for name in value):
        yield from _of_frame(value)
    elif isinstance(value.get("result"), dict):
        yield named, value["result"], {}
    elif f"{_RESULT}label" in value:
        yield named, {name.removeprefix(_RESULT): one for name, one in value.items() if name.startswith(_RESULT)}, {}
    else:
        yield named, value, {"status": value.get("execution_status"), "exceptions": value.get("exceptions")}


def _of_frame(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Return the scores of a row and the evaluators that failed on it.

    A score may be called otherwise than its evaluator, and another column may end in `_score`.
    """
    names = [name.removesuffix(end) for name in value for end in (_SCORE, _DETAILS) if name.endswith(end)]
    for name in dict.fromkeys(names):
        score, details = _object(value.get(name + _SCORE)), _object(value.get(name + _DETAILS))
        if score or details.get("status") in _FAILED or (details and name + _SCORE in value):
            yield name, score, details


def _verdict(
    item: str, judge: str, result: dict[str, Any], details: dict[str, Any], place: Place, names: dict[str, str]
) -> WrittenVerdict:
    label, score = text(result.get("label")).strip(), number_text(result.get("score"))
    reason = text(result.get("explanation"))
    if label == _NOT_PARSABLE:
        error = "the reply could not be parsed"
        return WrittenVerdict(
            item, None, place, judge, "unreadable", rationale=reason, error=error, written_as=score, names=names
        )
    if label or score:
        grade = float(score) if label and score else None
        return WrittenVerdict(item, label or score, place, judge, rationale=reason, names=names, grade=grade)
    status, raised = text(details.get("status")), details.get("exceptions")
    if status in _FAILED or (not result and details):
        listed = raised if isinstance(raised, list) else [raised]
        shown = "; ".join(one for one in listed if isinstance(one, str) and one) or "no exception is on record"
        error = f"the evaluation failed ({status or 'no score'}): {shown}"
        return WrittenVerdict(item, None, place, judge, "failed", error=error, names=names)
    return WrittenVerdict(item, None, place, judge, "unreadable", error="it has no label", names=names)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, str):
        return mapping(value)
    try:
        return mapping(msgspec.json.decode(value))
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return mapping(ast.literal_eval(value))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return {}
