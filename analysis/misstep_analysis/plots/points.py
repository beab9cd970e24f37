"""Figures on two axes: points with their intervals, curves with their bands, matrices of cells, and funnels.

Series differ in colour, in strokes and in marks, so that grey print tells them apart; published figures have hollow
marks.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise

from msgspec import Struct

from misstep_analysis.plots.drawing import (
    GAP,
    INK,
    MUTED,
    SERIES,
    WIDTH,
    Drawing,
    Marker,
    Pen,
    broken,
    drawn_value,
    fitted_apart,
    longest,
    padded,
    scale,
    text_width,
    tick_text,
    ticks,
    words,
)
from misstep_analysis.tables import Row, Unit
from misstep_analysis.tables.wording import MISSING, count_text, number_text, value_text
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


_WIDEST_CELL = 104
_TALLEST_HEAD = 190
_CELL_HEIGHT = 30


def heat_map(
    values: Sequence[Sequence[float | None]],
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    title: str,
    description: str = "",
    *,
    unit: Unit = "count",
    row_axis: str = "",
    column_axis: str = "",
) -> str:
    """Return a matrix with each number in its cell, the cell the stronger the larger it is."""
    left = min(0.4 * WIDTH, max((text_width(label, 12) for label in (*row_labels, row_axis)), default=0) + 18)
    cell_width = min(_WIDEST_CELL, (WIDTH - left) / max(len(column_labels), 1))
    heads = [broken(label, cell_width - 6, 11) for label in column_labels]
    turned = any(text_width(part, 11) > cell_width - 6 for head in heads for part in head)
    if turned:
        heads = [[head] for head in fitted_apart(column_labels, _TALLEST_HEAD, 11)]
        head_height = max(text_width(head[0], 11) for head in heads)
    else:
        head_height = 14.0 * max((len(head) for head in heads), default=0)
    top = head_height + GAP + (20 if column_axis else 0)
    drawing = Drawing(WIDTH, top + _CELL_HEIGHT * len(row_labels) + GAP)
    drawing.text(left + 2, 12, column_axis, color=MUTED, size=11)
    drawing.text(left - 8, top - 6, row_axis, color=MUTED, size=11, anchor="right")
    for index, head in enumerate(heads):
        x = left + (index + 0.5) * cell_width + (4 if turned else 0)
        for line, part in enumerate(reversed(head)):
            drawing.text(x, top - 6 - 14 * line, part, size=11, anchor="left" if turned else "center", turned=turned)
    most = max((value for numbers in values for value in numbers if value is not None), default=0) or 1
    for line, (label, numbers) in enumerate(zip(fitted_apart(row_labels, left - 8, 12), values, strict=True)):
        y = top + line * _CELL_HEIGHT
        drawing.text(left - 8, y + 19, label, anchor="right")
        for index, value in enumerate(numbers):
            x = left + index * cell_width
            strength = 0 if value is None else 0.06 + 0.44 * max(value, 0) / most
            drawing.box(x + 1, y + 1, cell_width - 2, _CELL_HEIGHT - 2, fill=SERIES[0], strength=strength)
            number = number_text(value, unit)
            color = INK if value else MUTED
            drawing.text(x + cell_width / 2, y + 19, number, color=color, anchor="center", bold=value == most)
    return drawing.svg(title, description or _matrix_words(values, row_labels, column_labels, unit))


def crossed(rows: Sequence[Row], title: str, *, row_axis: str = "", column_axis: str = "") -> str:
    """Draw rows of a table as a heat map: a line a group, a column a quantity; a missing figure is an empty cell."""
    groups, quantities = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("group", "quantity"))
    by_key = {(row.group, row.quantity): drawn_value(row) for row in rows}
    values = [[by_key.get((group, quantity)) for quantity in quantities] for group in groups]
    axes = {"row_axis": row_axis, "column_axis": column_axis}
    return heat_map(values, groups, quantities, title, words(rows), unit=rows[0].unit, **axes)


def confusion(matrix: Sequence[Sequence[int]], labels: Sequence[str], title: str) -> str:
    """Return a confusion matrix of counts: rows the gold labels, columns what the judge said."""
    return heat_map(matrix, labels, labels, title, row_axis="gold", column_axis="judge")


def _matrix_words(
    values: Sequence[Sequence[float | None]], rows: Sequence[str], columns: Sequence[str], unit: Unit
) -> str:
    sentences = []
    for label, numbers in zip(rows, values, strict=True):
        cells = (f"{column} {number_text(value, unit)}" for column, value in zip(columns, numbers, strict=True))
        sentences.append(f"{label}: {', '.join(cells)}")
    return "; ".join(sentences).replace(MISSING, "not available") + "."


_POINTS_HEIGHT = 230
_POINTS_FOOT = 42
_BARS = 48


def cost_quality(rows: Sequence[Row], costs: Mapping[str, float], title: str, x_label: str = "") -> str:
    """Return a quality over what it costs: a point a row, named in a key with its figure."""
    drawn = [row for row in rows if row.quantity in costs and drawn_value(row) is not None]
    unit: Unit = drawn[0].unit if drawn else "share"
    top = _KEY * len(drawn) + GAP
    drawing = Drawing(WIDTH, top + _POINTS_HEIGHT + _POINTS_FOOT)
    limits, places, wide = _money_axis([costs[row.quantity] for row in drawn])
    numbers = {place: number_text(place, "usd") for place in places}
    ends = [end for row in drawn for end in (row.low, row.high, drawn_value(row)) if end is not None]
    upward = padded(ends, 0.08, 0.1, unit)
    plane, _ = _plane(drawing, upward, unit, top, limits, numbers, logarithmic=wide)
    drawing.text(WIDTH, top + _POINTS_HEIGHT + 35, x_label, color=MUTED, size=11, anchor="right")
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
    bottom = top + _POINTS_HEIGHT + _BARS
    drawing = Drawing(WIDTH, bottom + _POINTS_FOOT)
    numbers = {tick: tick_text(tick, "number") for tick in ticks((0, 1), "share")}
    # The bars are below 0, above the numbers of the scores.
    plane, across = _plane(
        drawing, (-_BARS / _POINTS_HEIGHT, 1.0), "share", top, (0.0, 1.0), numbers, height=_POINTS_HEIGHT + _BARS
    )
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
    height: float = _POINTS_HEIGHT,
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
