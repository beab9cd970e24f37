"""Trajectories as lines of steps, with marks where the evidence stands."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from analysis.plots.drawing import GAP, MUTED, SERIES, Drawing, Marker
from analysis.plots.layout import AXIS, WIDTH, axis, fitted_apart, scale
from analysis.tables.wording import count_text

_CATEGORY_MARKERS: tuple[tuple[Marker, str], ...] = (
    ("circle", SERIES[0]),
    ("square", SERIES[1]),
    ("triangle", SERIES[2]),
    ("diamond", SERIES[3]),
)
_PITCH = 36
_LINE = 23
_KEY = 20


class Lane(Struct, frozen=True):
    """One trajectory of a timeline: its label, its number of steps, and category → the steps that show it."""

    label: str
    steps: int
    evidence: Mapping[str, Sequence[int]]


def timeline(lanes: Sequence[Lane], title: str, description: str = "") -> str:
    """Where in each trajectory its evidence stands: a line a trajectory, a mark a step and category.

    At most four categories have a mark of their own; further ones start over.
    """
    categories = list(dict.fromkeys(category for lane in lanes for category in lane.evidence))
    markers = {name: _CATEGORY_MARKERS[index % len(_CATEGORY_MARKERS)] for index, name in enumerate(categories)}
    key_height = _KEY * len(categories)
    top = key_height + GAP
    last = max((lane.steps - 1 for lane in lanes), default=0)
    limits = (0.0, float(max(last, 1)))
    across = scale(limits, 6, WIDTH - 6)
    drawing = Drawing(WIDTH, top + _PITCH * len(lanes) + AXIS)
    names = fitted_apart(categories, WIDTH - 20, 12)
    for index, (name, (shape, color)) in enumerate(zip(names, markers.values(), strict=True)):
        drawing.marker(7, _KEY * index + 10, shape, color=color)
        drawing.text(18, _KEY * index + 14, name)
    labels = fitted_apart([lane.label for lane in lanes], WIDTH - 80, 12)
    for index, (lane, label) in enumerate(zip(lanes, labels, strict=True)):
        y = top + index * _PITCH
        drawing.text(0, y + 12, label)
        drawing.text(WIDTH, y + 12, f"{count_text(lane.steps)} steps", color=MUTED, size=11, anchor="right")
        drawing.line((across(0), y + _LINE), (across(max(lane.steps - 1, 0)), y + _LINE), color=MUTED, width=1.5)
        for category, steps in lane.evidence.items():
            for step in steps:
                drawing.marker(across(step), y + _LINE, markers[category][0], color=markers[category][1], size=7)
    axis(drawing, top + _PITCH * len(lanes), limits, "count", (6, WIDTH - 6), "step")
    return drawing.svg(title, description or _timeline_words(lanes))


def _timeline_words(lanes: Sequence[Lane]) -> str:
    told = []
    for lane in lanes:
        found = [f"{name} at steps {', '.join(map(str, steps))}" for name, steps in lane.evidence.items() if steps]
        told.append(f"{lane.label}, {count_text(lane.steps)} steps: {'; '.join(found) or 'no evidence'}")
    return ". ".join(told) + "."
