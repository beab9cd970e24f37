"""A funnel: counts that narrow step by step, each with its share of the step before and of the first."""

from collections.abc import Sequence
from itertools import pairwise

from misstep_analysis.plots.drawing import GAP, MUTED, SERIES, Drawing
from misstep_analysis.plots.layout import WIDTH, fitted_apart, longest
from misstep_analysis.plots.rows import drawn_value
from misstep_analysis.tables import Row
from misstep_analysis.tables.wording import number_text, value_text
from misstep_harness.errors import UsageError

_PITCH = 60
_BAR = 14


def funnel(rows: Sequence[Row], title: str) -> str:
    """Draw counts as bars around one axis, with shares of the step before and of the first."""
    values = [drawn_value(row) for row in rows]
    _check(rows, values)
    drawing = Drawing(WIDTH, _PITCH * len(rows) + GAP)
    names = fitted_apart([row.quantity for row in rows], WIDTH - longest([value_text(row) for row in rows], 12), 12)
    for index, (row, value, name) in enumerate(zip(rows, values, names, strict=True)):
        y = _PITCH * index
        count = value_text(row)
        drawing.text(WIDTH, y + 12, count, bold=True, anchor="right")
        drawing.text(0, y + 12, name)
        shares = _shares_text(value, values[:index])
        drawing.text(WIDTH / 2, y + 18 + _BAR + 13, shares, color=MUTED, size=11, anchor="center")
        if value is not None:
            width = WIDTH * value / (max(known for known in values if known is not None) or 1)
            hollow = row.evidence in ("published", "recomputed")
            strength, edge = (0.18, SERIES[0]) if hollow else (0.75, None)
            drawing.box((WIDTH - width) / 2, y + 18, width, _BAR, fill=SERIES[0], strength=strength, edge=edge)
    return drawing.svg(title, _funnel_words(rows, values))


def _check(rows: Sequence[Row], values: Sequence[float | None]) -> None:
    for row, value in zip(rows, values, strict=True):
        if value is not None and value < 0:
            raise UsageError(f"a count below 0 in a funnel: {row.quantity}")
    for (_, before), (row, value) in pairwise(zip(rows, values, strict=True)):
        if before is not None and value is not None and value > before:
            raise UsageError(f"{row.quantity} is more than the step before it", "Give the steps from all to the least.")


def _shares_text(value: float | None, before: Sequence[float | None]) -> str:
    wholes = ((before[-1], "the step before"), (before[0], "the first")) if before else ()
    parts = [
        f"{number_text(value / whole, 'share')} of {name}" for whole, name in wholes if whole and value is not None
    ]
    return ", ".join(parts[:1] if len(before) == 1 else parts)


def _funnel_words(rows: Sequence[Row], values: Sequence[float | None]) -> str:
    sentences = []
    for index, (row, value) in enumerate(zip(rows, values, strict=True)):
        shares = _shares_text(value, values[:index])
        parts = [value_text(row) if value is not None or row.printed else "not available", row.evidence]
        sentences.append(f"{row.quantity}: {', '.join([*parts, shares] if shares else parts)}")
    return "; ".join(sentences) + "." if sentences else "Nothing was counted."
