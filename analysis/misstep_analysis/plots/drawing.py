"""A drawing as inline SVG for a page: its colours are the page's, its text is text, its bytes are always the same.

Drawings are made with matplotlib in pixels from the top left, or in the units of axes within. The colours below
are replaced by the custom properties of the page's style, so that one drawing serves light, dark and print.
"""

import hashlib
import io
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

from misstep_analysis.tables import Row, Unit
from misstep_analysis.tables.wording import count_text, interval_text, number_text, value_text
from misstep_harness.escaping import one_line
from misstep_harness.progress import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


Point = tuple[float, float]
Ticks = Mapping[float, str]


class Picture(str):
    """A drawing as inline SVG, with its figure for other formats."""

    __slots__ = ("_figure",)
    _figure: "Figure"

    @classmethod
    def of(cls, svg: str, figure: "Figure") -> "Picture":
        """Return the SVG text of a figure of matplotlib."""
        picture = cls(svg)
        picture._figure = figure
        return picture

    def png(self) -> bytes:
        """Return the drawing as a PNG file, in the colours of a light page."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        buffer = io.BytesIO()
        _recolor(self._figure)
        self._figure.patch.set_visible(True)
        canvas = FigureCanvasAgg(self._figure)
        dpi = _SIZE_OF_A_PNG * _POINTS_PER_INCH
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            # No program: the same drawing gives the same bytes.
            canvas.print_figure(buffer, format="png", dpi=dpi, facecolor=_light(PAPER), metadata={"Software": None})
        return buffer.getvalue()


INK = "#010101"
RULE = "#030303"
Anchor = Literal["left", "center", "right"]
Marker = Literal["circle", "square", "diamond", "triangle"]


class Pen:
    """Lines, areas, boxes, markers and words on the axes that it is given, in their units."""

    def __init__(self, axes: "Axes") -> None:
        self._axes = axes

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        color: str = INK,
        size: float = 12,
        bold: bool = False,
        anchor: Anchor = "left",
        turned: bool = False,
    ) -> None:
        """Write words on the base line `y`; `turned` ones run upwards from their place."""
        style: dict[str, Any] = {
            "color": color,
            "size": size,
            "weight": "bold" if bold else "normal",
            "ha": anchor,
            "va": "baseline",
        }
        style |= {"rotation": 90 if turned else 0, "rotation_mode": "anchor"}
        self._axes.text(x, y, one_line(words), parse_math=False, **style)

    def line(self, start: Point, end: Point, *, color: str = RULE, width: float = 1, dashed: bool = False) -> None:
        """Draw a straight line."""
        self._plot([start, end], color, width, linestyle="--" if dashed else "-", solid_capstyle="butt")

    def path(self, points: Sequence[Point], *, color: str, dashes: Sequence[float] = ()) -> None:
        """Draw one line through all points; `dashes` are strokes and gaps in line widths, none for an unbroken line."""
        self._plot(points, color, 1.8, linestyle=(0, tuple(dashes)) if dashes else "-")

    def _plot(self, points: Sequence[Point], color: str, width: float, **style: Any) -> None:
        xs, ys = ([point[axis] for point in points] for axis in (0, 1))
        self._axes.plot(xs, ys, color=color, linewidth=width, clip_on=False, **style)

    def area(self, points: Sequence[Point], *, fill: str, strength: float) -> None:
        """Fill what lies within a line through all points; `strength` is the opacity."""
        from matplotlib.patches import Polygon

        self._axes.add_patch(Polygon(points, facecolor=(fill, strength), edgecolor="none", clip_on=False))

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str | None = None,
        strength: float = 1,
        edge: str | None = None,
    ) -> None:
        """Draw a rectangle from its top left; `strength` is the opacity of its fill."""
        from matplotlib.patches import Rectangle

        inside = (fill, strength) if fill else "none"
        box = Rectangle((x, y), width, height, facecolor=inside, edgecolor=edge or "none", clip_on=False)
        self._axes.add_patch(box)

    def marker(self, x: float, y: float, shape: Marker, *, color: str, size: float = 8, hollow: bool = False) -> None:
        """Draw a marker; a hollow one has the colour of the page inside."""
        colors: dict[str, Any] = {
            "markerfacecolor": PAPER if hollow else color,
            "markeredgecolor": color,
            "markeredgewidth": 1.6,
        }
        self._axes.plot([x], [y], marker=_MARKERS[shape], markersize=size, linestyle="none", clip_on=False, **colors)

    def whisker(self, x: float, low: float, high: float, *, color: str) -> None:
        """Draw an upright interval with a stroke at both ends."""
        self._plot([(x, low), (x, high)], color, 1.4, marker="_", markersize=7, markeredgecolor=INK)


class Drawing(Pen):
    """A canvas of `width` by `height` pixels from the top left, which becomes an inline SVG."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        self._figure = Figure(figsize=(width / _POINTS_PER_INCH, height / _POINTS_PER_INCH))
        self._figure.patch.set_visible(False)
        super().__init__(self._figure.add_axes((0, 0, 1, 1)))
        self._axes.set_axis_off()
        self._axes.set_xlim(0, width)
        self._axes.set_ylim(height, 0)

    def plane(
        self,
        place: tuple[float, float, float, float],
        x_limits: Point,
        y_limits: Point,
        x_ticks: Ticks,
        y_ticks: Ticks,
        *,
        logarithmic: bool = False,
    ) -> Pen:
        """Return axes of their own units within the drawing, with a hairline at each number of the upright one."""
        (left, top, right, bottom), width, height = place, self.width, self.height
        axes = self._figure.add_axes(
            (left / width, 1 - bottom / height, (right - left) / width, (bottom - top) / height)
        )
        axes.patch.set_visible(False)
        axes.spines[:].set_visible(False)
        axes.set_xscale("log" if logarithmic else "linear")
        axes.set_xlim(*x_limits)
        axes.set_ylim(*y_limits)
        axes.set_xticks(list(x_ticks), list(x_ticks.values()), parse_math=False)
        axes.set_yticks(list(y_ticks), list(y_ticks.values()), parse_math=False)
        axes.minorticks_off()
        axes.set_axisbelow(True)
        axes.grid(axis="y", color=RULE, linewidth=1, clip_on=False)
        axes.tick_params(color=MUTED, labelcolor=MUTED, labelsize=10.5, length=4, width=1)
        axes.tick_params(axis="y", length=0, pad=GAP)
        return Pen(axes)

    def svg(self, title: str, description: str) -> Picture:
        """Return the drawing as inline SVG, with a name and a description for those who do not see it."""
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        buffer = io.StringIO()
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "misstep"}), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # the page has other fonts
            FigureCanvasSVG(self._figure).print_svg(buffer, metadata=_NO_METADATA)  # type: ignore[no-untyped-call]
        root = ElementTree.fromstring(buffer.getvalue())  # noqa: S314 (our own drawing)
        _put_into_page(root)
        return Picture.of(_named(root, one_line(title), one_line(description), self.width, self.height), self._figure)


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


MUTED = "#020202"
PAPER = "#040404"
SERIES = ("#050501", "#050502", "#050503", "#050504")
"""Colours to draw with: text, lighter text, hairlines, the page itself, and four that differ for all readers."""

_LIGHT_INK = "#1d2126"

_THEME = {
    INK: "currentColor",
    MUTED: "var(--muted, #5b6470)",
    RULE: "var(--rule, #d9dbd6)",
    PAPER: "var(--paper, #fcfcfa)",
    SERIES[0]: "var(--series-1, #2f6db5)",
    SERIES[1]: "var(--series-2, #c2660c)",
    SERIES[2]: "var(--series-3, #177f69)",
    SERIES[3]: "var(--series-4, #8d4b96)",
}

_MARKERS: dict[Marker, str] = {"circle": "o", "square": "s", "diamond": "D", "triangle": "^"}
_POINTS_PER_INCH = 72
GAP = 9
"""The least distance between things that do not belong together, in pixels."""
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_NAMESPACE = re.compile(r"^\{[^}]*\}")
_NO_TURN = re.compile(r"rotate\(-?0 ")
_FONT_FAMILY = re.compile(r"font-family: [^;]*;? ?")
_THEMED = re.compile(r"var\(--[\w-]++, (#\w++)\)")
_SIZE_OF_A_PNG = 3
"""Pixels of a PNG for each of a drawing: 300 to the inch and more at the width of a printed column."""

_COLORED = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
_REFERENCE = re.compile(r"(?<=url\(#)[^()]++(?=\))")


def can_draw() -> bool:
    """Return whether the drawing library is installed; a line says how to get it if it is not."""
    if find_spec("matplotlib") is not None:
        return True
    say("misstep: the page has no figures; `pip install 'misstep[notebooks]'` installs the drawing library.")
    return False


def standalone(svg: str) -> str:
    """Return a drawing of a page as an SVG file with the colours of a light page and a font, for any other program."""
    light = _THEMED.sub(lambda match: match[1], svg).replace("currentColor", _LIGHT_INK)
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" color="{_LIGHT_INK}"'
    return f"{light.replace('<svg', opened, 1)}\n"


def _light(color: str) -> str:
    themed = _THEMED.fullmatch(_THEME[color])
    return themed[1] if themed else _LIGHT_INK


def _recolor(figure: "Figure") -> None:
    """Replace the theme's colours by those of a light page; their opacity stays."""
    from matplotlib.colors import to_hex, to_rgba

    for artist in figure.findobj():
        for name in _COLORED:
            if hasattr(artist, f"get_{name}") and hasattr(artist, f"set_{name}"):
                red, green, blue, alpha = to_rgba(getattr(artist, f"get_{name}")())
                known = to_hex((red, green, blue))
                if known in _THEME:
                    getattr(artist, f"set_{name}")((*to_rgba(_light(known))[:3], alpha))


def _put_into_page(root: ElementTree.Element) -> None:
    """Remove references beyond the drawing, and set the page's colours and font."""
    for parent in list(root.iter()):
        for child in list(parent):
            if _NAMESPACE.sub("", str(child.tag)) in ("metadata", "style"):
                parent.remove(child)
    referred = {match for element in root.iter() for match in _references(element)}
    for element in root.iter():
        element.tag = _NAMESPACE.sub("", str(element.tag))
        element.text, element.tail = (element.text or "").strip(), ""
        element.attrib = {_NAMESPACE.sub("", name): value for name, value in element.attrib.items()}
        if element.get("id") not in referred:
            element.attrib.pop("id", None)
        if _NO_TURN.match(element.get("transform", "")):
            del element.attrib["transform"]
        if "d" in element.attrib:
            element.set("d", " ".join(element.attrib["d"].split()))
        if "style" in element.attrib:
            style = _FONT_FAMILY.sub("", element.attrib["style"])
            for color, themed in _THEME.items():
                style = style.replace(color, themed)
            element.set("style", style)


def _references(element: ElementTree.Element) -> list[str]:
    references = [match for value in element.attrib.values() for match in _REFERENCE.findall(value)]
    link = next((value for name, value in element.attrib.items() if name.endswith("href")), "")
    return [*references, link.removeprefix("#")] if link else references


def _named(root: ElementTree.Element, title: str, description: str, width: float, height: float) -> str:
    content = "".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    own = "figure-" + hashlib.sha256(f"{title}\n{description}\n{content}".encode()).hexdigest()[:10]
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "id":
                element.set(name, f"{own}-{value}")
            elif name == "href":
                element.set(name, f"#{own}-{value.removeprefix('#')}")
            else:
                element.set(name, _REFERENCE.sub(lambda match: f"{own}-{match[0]}", value))
    attributes = {
        "class": "figure",
        "viewBox": f"0 0 {width:g} {height:g}",
        "width": f"{width:g}",
        "height": f"{height:g}",
        "role": "img",
        "aria-labelledby": f"{own}-title {own}-description",
        "stroke-linejoin": "round",
    }
    named = ElementTree.Element("svg", attributes)
    for tag, part, text in (("title", "title", title), ("desc", "description", description)):
        ElementTree.SubElement(named, tag, {"id": f"{own}-{part}"}).text = text
    named.extend(list(root))
    return ElementTree.tostring(named, encoding="unicode")


def drawn_value(row: Row) -> float | None:
    """Return the number of a row's mark; `None` for words and missing values."""
    if not isinstance(row.value, (int, float)) or math.isnan(row.value):
        return None
    return float(row.value)


def words(rows: Sequence[Row]) -> str:
    """Return every figure of some rows in words, for a reader who does not see the drawing."""
    sentences = []
    for row in rows:
        name = ", ".join(part for part in (row.group, row.quantity) if part)
        parts = [value_text(row) if row.value is not None or row.printed else "not available", row.evidence]
        parts += [f"interval {interval_text(row)}"] if interval_text(row) else []
        parts += [f"n {count_text(row.n)}"] if row.n is not None else []
        sentences.append(f"{name}: {', '.join(parts)}")
    return "; ".join(sentences) + "." if sentences else "Nothing was measured."
