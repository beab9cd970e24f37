"""Check that figures which a cell computes in sight are those of the tables that its notebook shows.

Such a cell ends with a data frame whose index and columns have the names of fields of a table's row: `group`, `value`.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from misstep_analysis.tables import Row, Table

FRAME_TYPE = "application/vnd.misstep.frame+json"
"""The media type of a data frame's lines in a notebook's output."""

_FIGURES = ("value", "low", "high", "n")


def frame_bundle(frame: Any) -> dict[str, Any]:
    """Return the lines of a frame of figures as an output of their own; nothing of any other frame."""
    names, figures = list(frame.index.names), [name for name in _FIGURES if name in frame.columns]
    if not figures or not set(names) <= set(Row.__struct_fields__):
        return {}
    lines = frame[figures].reset_index().to_dict("records")
    return {FRAME_TYPE: [{str(name): _plain(value) for name, value in line.items()} for line in lines]}


def lines_without_a_row(outputs: Iterable[Mapping[str, Any]], tables: Iterable[Table]) -> list[dict[str, Any]]:
    """Return the lines of all frames of figures that no computed row of a table has."""
    rows = [row for table in tables for row in table.rows if row.evidence != "published"]
    lines = (line for output in outputs for line in output.get("data", {}).get(FRAME_TYPE, ()))
    return [line for line in lines if not any(_is_of(line, row) for row in rows)]


def _plain(value: Any) -> str | float | None:
    if isinstance(value, str):
        return value
    return None if value is None or math.isnan(value) else float(value)


def _is_of(line: Mapping[str, Any], row: Row) -> bool:
    return all(
        _is_shown(value, getattr(row, name), name) if name in _FIGURES else value == getattr(row, name)
        for name, value in line.items()
    )


def _is_shown(value: float | None, shown: float | str | None, name: str) -> bool:
    """Return whether a row shows a number; where the frame has none, the row may, but for the value itself."""
    is_number = isinstance(shown, int | float)
    if value is None:
        return name != "value" or not is_number
    return is_number and math.isclose(value, float(shown or 0), rel_tol=1e-9)
