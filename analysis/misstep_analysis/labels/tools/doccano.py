"""Doccano's exports: JSON Lines, a line a text with its labels; of each annotator a file of the export's zip archive.

`label` (in old exports `labels`, beside slots `cats`) lists what was chosen; up to version 1.2 `annotations` has the
choice of each `user`. Without annotators in its lines, a file is one annotator's, as `ann.jsonl` is. Spans and
relations are left out.

Sources: https://doccano.github.io/doccano/tutorial/, https://github.com/doccano/doccano (backend/data_export/pipeline,
and app/api/utils.py of version 1.2).
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from misstep_analysis.labels.records import LabelRecords, label_text
from misstep_analysis.labels.tools.ratings import ToolRatings

_CHOSEN = ("label", "labels", "cats", "annotations", "entities")
_WHAT = frozenset({"text", "filename"})
_OWN = frozenset({"id", "comments", "meta", "annotation_approver"})
_WHO = "annotator"
"""Written here, of the file of each annotator: a text may bring a field `user` of its own."""

_QUESTION = "label"


def is_own(record: dict[str, Any]) -> bool:
    """Return whether an object is a text with what was chosen for it."""
    names = {name.casefold() for name in record}
    chosen = [record[name] for name in _CHOSEN if isinstance(record.get(name), list | dict)]
    return bool(names & _WHAT) and len(names & (_OWN | _WHAT)) > 1 and bool(chosen)


def ratings(records: LabelRecords, item_field: str = "") -> ToolRatings:
    """Return the labels of whole texts."""
    result = ToolRatings("Doccano", records, item_field)
    for place, record in zip(records.places, records.values, strict=True):
        item = result.item(place, record, place if record.get("id") is None else record["id"])
        usual = record.get(_WHO) or PurePath(records.file).stem
        for who, answers in _annotations(record, usual):
            choices = [answer for answer in answers if not isinstance(answer, list | dict)]
            if len(choices) < len(answers):
                result.left_out["spans and entities in texts"] += len(answers) - len(choices)
            if label := label_text(choices):
                result.add(place, item, who, _QUESTION, label, record.get("updated_at"))
            elif not answers:
                result.left_out["texts without a label"] += 1
    return result


def _annotations(record: dict[str, Any], usual: object) -> Iterator[tuple[object, list[Any]]]:
    by_user: dict[object, list[Any]] = {}
    for one in record["annotations"] if isinstance(record.get("annotations"), list) else ():
        if isinstance(one, dict):
            span = one.get("start_offset") is not None
            by_user.setdefault(one.get("user", usual), []).append(one if span else one.get("label", one.get("text")))
    yield from by_user.items()
    for name in ("label", "labels", "cats", "entities"):
        value = record.get(name)
        if isinstance(value, dict):
            yield from ((who, answer if isinstance(answer, list) else [answer]) for who, answer in value.items())
        elif isinstance(value, list):
            yield usual, value
