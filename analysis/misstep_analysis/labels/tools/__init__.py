"""Exports of annotation tools, one module a tool: each says whether records are its tool's, and gives their ratings."""

from collections.abc import Callable
from typing import Any

from misstep_analysis.labels.records import LabelRecords
from misstep_analysis.labels.tools import argilla, doccano, label_studio, prodigy
from misstep_analysis.labels.tools.ratings import ToolRatings
from misstep_harness.errors import InputError

TOOLS: dict[str, tuple[Callable[[dict[str, Any]], bool], Callable[[LabelRecords, str], ToolRatings]]] = {
    "Label Studio": (label_studio.is_own, label_studio.ratings),
    "Prodigy": (prodigy.is_own, prodigy.ratings),
    "Argilla": (argilla.is_own, argilla.ratings),
    "Doccano": (doccano.is_own, doccano.ratings),
}
"""Tool → whether an object is one of its export, and the ratings in such objects, by the field that names the item."""


def tool_of(records: LabelRecords) -> str | None:
    """Return the tool that wrote all records of a file; an error names the first that is not one of most others'."""
    own = {name: list(map(is_own, records.values)) for name, (is_own, _) in TOOLS.items()}
    name = max(own, key=lambda one: sum(own[one]))
    if 2 * sum(own[name]) <= len(records.values):
        return None
    if all(own[name]):
        return name
    place = records.places[own[name].index(False)]
    line, where = (place, None) if records.unit == "line" else (None, f"{records.unit} {place}")
    problem = f"it does not fit the rest, which is an export of {name}"
    raise InputError(problem, "Correct or remove it.", file=records.file, line=line, field=where)
