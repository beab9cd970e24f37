"""What a notebook shows: a table or a figure, with the data behind it in the same output.

A table goes out as HTML, as text and as its rows (`TABLE_TYPE`), so that whoever runs the notebook collects the
very tables that it shows. A figure goes out as inline SVG, marked (`FIGURE_TYPE`) as made here and safe to inline.
"""

from typing import Any

from analysis.report.rendering import markup, render
from analysis.report.table_html import table_html
from analysis.report.table_text import table_text
from analysis.table_json import document
from analysis.tables import Table

TABLE_TYPE = "application/vnd.misstep.table+json"
"""The media type of a table's rows in a notebook's output."""

FIGURE_TYPE = "application/vnd.misstep.figure+json"
"""The media type that marks an output as a figure of `analysis.plots`."""


class Shown:
    """An output of a notebook cell: the same thing in several media types."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        self._bundle = bundle

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:  # noqa: ARG002
        return self._bundle

    def __repr__(self) -> str:
        return str(self._bundle["text/plain"])


def show(table: Table) -> Shown:
    """A table for the last line of a notebook's cell."""
    return Shown(
        {
            "text/html": table_html(table),
            "text/plain": table_text(table),
            TABLE_TYPE: document(table),
        }
    )


def show_figure(svg: str, caption: str = "") -> Shown:
    """A figure of `analysis.plots` for the last line of a notebook's cell, with a caption below it."""
    return Shown(
        {
            "text/html": render("figure.html.jinja", svg=markup(svg), caption=caption),
            "text/plain": caption or "(a figure)",
            FIGURE_TYPE: {"caption": caption},
        }
    )
