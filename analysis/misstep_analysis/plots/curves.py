"""Curves: how a quantity changes along an axis, one line a series, each with the band of its intervals.

Series differ in colour, in strokes and in marks, so that grey print tells them apart; published figures have hollow
marks.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from misstep_analysis.plots.drawing import GAP, MUTED, SERIES, Drawing, Marker, Pen
from misstep_analysis.plots.layout import WIDTH, fitted_apart, longest, scale, text_width, tick_text, ticks
from misstep_analysis.plots.rows import drawn_value, words
from misstep_analysis.tables import Row, Unit
from misstep_analysis.tables.wording import number_text
from misstep_harness.errors import UsageError

_STROKES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.2, 1.6), (6, 1.6, 1.2, 1.6))
_MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond")
_KEY = 20
_HEIGHT = 210
_FOOT = 40
_LOGARITHMIC_FROM = 20


class Look(Struct, frozen=True):
    """How one series is drawn."""

    color: str
    strokes: tuple[float, ...]
    marker: Marker


def curves(
    rows: Sequence[Row],
    places: Mapping[str, float],
    title: str,
    x_label: str = "",
    *,
    in_words: bool = False,
) -> str:
    """Draw lines through values at their places, with shaded intervals; over more than a factor of 20 in logarithms."""
    for row in rows:
        if row.quantity not in places:
            raise UsageError(f"no place on the axis for {row.quantity!r}", f"There are: {', '.join(places)}.")
    series = {
        group: sorted(members, key=lambda row: places[row.quantity]) for group, members in _by_group(rows).items()
    }
    looks = {group: look(index) for index, group in enumerate(series)}
    unit: Unit = rows[0].unit if rows else "number"
    limits = _limits(rows, unit)
    marks = ticks(limits, unit)
    top = _KEY * len(series) + GAP
    drawing = Drawing(WIDTH, top + _HEIGHT + _FOOT)
    _draw_key(drawing, looks)
    used = sorted({places[row.quantity] for row in rows})
    named = {place: quantity for quantity, place in places.items()} if in_words else {}
    numbers = [named.get(place) or number_text(int(place) if place == int(place) else place) for place in used]
    left = longest([tick_text(mark, unit) for mark in marks], 10.5) + GAP
    right = WIDTH - max(longest(numbers[-1:], 10.5) / 2, GAP)
    ends = (used[0], used[-1]) if len(used) > 1 else (sum(used) - 1, sum(used) + 1)
    wide = not in_words and ends[0] > 0 and ends[1] > _LOGARITHMIC_FROM * ends[0]
    plane = drawing.plane(
        (left, top, right, top + _HEIGHT),
        ends,
        limits,
        _apart(dict(zip(used, numbers, strict=True)), ends, right - left, wide),
        {mark: tick_text(mark, unit) for mark in marks},
        logarithmic=wide,
    )
    drawing.text(WIDTH, top + _HEIGHT + 33, x_label, color=MUTED, size=11, anchor="right")
    for group, members in series.items():
        _draw_series(plane, members, looks[group], places)
    return drawing.svg(title, words(rows))


def _by_group(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return groups


def look(index: int) -> Look:
    """Return a look of its own for each of sixteen series: of those with one colour, strokes and marks differ."""
    color, turn = index % len(SERIES), index // len(SERIES)
    other = (color + turn) % len(_STROKES)
    return Look(SERIES[color], _STROKES[other], _MARKERS[other])


def _limits(rows: Sequence[Row], unit: Unit) -> tuple[float, float]:
    """Return limits from 0, or from below it, to a little above the highest end; a share ends at 1."""
    ends = [end for row in rows for end in (row.low, row.high, drawn_value(row)) if end is not None]
    low, high = min([0.0, *ends]), max(ends, default=0.0)
    high += 0.05 * (high - low) or 1.0
    return low, min(high, 1.0) if unit == "share" else high


def _draw_key(drawing: Drawing, looks: Mapping[str, Look]) -> None:
    names = fitted_apart(list(looks), WIDTH - 42, 12)
    for index, (name, look) in enumerate(zip(names, looks.values(), strict=True)):
        y = _KEY * index + 10
        drawing.path([(0, y), (34, y)], color=look.color, dashes=look.strokes)
        drawing.marker(17, y, look.marker, color=look.color, size=7)
        drawing.text(42, y + 4, name)


def _apart(numbers: Mapping[float, str], ends: tuple[float, float], width: float, wide: bool) -> dict[float, str]:
    """Return the numbers of an axis that do not touch, the last one always; the others have an empty text."""
    along = math.log if wide else float
    across = scale((along(ends[0]), along(ends[1])), 0, width)
    shown, free_to = dict.fromkeys(numbers, ""), math.inf
    for place, number in reversed(list(numbers.items())):
        x, half = across(along(place)), text_width(number, 10.5) / 2
        if x + half < free_to:
            shown[place], free_to = number, x - half - 4
    return shown


def _draw_series(plane: Pen, members: Sequence[Row], look: Look, places: Mapping[str, float]) -> None:
    for bounded, group in groupby(members, key=lambda row: row.low is not None and row.high is not None):
        if bounded:
            band = list(group)
            lower = [(places[row.quantity], row.low) for row in band if row.low is not None]
            upper = [(places[row.quantity], row.high) for row in band if row.high is not None]
            plane.area([*lower, *reversed(upper)], fill=look.color, strength=0.15)
    for known, group in groupby(members, key=lambda row: drawn_value(row) is not None):
        if known:
            points = [(places[row.quantity], drawn_value(row) or 0.0, row) for row in group]
            plane.path([(x, y) for x, y, _ in points], color=look.color, dashes=look.strokes)
            for x, y, row in points:
                plane.marker(x, y, look.marker, color=look.color, size=6, hollow=row.evidence == "published")
