"""Label Studio's exports: JSON, a task an object with its annotations; CSV and JSON-MIN, a row an annotation.

In JSON the answers of an annotation are in `result`: `from_name` is the question, and `value` holds `choices`, a
`rating`, a `number`, a `taxonomy` or which of a pair is `selected`. Regions, free text, skipped annotations and
predictions are left out. In CSV a cell with several choices, or with a rating, is JSON.

Sources: https://labelstud.io/guide/export#Label-Studio-JSON-format-of-annotated-tasks,
https://labelstud.io/guide/export#CSV, https://github.com/HumanSignal/label-studio-converter (exports/csv2.py).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import structs

from misstep_analysis.labels.records import LabelRecords, label_text
from misstep_analysis.labels.rows import LabelRows
from misstep_analysis.labels.tools.ratings import ToolRatings
from misstep_harness.values import NOT_JSON

_FLAT_COLUMNS = frozenset({"annotator", "annotation_id", "created_at", "updated_at", "lead_time"})
_SKIPPED = "was_cancelled"
_SPAN_KEYS = frozenset({"start", "end", "x", "y", "points", "ranges"})


def is_own(record: dict[str, Any]) -> bool:
    """Return whether an object is a task: it has annotations with results, called completions in old exports."""
    annotations = record.get("annotations", record.get("completions"))
    return isinstance(annotations, list) and all(
        isinstance(annotation, dict) and isinstance(annotation.get("result"), list) for annotation in annotations
    )


def ratings(records: LabelRecords, item_field: str = "") -> ToolRatings:
    """Return the choices, ratings, numbers and taxonomies of the tasks."""
    result = ToolRatings("Label Studio", records, item_field)
    for place, task in zip(records.places, records.values, strict=True):
        item = result.item(place, task, place if task.get("id") is None else task["id"])
        predictions = task.get("predictions")
        if isinstance(predictions, list) and predictions:
            result.left_out["predictions of models"] += len(predictions)
        for annotation in task.get("annotations", task.get("completions")) or ():
            if annotation.get(_SKIPPED):
                result.left_out["skipped annotations"] += 1
                continue
            if not annotation["result"]:
                result.left_out["annotations without an answer"] += 1
            time = annotation.get("updated_at") or annotation.get("created_at")
            for question, label in _answers(annotation["result"], result):
                result.add(place, item, _annotator(annotation), question, label, time)
    return result


def is_flat(sheet: LabelRows) -> bool:
    """Return whether a table has the columns that every export of Label Studio with a row an annotation has."""
    return set(sheet.header) >= _FLAT_COLUMNS


def flat_cells(sheet: LabelRows) -> tuple[LabelRows, list[str]]:
    """Such an export with plain labels in its cells and without skipped annotations, and remarks on it."""
    remarks = ["read as an export of Label Studio with one annotation a row"]
    rest = list(range(len(sheet.columns[0])))
    if _SKIPPED in sheet.header:
        skipped = sheet.columns[sheet.header.index(_SKIPPED)]
        rest = [row for row in rest if skipped[row].strip().casefold() != "true"]
        if len(rest) < len(skipped):
            remarks.append(f"not counted as ratings: skipped annotations ({len(skipped) - len(rest):,})")
    sheet = sheet.rows(rest)
    columns: list[Sequence[str]] = [list(map(_cell, column)) for column in sheet.columns]
    return structs.replace(sheet, columns=columns), remarks


def _answers(results: Iterable[Any], ratings: ToolRatings) -> Iterable[tuple[str, str]]:
    for result in results:
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            continue
        kind = str(result.get("type", ""))
        label = _label(value, kind)
        if _SPAN_KEYS & value.keys() or kind.endswith("labels"):
            ratings.left_out["regions, such as spans and boxes"] += 1
        elif label is None:
            ratings.left_out["answers that are neither choices nor numbers"] += 1
        else:
            yield str(result.get("from_name", "label")), label


def _label(value: dict[str, Any], kind: str) -> str | None:
    if kind == "taxonomy" and isinstance(value.get("taxonomy"), list):
        return label_text([" / ".join(map(str, path)) for path in value["taxonomy"] if isinstance(path, list)])
    for name in ("choices", "rating", "number", "selected"):
        if name in value:
            return label_text(value[name])
    return None


def _annotator(annotation: dict[str, Any]) -> object:
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        return next((who[name] for name in ("email", "username", "id") if who.get(name)), None)
    return who


def _cell(cell: str) -> str:
    """Return a cell's label; what a JSON of choices or of one rating says, and every other cell as it is."""
    if not cell.startswith(("{", "[{")):
        return cell
    try:
        value = msgspec.json.decode(cell)
    except NOT_JSON:
        return cell
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    label = _label(value, "") if isinstance(value, dict) else None
    return cell if label is None else label
