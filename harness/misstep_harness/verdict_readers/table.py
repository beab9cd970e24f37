"""A table of verdicts: `item` and `label`, and if they are known `judge`, `score`, `reason` and `model`.

    item,label,score,reason
    run-17,yes,0.9,asks for the same file three times

The lines of `verdicts.jsonl` have this form as well: their `rationale` is the reason, and if `label` is null `status`
and `error` say why.
"""

from collections.abc import Iterator
from typing import Any

from misstep_harness.escaping import without_surrogates
from misstep_harness.values import plain
from misstep_harness.verdict import UNANSWERED, Status, certainty
from misstep_harness.verdict_readers.written import Place, WrittenVerdict, scalars

NAME = "a table of verdicts"

COLUMNS = frozenset({"item", "label", "judge", "score", "reason", "rationale", "model", "status", "error"})
"""The columns that have a meaning."""

_REASONS = ("reason", "rationale")
_NO_LABEL = "the label is empty"


def is_own(value: dict[str, Any]) -> bool:
    """Return whether an object has an item and a label."""
    return value.keys() >= {"item", "label"}


def verdicts(value: dict[str, Any], place: Place) -> Iterator[WrittenVerdict]:
    """Return the verdict of a row."""
    item = _text(value, "item", place)
    label = _text(value, "label", place)
    status = value.get("status")
    unanswered: Status = status if status in UNANSWERED else "unreadable"
    yield WrittenVerdict(
        item,
        label or None,
        place,
        _text(value, "judge", place),
        "answered" if label else unanswered,
        _score(value.get("score"), place),
        next(filter(None, (_text(value, name, place) for name in _REASONS)), ""),
        _text(value, "model", place) or None,
        None if label else _text(value, "error", place) or _NO_LABEL,
        names=scalars(value),
    )


def _text(value: dict[str, Any], name: str, place: Place) -> str:
    cell = value.get(name)
    if isinstance(cell, str):
        return without_surrogates(cell.strip())
    if isinstance(cell, list | dict):
        raise place.error(f"a {'list' if isinstance(cell, list) else 'table'} where a text is expected", _FORM, name)
    return "" if cell is None else plain(cell)


_FORM = "A row has item and label, and may have judge, score, reason and model."


def _score(cell: Any, place: Place) -> float | None:
    try:
        return certainty(cell)
    except (ValueError, OverflowError) as error:
        advice = "A score is the judge's certainty of its label: divide it by the highest one, or leave the column out."
        raise place.error(f"the score {str(cell)[:40]!r} is not a number from 0 to 1", advice, "score") from error
