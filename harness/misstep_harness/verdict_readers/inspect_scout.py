"""Results of Inspect Scout, as Parquet or as data frames in CSV or JSON Lines: each scanner is a judge of transcripts.

A row of `scan_results_df(…).scanners[NAME]`, written by `to_csv` or `to_json(orient="records", lines=True)` (made up)::

    {"transcript_id": "5b8e", "transcript_source_id": "e1", "scan_id": "3ib", "scanner_key": "deception",
     "scanner_name": "deception", "value": true, "value_type": "boolean", "answer": "yes",
     "explanation": "It hides the test.", "scan_error": null}

The label is the value: a text, a number, `true` or `false`. A scanner without a value abstained. A scan that ended with
an error has failed, and a value that is a list or an object is not a label. In the Parquet files of a scan
(`scans/scan_id=…/NAME.parquet`) all values are texts, and `value_type` says what they are.

Sources: https://meridianlabs-ai.github.io/inspect_scout/results.html,
https://github.com/meridianlabs-ai/inspect_scout.
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.values import plain
from misstep_harness.verdict_readers.written import Place, WrittenVerdict, number_text, scalars, text

NAME = "a table of results of Inspect Scout"

_OWN = frozenset({"transcript_id", "scanner_name", "value", "value_type"})
_NO_LABEL = ("array", "object", "resultset")


def is_own(value: dict[str, Any]) -> bool:
    """Return whether an object is the result of a scanner."""
    return value.keys() >= _OWN


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """Return the verdict of a scanner on a transcript."""
    item = text(value["transcript_id"])
    judge = text(value.get("scanner_key")) or text(value["scanner_name"])
    names, rationale = scalars(value), text(value.get("explanation"))
    error = text(value.get("scan_error"))
    label = "" if error else _label(value["value"], text(value["value_type"]))
    if label:
        yield WrittenVerdict(item, label, place, judge, rationale=rationale, names=names)
    elif error:
        why = f"the scan ended with an error: {error}"
        yield WrittenVerdict(item, None, place, judge, "failed", error=why, names=names)
    elif value["value_type"] in _NO_LABEL:
        why = f"the value is not a label: it is of the type {value['value_type']}"
        yield WrittenVerdict(item, None, place, judge, "unreadable", rationale=rationale, error=why, names=names)
    else:
        why = "the scanner gave no value"
        yield WrittenVerdict(item, None, place, judge, "abstained", rationale=rationale, error=why, names=names)


def _label(value: Any, kind: str) -> str:
    """Return the value as text, alike whether CSV or JSON wrote it; empty where it is none."""
    if kind in _NO_LABEL or not isinstance(value, str | int | float):
        return ""
    if kind == "boolean" and isinstance(value, str):
        return value.strip().casefold()
    if kind == "number":
        return number_text(value)
    return value.strip() if isinstance(value, str) else plain(value)
