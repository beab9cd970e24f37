"""Rows as figures: bars, forest plots and small multiples, each row with its label.

Shapes tell the kinds of evidence apart: a hollow diamond is published, a hollow circle recomputed, a filled circle
real, a triangle generated.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from misstep_analysis.plots.drawing import (
    AXIS,
    GAP,
    INK,
    MUTED,
    SERIES,
    WIDTH,
    Drawing,
    Marker,
    Point,
    axis,
    drawn_value,
    fitted_apart,
    longest,
    padded,
    scale,
    words,
    wrapped,
)
from misstep_analysis.tables import Evidence, Row, Unit
from misstep_analysis.tables.wording import count_text, interval_text, value_text

_MARKERS: dict[Evidence, tuple[Marker, bool, str]] = {
    "published": ("diamond", True, INK),
    "recomputed": ("circle", True, SERIES[0]),
    "real": ("circle", False, SERIES[2]),
    "generated": ("triangle", False, SERIES[3]),
}
"""Evidence → shape, whether it is hollow, colour."""

_Place = tuple[float, float, float]
_Mark = Callable[[Row, float, Callable[[float], float]], None]
_PITCH = 36
_MARK = 23
_HEADING = 26
_LINE = 15
_HALF_A_MARK = 6


def bars(rows: Sequence[Row], title: str) -> str:
    """Draw horizontal bars from 0, each with its interval: for shares and counts."""
    limits = (0.0, max([_reach(row) for row in rows], default=0.0) or 1.0)
    drawing = Drawing(WIDTH, _height(rows) + AXIS)
    bottom = _draw_rows(drawing, rows, (0, 0, WIDTH), limits, partial(_bar, drawing))
    axis(drawing, bottom, limits, _unit(rows))
    return drawing.svg(title, words(rows))


def forest(rows: Sequence[Row], title: str, description: str = "", *, reference: float | None = None) -> str:
    """Return a forest plot: each value as a mark on its interval, with a dashed line at a reference."""
    ends = [end for row in rows for end in (row.low, row.high, drawn_value(row), reference) if end is not None]
    limits = padded(ends, 0.05, 0.5, _unit(rows))
    drawing = Drawing(WIDTH, _height(rows) + AXIS)

    def mark(row: Row, y: float, across: Callable[[float], float]) -> None:
        drawing.line((0, y), (WIDTH, y))
        if reference is not None:
            x = across(reference)
            drawing.line((x, y - 4), (x, y + 12), color=MUTED, width=1.4, dashed=True)
        (shape, hollow, color), value = _MARKERS[row.evidence], drawn_value(row)
        _whisker(drawing, row, y, across, color)
        if value is not None:
            drawing.marker(across(value), y, shape, color=color, hollow=hollow)

    bottom = _draw_rows(drawing, rows, (0, 0, WIDTH), limits, mark, inset=_HALF_A_MARK)
    axis(drawing, bottom, limits, _unit(rows), (_HALF_A_MARK, WIDTH - _HALF_A_MARK))
    return drawing.svg(title, description or words(rows))


def small_multiples(rows: Sequence[Row], title: str) -> str:
    """Draw a panel of bars for each group, two beside each other, all on one scale.

    The n is beside the heading of a panel if it is the same for all its bars, else in the description.
    """
    limits = (0.0, max([_reach(row) for row in rows], default=0.0) or 1.0)
    panels = [list(members) for _, members in groupby(rows, key=lambda row: row.group)]
    gutter, columns = 28, 2
    width = (WIDTH - gutter) / columns
    shelves = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    heights = [max(_height(panel, width, brief=True) for panel in shelf) + GAP for shelf in shelves]
    drawing = Drawing(WIDTH, sum(heights) + GAP)
    top = 0.0
    for shelf, height in zip(shelves, heights, strict=True):
        for column, panel in enumerate(shelf):
            _draw_rows(
                drawing, panel, (column * (width + gutter), top, width), limits, partial(_bar, drawing), brief=True
            )
        top += height
    return drawing.svg(title, words(rows))


def _draw_rows(
    drawing: Drawing,
    rows: Sequence[Row],
    place: _Place,
    limits: Point,
    mark: _Mark,
    *,
    brief: bool = False,
    inset: float = 0,
) -> float:
    """Draw rows from the top left `place` (x, y, width), labels above their marks; return the bottom.

    `inset` is how far the ends of the scale stay away from the sides.
    """
    x, y, width = place
    across = scale(limits, x + inset, x + width - inset)
    n_width = 0.0 if brief else longest([f"n {count_text(row.n)}" for row in rows if row.n is not None], 11)
    interval_width = 0.0 if brief else longest([interval_text(row) for row in rows], 11)
    value_width = longest([value_text(row) for row in rows], 12)
    size = 11 if brief else 12
    labelled = list(_labelled(rows))
    room = width - n_width - interval_width - value_width
    labels = fitted_apart([label for _, label, _ in labelled], room, size)
    for (heading, _, row), label in zip(labelled, labels, strict=True):
        if heading:
            if brief:
                drawing.text(x + width, y + 18, _shared_n(rows), color=MUTED, size=11, anchor="right")
            for number, line in enumerate(_heading_lines(heading, rows, width, brief=brief)):
                drawing.text(x, y + 18 + _LINE * number, line, size=12.5, bold=True)
            y += _heading_height(heading, rows, width, brief=brief)
        right = x + width
        if row.n is not None and not brief:
            drawing.text(right, y + 12, f"n {count_text(row.n)}", color=MUTED, size=11, anchor="right")
        right -= n_width
        if interval_width:
            drawing.text(right, y + 12, interval_text(row), color=MUTED, size=11, anchor="right")
            right -= interval_width
        drawing.text(right, y + 12, value_text(row), bold=True, anchor="right")
        drawing.text(x, y + 12, label, size=size)
        if drawn_value(row) is not None:
            mark(row, y + _MARK, across)
        y += _PITCH
    return y


def _labelled(rows: Sequence[Row]) -> list[tuple[str, str, Row]]:
    """Return each row with the heading above it, which may be empty, and its label.

    If a quantity has several rows, quantities are headings and rows are told apart by evidence and source.
    """
    blocks = [list(same) for _, same in groupby(rows, key=lambda row: (row.group, row.quantity))]
    compared = any(len(block) > 1 for block in blocks)
    labelled, last_group = [], ""
    for block in blocks:
        for position, row in enumerate(block):
            new_group = row.group if row.group != last_group else ""
            if compared:
                named = ": ".join(part for part in (row.group, row.quantity) if part)
                same_kind = sum(other.evidence == row.evidence for other in block) > 1
                label = f"{row.source} ({row.evidence})" if same_kind and row.source else row.evidence
                labelled.append(("" if position else named, label, row))
            else:
                labelled.append((new_group, row.quantity, row))
            last_group = row.group
    return labelled


_FEWEST_IN_FULL_COLOUR = 10


def _bar(drawing: Drawing, row: Row, y: float, across: Callable[[float], float]) -> None:
    (_, hollow, color), start = _MARKERS[row.evidence], across(0)
    pale = hollow or (row.n is not None and row.n < _FEWEST_IN_FULL_COLOUR)
    width, strength = across(drawn_value(row) or 0.0) - start, 0.18 if pale else 0.75
    drawing.box(start, y - 4, width, 8, fill=color, strength=strength, edge=color if hollow else None)
    _whisker(drawing, row, y, across, INK)


def _whisker(drawing: Drawing, row: Row, y: float, across: Callable[[float], float], color: str) -> None:
    """Draw the interval, with a stroke at each end that it has; a one-sided one goes to the value."""
    ends = [end for end in (row.low, row.high) if end is not None]
    reached = [*ends, *([] if (value := drawn_value(row)) is None else [value])]
    if not ends or len(reached) < 2:
        return
    drawing.line((across(min(reached)), y), (across(max(reached)), y), color=color, width=1.4)
    for end in ends:
        drawing.line((across(end), y - 3), (across(end), y + 3), color=color, width=1.4)


def _height(rows: Sequence[Row], width: float = WIDTH, *, brief: bool = False) -> float:
    headings = (heading for heading, _, _ in _labelled(rows) if heading)
    return _PITCH * len(rows) + sum(_heading_height(heading, rows, width, brief=brief) for heading in headings)


def _heading_height(heading: str, rows: Sequence[Row], width: float, *, brief: bool) -> float:
    return _HEADING + _LINE * (len(_heading_lines(heading, rows, width, brief=brief)) - 1)


def _heading_lines(heading: str, rows: Sequence[Row], width: float, *, brief: bool) -> list[str]:
    return wrapped(heading, width - (longest([_shared_n(rows)], 11) if brief else 0), 12.5)


def _shared_n(rows: Sequence[Row]) -> str:
    first, *others = {row.n for row in rows}
    return "" if others or first is None else f"n {count_text(first)}"


def _reach(row: Row) -> float:
    return max(drawn_value(row) or 0.0, row.high or 0.0)


def _unit(rows: Sequence[Row]) -> Unit:
    return rows[0].unit if rows else "number"
