"""Exports of annotation tools, one module a tool: each says whether records are its tool's, and gives their ratings."""

from collections.abc import Callable
from typing import Any

from misstep.analysis.labels.records import LabelRecords
from misstep.analysis.labels.tools import argilla, doccano, label_studio, prodigy
from misstep.analysis.labels.tools.ratings import ToolRatings

TOOLS: dict[str, tuple[Callable[[dict[str, Any]], bool], Callable[[LabelRecords, str], ToolRatings]]] = {
    "Label Studio": (label_studio.is_own, label_studio.ratings),
    "Prodigy": (prodigy.is_own, prodigy.ratings),
    "Argilla": (argilla.is_own, argilla.ratings),
    "Doccano": (doccano.is_own, doccano.ratings),
}
"""Tool → whether an object is one of its export, and the ratings in such objects, by the field that names the item."""


def tool_of(records: LabelRecords) -> str | None:
    """Return the tool that wrote all records of a file."""
    matches = (name for name, (is_own, _) in TOOLS.items() if records.values and all(map(is_own, records.values)))
    return next(matches, None)
