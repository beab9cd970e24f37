"""Curves: how a quantity changes along an axis, one line a series, each with the band of its intervals.

Series differ in colour, in the stroke of their line and in the shape of their marks, so that grey print tells them
apart; published figures have hollow marks.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from analysis.plots.drawing import MUTED, SERIES, Drawing, Marker
from analysis.plots.layout import GAP, WIDTH, fitted_apart, scale, text_width, tick_text, ticks
from analysis.plots.rows import drawn_value, words
from analysis.tables import Row, Unit
from analysis.tables.wording import number_text
from harness.errors import UsageError

_STROKES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.2, 1.6), (6, 1.6, 1.2, 1.6))
_MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond")
_KEY = 20
_HEIGHT = 210
_FOOT = 40
_LOGARITHMIC_FROM = 20
"""An axis that spans more than this factor is logarithmic."""


class _Look(Struct, frozen=True):
    """How one series is drawn."""

    color: str
    strokes: tuple[float, ...]
    marker: Marker


def curves(
    rows: Sequence[Row], places: Mapping[str, float], title: str, description: str = "", x_label: str = ""
) -> str:
    """Lines through values at their places, with shaded intervals; over more than a factor of 20 in logarithms.

    Parameters
    ----------
    rows
        Rows of one unit; those of one `group` are a series. One without a value interrupts its line.
    places
        Quantity → where on the axis its value stands.
    title, description
        As for `bars`.
    x_label
        What the axis counts.

    Raises
    ------
    UsageError
        A quantity has no place.
    """
    for row in rows:
        if row.quantity not in places:
            raise UsageError(f"no place on the axis for {row.quantity!r}", f"There are: {', '.join(places)}.")
    series = {group: _sorted(members, places) for group, members in _by_group(rows).items()}
    looks = {group: _look(index) for index, group in enumerate(series)}
    unit: Unit = rows[0].unit if rows else "number"
    limits = _limits(rows, unit)
    marks = ticks(limits, unit)
    left = max((text_width(tick_text(mark, unit), 10.5) for mark in marks), default=0) + GAP + 4
    top = _KEY * len(series) + GAP
    bottom = top + _HEIGHT
    drawing = Drawing(WIDTH, bottom + _FOOT)
    _draw_key(drawing, looks)
    up = scale(limits, bottom, top)
    for mark in marks:
        drawing.line((left, up(mark)), (WIDTH, up(mark)))
        drawing.text(left - 6, up(mark) + 4, tick_text(mark, unit), color=MUTED, size=10.5, anchor="right")
    used = sorted({places[row.quantity] for row in rows})
    across = _across(used, left + 8, WIDTH - 14)
    _draw_axis(drawing, used, across, bottom, x_label)
    for group, members in series.items():
        _draw_series(drawing, members, looks[group], lambda row: across(places[row.quantity]), up)
    return drawing.svg(title, description or words(rows))


def _by_group(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return groups


def _sorted(rows: Sequence[Row], places: Mapping[str, float]) -> list[Row]:
    return sorted(rows, key=lambda row: places[row.quantity])


def _look(index: int) -> _Look:
    """A look of its own for each of sixteen series: of those with one colour, strokes and marks differ."""
    color, turn = index % len(SERIES), index // len(SERIES)
    other = (color + turn) % len(_STROKES)
    return _Look(SERIES[color], _STROKES[other], _MARKERS[other])


def _limits(rows: Sequence[Row], unit: Unit) -> tuple[float, float]:
    """From 0, or from below it, to a little above the highest end; a share ends at 1."""
    ends = [end for row in rows for end in (row.low, row.high, drawn_value(row)) if end is not None]
    low, high = min([0.0, *ends]), max(ends, default=0.0)
    high += 0.05 * (high - low) or 1.0
    return low, min(high, 1.0) if unit == "share" else high


def _across(used: Sequence[float], left: float, right: float) -> Callable[[float], float]:
    if len(used) < 2:
        return lambda _: (left + right) / 2
    if used[0] > 0 and used[-1] > _LOGARITHMIC_FROM * used[0]:
        along = scale((math.log(used[0]), math.log(used[-1])), left, right)
        return lambda place: along(math.log(place))
    return scale((used[0], used[-1]), left, right)


def _draw_key(drawing: Drawing, looks: Mapping[str, _Look]) -> None:
    names = fitted_apart(list(looks), WIDTH - 42, 12)
    for index, (name, look) in enumerate(zip(names, looks.values(), strict=True)):
        y = _KEY * index + 10
        drawing.path([(0, y), (34, y)], color=look.color, dashes=look.strokes)
        drawing.marker(17, y, look.marker, color=look.color, size=7)
        drawing.text(42, y + 4, name)


def _draw_axis(
    drawing: Drawing, used: Sequence[float], across: Callable[[float], float], y: float, x_label: str
) -> None:
    """The places that have values, each with its number as far as the numbers do not touch; the last one always."""
    free_to = math.inf
    for place in reversed(used):
        x, label = across(place), number_text(int(place) if place == int(place) else place)
        half = text_width(label, 10.5) / 2
        drawing.line((x, y), (x, y + 4), color=MUTED)
        if x + half < free_to:
            drawing.text(x, y + 17, label, color=MUTED, size=10.5, anchor="center")
            free_to = x - half - 4
    drawing.text(WIDTH, y + 33, x_label, color=MUTED, size=11, anchor="right")


def _draw_series(
    drawing: Drawing,
    members: Sequence[Row],
    look: _Look,
    across: Callable[[Row], float],
    up: Callable[[float], float],
) -> None:
    for bounded, stretch in groupby(members, key=lambda row: row.low is not None and row.high is not None):
        if bounded:
            band = list(stretch)
            lower = [(across(row), up(row.low)) for row in band if row.low is not None]
            upper = [(across(row), up(row.high)) for row in band if row.high is not None]
            drawing.area([*lower, *reversed(upper)], fill=look.color, strength=0.15)
    for known, stretch in groupby(members, key=lambda row: drawn_value(row) is not None):
        if known:
            points = [(across(row), up(drawn_value(row) or 0.0), row) for row in stretch]
            drawing.path([(x, y) for x, y, _ in points], color=look.color, dashes=look.strokes)
            for x, y, row in points:
                drawing.marker(x, y, look.marker, color=look.color, size=6, hollow=row.evidence == "published")
