"""Points on two axes, each with its interval upwards: the cost of a quality, the reliability of a judge's scores.

Points differ in shape and colour, so that grey print tells them apart, and are named in a key or by their n.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from misstep_analysis.plots.curves import Look, look
from misstep_analysis.plots.drawing import GAP, MUTED, SERIES, Drawing, Pen
from misstep_analysis.plots.layout import WIDTH, fitted_apart, longest, padded, scale, text_width, tick_text, ticks
from misstep_analysis.plots.rows import drawn_value, words
from misstep_analysis.tables import Row, Unit
from misstep_analysis.tables.wording import count_text, number_text, value_text
from misstep_harness.errors import UsageError

_KEY = 20
_HEIGHT = 230
_FOOT = 42
_BARS = 48
_LOGARITHMIC_FROM = 20


def cost_quality(rows: Sequence[Row], costs: Mapping[str, float], title: str, x_label: str = "") -> str:
    """Return a quality over what it costs: a point a row, named in a key with its figure."""
    drawn = [row for row in rows if row.quantity in costs and drawn_value(row) is not None]
    unit: Unit = drawn[0].unit if drawn else "share"
    top = _KEY * len(drawn) + GAP
    drawing = Drawing(WIDTH, top + _HEIGHT + _FOOT)
    limits, places, wide = _money_axis([costs[row.quantity] for row in drawn])
    numbers = {place: number_text(place, "usd") for place in places}
    ends = [end for row in drawn for end in (row.low, row.high, drawn_value(row)) if end is not None]
    upward = padded(ends, 0.08, 0.1, unit)
    plane, _ = _plane(drawing, upward, unit, top, limits, numbers, logarithmic=wide)
    drawing.text(WIDTH, top + _HEIGHT + 35, x_label, color=MUTED, size=11, anchor="right")
    figures = longest([value_text(row) for row in drawn], 12)
    names = fitted_apart([row.quantity for row in drawn], WIDTH - 22 - figures, 12)
    for index, (row, name) in enumerate(zip(drawn, names, strict=True)):
        own, y = look(index), _KEY * index + 10
        drawing.marker(9, y, own.marker, color=own.color, size=8)
        drawing.text(22, y + 4, name)
        drawing.text(WIDTH, y + 4, value_text(row), bold=True, anchor="right")
        _point(plane, row, costs[row.quantity], own)
    sentences = (f"{row.quantity} {number_text(costs[row.quantity], 'usd')}" for row in drawn)
    return drawing.svg(title, f"{words(drawn)} Cost: {'; '.join(sentences)}.")


def reliability(rows: Sequence[Row], scores: Mapping[str, float], title: str) -> str:
    """Draw the share of right answers by their score, beside the diagonal of a perfect judge, with bars of n below."""
    for row in rows:
        if row.quantity not in scores:
            raise UsageError(f"no mean score for {row.quantity!r}", f"There are: {', '.join(scores)}.")
    top = 2.0 * GAP
    bottom = top + _HEIGHT + _BARS
    drawing = Drawing(WIDTH, bottom + _FOOT)
    numbers = {tick: tick_text(tick, "number") for tick in ticks((0, 1), "share")}
    # The bars are below 0, above the numbers of the scores.
    plane, across = _plane(drawing, (-_BARS / _HEIGHT, 1.0), "share", top, (0.0, 1.0), numbers, height=_HEIGHT + _BARS)
    plane.line((0, 0), (1, 1), color=MUTED, width=1.4, dashed=True)
    drawing.text(WIDTH, bottom + 35, "score that the judge gave", color=MUTED, size=11, anchor="right")
    drawing.text(0, 10, "share right", color=MUTED, size=11)
    drawing.text(across(0) - GAP, bottom - 2, "n", color=MUTED, size=10.5, anchor="right")
    drawn = [row for row in rows if drawn_value(row) is not None]
    for row in drawn:
        _point(plane, row, scores[row.quantity], look(0))
    _draw_counts(drawing, [(across(scores[row.quantity]), row.n or 0) for row in drawn], bottom)
    return drawing.svg(title, words(drawn))


def _draw_counts(drawing: Drawing, counts: Sequence[tuple[float, int]], bottom: float) -> None:
    most = max((count for _, count in counts), default=0) or 1
    named: list[tuple[float, float]] = []
    for x, count in sorted(counts, key=lambda one: -one[1]):
        height = (_BARS - 16) * count / most
        drawing.box(x - 3, bottom - height, 6, height, fill=SERIES[0], strength=0.45)
        half = text_width(count_text(count), 9.5) / 2 + 2
        if all(x + half < start or x - half > end for start, end in named):
            drawing.text(x, bottom - height - 3, count_text(count), color=MUTED, size=9.5, anchor="center")
            named.append((x - half, x + half))


def _plane(
    drawing: Drawing,
    y_limits: tuple[float, float],
    unit: Unit,
    top: float,
    x_limits: tuple[float, float],
    x_ticks: Mapping[float, str],
    *,
    height: float = _HEIGHT,
    logarithmic: bool = False,
) -> tuple[Pen, Callable[[float], float]]:
    """Draw axes with room for their numbers; return them with the scale of an even lying axis."""
    within = (max(y_limits[0], 0.0), y_limits[1]) if unit == "share" else y_limits
    marks = {mark: tick_text(mark, unit) for mark in ticks(within, unit)}
    left = longest(list(marks.values()), 10.5) + GAP
    right = WIDTH - max(longest(list(x_ticks.values()), 10.5) / 2, GAP)
    place = (left, top, right, top + height)
    plane = drawing.plane(place, x_limits, y_limits, x_ticks, marks, logarithmic=logarithmic)
    return plane, scale(x_limits, left, right)


def _money_axis(costs: Sequence[float]) -> tuple[tuple[float, float], list[float], bool]:
    """Return the ends of an axis of costs, from 0 or in logarithms, the costs that are written at it, and its kind."""
    most, least = max(costs, default=1.0) or 1.0, min(costs, default=0.0)
    if least > 0 and most > _LOGARITHMIC_FROM * least:
        powers = [10.0**power for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)]
        return (powers[0], powers[-1]), powers, True
    limits = (0.0, 1.08 * most)
    return limits, ticks(limits, "number"), False


def _point(plane: Pen, row: Row, x: float, own: Look) -> None:
    if row.low is not None and row.high is not None:
        plane.whisker(x, row.low, row.high, color=own.color)
    hollow = row.evidence == "published"
    plane.marker(x, drawn_value(row) or 0.0, own.marker, color=own.color, size=8, hollow=hollow)
