"""The layout of all figures: their width, fitted texts, scales and axes."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from misstep_analysis.plots.drawing import GAP, MUTED, Anchor, Drawing
from misstep_analysis.tables import Unit
from misstep_analysis.tables.wording import number_text
from misstep_harness.escaping import one_line

WIDTH = 528
"""Width of a figure in its own pixels: a page makes it a third larger, as wide as its text; on a phone it scrolls."""

AXIS = 26
_LETTER = 0.6
"""The mean width of a letter in sizes of its type, to decide whether a text fits."""


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is in type of a size, as it is drawn."""
    return _LETTER * size * len(one_line(text))


def longest(texts: Sequence[str], size: float) -> float:
    """Return the width that the longest of some texts takes with the gap before it; 0 where all are empty."""
    width = max((text_width(text, size) for text in texts), default=0)
    return width + GAP if width else 0


def fitted(text: str, width: float, size: float) -> str:
    """Return a text as it is drawn, cut to a width, the cut marked by an ellipsis."""
    most, shown = int(width / (_LETTER * size)), one_line(text)
    return shown if len(shown) <= most else f"{shown[: max(most - 1, 1)].rstrip()}…"


def fitted_apart(texts: Sequence[str], width: float, size: float) -> list[str]:
    """Return texts cut to a width, no two different ones to the same.

    Those that would be the same are cut at their shared beginning, too, or numbered.
    """
    shown = {one_line(text): fitted(text, width, size) for text in texts}
    places = {text: place for place, text in enumerate(shown, 1)}
    while groups := _alike(shown):  # where three share a beginning, two of them may share a longer one
        for same in groups:
            start = _shared_words(same)
            shortened = {text: fitted(f"…{text[start:]}", width, size) for text in same if start}
            if all(shown[text] == cut for text, cut in shortened.items()):
                shortened = {text: _numbered(shown[text], places[text], width, size) for text in same}
            shown |= shortened
    return [shown[one_line(text)] for text in texts]


def _numbered(text: str, place: int, width: float, size: float) -> str:
    return f"{fitted(text, width - text_width(f' {place}', size), size)} {place}"


def _alike(shown: Mapping[str, str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for text, cut in shown.items():
        groups.setdefault(cut, []).append(text)
    return [same for same in groups.values() if len(same) > 1]


def _shared_words(texts: Sequence[str]) -> int:
    """Return the length of the beginning that texts share, up to the last blank, underscore or hyphen in it."""
    alike = takewhile(lambda characters: len(set(characters)) == 1, zip(*texts, strict=False))
    beginning = "".join(character for character, *_ in alike)
    return max(beginning.rfind(character) for character in " _-") + 1


def broken(text: str, width: float, size: float) -> list[str]:
    """Return a label broken at blanks and underscores into lines that fit a width; a longer word stays whole."""
    spaced = one_line(text).replace("_", "_ ")
    letters = max(int(width / (_LETTER * size)), 1)
    return textwrap.wrap(spaced, letters, break_long_words=False, break_on_hyphens=False) or [""]


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Return a text broken at blanks into lines that fit a width; a longer word is broken as well."""
    return textwrap.wrap(one_line(text), max(int(width / (_LETTER * size)), 1)) or [""]


def scale(limits: tuple[float, float], start: float, end: float) -> Callable[[float], float]:
    """Return the place, between two ends in pixels, of a value between two limits."""
    low, high = limits
    return lambda value: start + (end - start) * (value - low) / (high - low)


def padded(ends: Sequence[float], room: float, least: float, unit: Unit) -> tuple[float, float]:
    """Return limits with room, a part of the range, at the ends, but for shares none beyond 0 and 1."""
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    beyond = room * (high - low) or least
    return (max(low - beyond, 0.0), min(high + beyond, 1.0)) if unit == "share" else (low - beyond, high + beyond)


def axis(
    drawing: Drawing, y: float, limits: tuple[float, float], unit: Unit, between: tuple[float, float] = (0, WIDTH)
) -> None:
    """Draw a scale with a few round numbers at height `y`."""
    across = scale(limits, *between)
    for tick in ticks(limits, unit):
        x, label = across(tick), tick_text(tick, unit)
        drawing.line((x, y + 2), (x, y + 6), color=MUTED)
        anchor: Anchor = "left" if x < 12 else "right" if x > drawing.width - 20 else "center"
        drawing.text(x, y + 18, label, color=MUTED, size=10.5, anchor=anchor)


def ticks(limits: tuple[float, float], unit: Unit) -> list[float]:
    """Return a few round numbers between two limits; whole ones for counts."""
    from matplotlib.ticker import MaxNLocator

    places = MaxNLocator(nbins=4, integer=unit == "count").tick_values(*limits)
    return [float(place) for place in places if limits[0] <= place <= limits[1]]


def tick_text(value: float, unit: Unit) -> str:
    """Return a number at an axis, no longer than it must be."""
    value = 0.0 if math.isclose(value, 0, abs_tol=1e-12) else value
    if unit == "share":
        return f"{100 * value:.3g}%"
    if unit == "difference":
        return f"{100 * value:+.3g} pp".replace("-", "\N{MINUS SIGN}") if value else "0"
    return number_text(int(value) if value == int(value) else value)
