"""HTML of a notebook's output written anew: a table of its cells, or its text.

What a data frame holds may come from a transcript, and HTML from anywhere may hold anything: only rows, spans and text
are taken of it, and the text is escaped again.
"""

import re
from html.parser import HTMLParser

from msgspec import Struct

from misstep_analysis.pages.rendering import render

_UNSEEN = frozenset({"script", "style", "template", "title"})
_APART = frozenset({"br", "p", "div", "li", "h1", "h2", "h3", "h4", "caption"})
_NUMBER = re.compile(r"[-+\N{MINUS SIGN}]?(?:[\d,]*\.\d++|[\d,]*\d)(?:[eE][-+]?\d+)?%?|NaN|<NA>|None|\.\.\.|…|")
_WIDEST_SPAN = 1000


class FrameCell(Struct):
    """One cell; it covers `columns` columns and `rows` rows."""

    text: str = ""
    is_heading: bool = False
    columns: int = 1
    rows: int = 1
    is_number: bool = False


class _Frame(Struct):
    head: list[list[FrameCell]]
    body: list[list[FrameCell]]
    text: str = ""


def read_frame(source: str) -> _Frame:
    """Return the first table of some HTML with its text; other markup is passed over."""
    reader = _Reader()
    reader.feed(source)
    reader.close()
    frame = reader.frame
    frame.text = " ".join(frame.text.split())
    rows = [row for row in frame.head + frame.body if row]
    for cell in (cell for row in rows for cell in row):
        cell.text = " ".join(cell.text.split())
    _set_numbers(frame)
    return frame


def frame_html(frame: _Frame) -> str:
    """Return a frame as an HTML fragment."""
    return render("frame.html.jinja", frame=frame)


def _set_numbers(frame: _Frame) -> None:
    """Mark the columns of numbers, counted from the right: on the left a heading may go over several rows."""
    for place in range(1, max(map(len, frame.body), default=0) + 1):
        cells = [row[-place] for row in frame.body if len(row) >= place and not row[-place].is_heading]
        if any(map(_is_figure, cells)) and all(_NUMBER.fullmatch(cell.text) for cell in cells):
            for cell in (*cells, *(row[-place] for row in frame.head if len(row) >= place)):
                cell.is_number = cell.columns == 1


def _is_figure(cell: FrameCell) -> bool:
    return any(character.isdigit() for character in cell.text)


class _Reader(HTMLParser):
    """Takes rows and cells of the first table; of all other markup the text is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.frame = _Frame([], [])
        self._cell: FrameCell | None = None
        self._in_head = False
        self._tables = 0
        self._seen_one = False
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open the table, a row or a cell."""
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "table":
            self._tables += 1
        elif tag in _APART:
            self.handle_data(" ")
        elif self._tables != 1 or self._seen_one:
            return
        elif tag in ("thead", "tbody"):
            self._in_head = tag == "thead"
        elif tag == "tr":
            self._rows().append([])
        elif tag in ("th", "td") and self._rows():
            attributes = dict(attrs)
            self._cell = FrameCell("", tag == "th", _span(attributes.get("colspan")), _span(attributes.get("rowspan")))
            self._rows()[-1].append(self._cell)

    def handle_endtag(self, tag: str) -> None:
        """Close a cell, the table, or what is not shown."""
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag == "table" and self._tables:
            self._tables -= 1
            self._seen_one = self._seen_one or not self._tables
        elif tag in ("th", "td", "tr") and self._tables == 1:
            self._cell = None

    def handle_data(self, data: str) -> None:
        """Text of a cell, or outside of the table."""
        if self._unseen:
            return
        if self._cell is not None and self._tables and not self._seen_one:
            self._cell.text += data
        elif not self._tables or self._seen_one:
            self.frame.text += data

    def _rows(self) -> list[list[FrameCell]]:
        return self.frame.head if self._in_head else self.frame.body


def _span(text: str | None) -> int:
    is_number = text is not None and text.isascii() and text.isdigit()
    return max(1, min(int(str(text)[:6]), _WIDEST_SPAN)) if is_number else 1
