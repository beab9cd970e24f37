"""The outputs of a notebook: a table or a figure, with its data in the same output.

A table goes out as HTML, as text and as its rows (`TABLE_TYPE`), so that whoever runs the notebook collects the
very tables that it shows. A figure goes out as inline SVG, marked (`FIGURE_TYPE`) as made here and safe to inline,
with its title and its table, so that its page can link there.
"""

import re
from html import unescape
from typing import Any

import msgspec
from msgspec import Struct

from misstep_analysis.pages.page import table_html
from misstep_analysis.pages.rendering import markup, render
from misstep_analysis.plots.drawing import Picture, standalone
from misstep_analysis.tables import Table
from misstep_analysis.tables.files import check_names, document
from misstep_analysis.tables.text import table_text

TABLE_TYPE = "application/vnd.misstep.table+json"
FIGURE_TYPE = "application/vnd.misstep.figure+json"
"""The media type that marks an output as a figure of `analysis.plots`."""

_SVG_TITLE = re.compile(r"<title[^<>]*+>([^<]*+)</title>", re.DOTALL)


class ShownDrawing(Struct, frozen=True):
    """A figure in a notebook's output; `table` is paper and name of its table, if it has one; then its files."""

    svg: str
    caption: str
    title: str
    table: tuple[str, str] | None = None
    png: bytes = b""


class DrawnFrom(Struct, frozen=True):
    """The table of a figure, as its page names it: a few words, then a link."""

    words: str
    title: str
    address: str


class Shown:
    """An output of a notebook cell: the same thing in several media types."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        self._bundle = bundle

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:  # noqa: ARG002
        return self._bundle

    def __repr__(self) -> str:
        return str(self._bundle["text/plain"])


def show(table: Table) -> Shown:
    """Return a table for the last line of a notebook's cell."""
    check_names(table)
    return Shown(
        {
            "text/html": table_html(table),
            "text/plain": table_text(table),
            TABLE_TYPE: document(table),
        }
    )


def show_figure(svg: str, caption: str = "", table: Table | None = None) -> Shown:
    """Return a figure of `analysis.plots` for the last line of a notebook's cell, with a caption below it."""
    match = _SVG_TITLE.search(svg)
    drawing = ShownDrawing(
        str(svg),
        caption,
        unescape(match[1]) if match else "",
        None if table is None else (table.paper, table.name),
        svg.png() if isinstance(svg, Picture) else b"",
    )
    return Shown(
        {
            "text/html": figure_html(svg, caption),
            "text/plain": caption or "(a figure)",
            FIGURE_TYPE: msgspec.to_builtins(drawing),
        }
    )


def figure_html(
    svg: str, caption: str, source: DrawnFrom | None = None, files: tuple[tuple[str, str], ...] = ()
) -> str:
    """Return a figure of `analysis.plots` as an HTML fragment; `files` are links to it: (label, relative address)."""
    return render("figure.html.jinja", svg=markup(svg), caption=caption, source=source, files=files)


def drawing_files(drawing: ShownDrawing) -> dict[str, bytes]:
    """Return a figure as files: the ending of each name → what is in it."""
    return {"svg": standalone(drawing.svg).encode(), **({"png": drawing.png} if drawing.png else {})}
