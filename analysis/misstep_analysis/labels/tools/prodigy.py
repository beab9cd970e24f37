"""Prodigy's export (`prodigy db-out`): JSON Lines, a line the answer of one annotator to one task.

A choice lists what was chosen in `accept`; a task without choices is answered by `accept` or `reject`, about its
`label`, which then is a question. `_input_hash` is the same for one input; `_annotator_id`, or `_session_id`, says who
answered. Ignored tasks, spans, relations and boxes are not ratings.

Sources: https://prodi.gy/docs/api-interfaces, https://prodi.gy/docs/api-web-app, https://prodi.gy/docs/review.
"""

from typing import Any

from misstep_analysis.labels.records import LabelRecords, label_text
from misstep_analysis.labels.tools.ratings import ToolRatings

_CHOICE = "choice"
_ANSWER = "answer"
_REGIONS = ("spans", "relations")


def is_own(record: dict[str, Any]) -> bool:
    """Return whether an object is an answered task."""
    return "_input_hash" in record and isinstance(record.get("answer"), str)


def ratings(records: LabelRecords, item_field: str = "") -> ToolRatings:
    """Return the choices, and the acceptances and rejections, of the tasks."""
    table = ToolRatings("Prodigy", records, item_field)
    for place, task in zip(records.places, records.values, strict=True):
        if any(task.get(name) for name in _REGIONS):
            table.left_out["spans or relations of tasks"] += 1
        question, label = _answer(task, table)
        if question:
            who = task.get("_annotator_id") or task.get("_session_id")
            table.add(place, table.item(place, task, task["_input_hash"]), who, question, label, task.get("_timestamp"))
    return table


def _answer(task: dict[str, Any], table: ToolRatings) -> tuple[str, str]:
    if task["answer"] == "ignore":
        table.left_out["ignored tasks"] += 1
    elif isinstance(task.get("options"), list) or "accept" in task:
        chosen = label_text(task.get("accept"))
        if task["answer"] == "accept" and chosen:
            return _CHOICE, chosen
        table.left_out["choices that were rejected or left empty"] += 1
    elif str(task.get("_view_id", "")).endswith(("_manual", "_input")):
        table.left_out["tasks without a label of the whole item"] += 1
    else:
        return label_text(task.get("label")) or _ANSWER, task["answer"]
    return "", ""
