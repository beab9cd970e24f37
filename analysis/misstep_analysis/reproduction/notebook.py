"""An executed notebook as a page: the finding first, code folded, outputs as this package made them.

HTML of a cell is shown only if the output says that `analysis.pages` made it. Of a data frame's HTML the cells are
written anew; an image is embedded; all else is text.

HTML of a notebook's output written anew: a table of its cells, or its text.

What a data frame holds may come from a transcript, and HTML from anywhere may hold anything: only rows, spans and text
are taken of it, and the text is escaped again.
"""

import re
from base64 import b64encode
from collections.abc import Container, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from msgspec import Struct, structs

from misstep_analysis.pages.origins import origins
from misstep_analysis.pages.page import (
    FIGURE_TYPE,
    TABLE_TYPE,
    DrawnFrom,
    Foot,
    ShownDrawing,
    described,
    drawing_files,
    figure_html,
    markup,
    render,
    table_html,
    table_id,
)
from misstep_analysis.tables import Table
from misstep_analysis.tables.files import file_addresses, from_document
from misstep_analysis.tables.summary import lines_without_a_row
from misstep_analysis.tables.wording import in_words
from misstep_harness.escaping import one_line, printable
from misstep_harness.journal.records import replace_file


def markdown_html(text: str) -> str:
    """Return Markdown as HTML.

    A link to another site becomes its text with the address behind it, an image its description: a page asks
    nobody for anything. A link to a notebook becomes one to its page.
    """
    html: str = _parser().render(printable(text))
    return html


def first_heading(text: str, mark: str = "# ") -> tuple[str, str]:
    """Return the heading of this level that a text opens with, or an empty one, and the rest."""
    line, _, rest = text.lstrip().partition("\n")
    if line.startswith(mark):
        return line.removeprefix(mark).strip(), rest
    return "", text


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable("table")
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("link_close", _link_close)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _image(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return self.renderInlineAsText(tokens[index].children, options, env)


def _link_open(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    address = str(token.attrs["href"])
    if _is_outside(address):
        return "<span>"
    if urlsplit(address).path.endswith(".ipynb"):
        token.attrSet("href", address.replace(".ipynb", ".html", 1))
    return self.renderToken(tokens, index, options, env)


def _link_close(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    opening = next(token for token in reversed(tokens[:index]) if token.type == "link_open")
    address = str(opening.attrs["href"])
    if not _is_outside(address):
        return self.renderToken(tokens, index, options, env)
    return f" <small>({escape(address)})</small></span>"


def _table_open(*_: object) -> str:
    return '<div class="scroll" tabindex="0">\n<table>\n'


def _table_close(*_: object) -> str:
    return "</table>\n</div>\n"


def _is_outside(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.scheme or parts.netloc)


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


_ADDRESS_IN_MEMORY = re.compile(r" at 0x[0-9a-fA-F]+")
_IMAGES = ("image/svg+xml", "image/png", "image/jpeg")
_LINES_OF_A_FIGURE = 12
_MOST_LINES_UNFOLDED = 120
"""A page of as many lines of tables is about 8,000 pixels high."""

_NO_WORDS = "A figure; the prose beside it says what it shows"
_OBJECT = re.compile(r"<[\w.]+(?: [^<>]*)?>")


class CellError(Struct, frozen=True):
    """The error that stopped a cell."""

    name: str
    message: str
    traceback: str

    def sentence(self) -> str:
        """Return the error in one line."""
        return f"{self.name}: {self.message}" if self.message else self.name


class _Drawn(Struct, frozen=True):
    """The table of a figure, and whether that is known or only the next table."""

    table: Table
    is_known: bool


class Report(Struct, frozen=True):
    """An executed notebook: its title and finding, its tables and figures, the error that stopped it.

    `drawings` are its figures in order, each with its table, if there is one. `datasets` are the sets that it measures
    on if they are available. `remember` are the tables, as paper/name, whose finding the index shows first.
    `warnings` is stderr; a page does not show it.
    """

    name: str
    title: str
    finding: str
    tables: tuple[Table, ...]
    error: CellError | None
    datasets: tuple[str, ...] = ()
    warnings: str = ""
    drawings: tuple[tuple[ShownDrawing, _Drawn | None], ...] = ()
    remember: tuple[str, ...] = ()


class Output(Struct, frozen=True):
    """One output of a cell: `kind` is html, text or image; an image has `words` and may have a `width`."""

    kind: str
    content: str
    words: str = ""
    width: int | None = None


class _Cell(Struct, frozen=True):
    prose: str = ""
    code: str = ""
    outputs: tuple[Output, ...] = ()
    error: CellError | None = None


class _Part(Struct, frozen=True):
    """A question of a page with its cells: `finding` is that of its first table, unless the page opens with it.

    The cells before the first question have no heading. A folded part shows heading and finding until it is opened.
    """

    heading: str
    finding: str
    cells: tuple[_Cell, ...]
    folded: bool


def read_notebook(name: str, notebook: Mapping[str, Any]) -> Report:
    """Return the report of an executed notebook (nbformat 4, as JSON).

    Its title is the heading of the first prose cell. `metadata.misstep` may have `finding` (else that of the first
    table), `datasets` and `remember`, as in `Report`. With `checked`,
    a figure that a cell computes in sight must be in a table, or the notebook has failed.
    """
    cells: Sequence[Mapping[str, Any]] = notebook["cells"]
    titles = (first_heading(_source(cell))[0] for cell in cells if cell["cell_type"] == "markdown")
    shown = tuple(_shown(cells))
    tables = tuple(one for one in shown if isinstance(one, Table))
    stated = notebook["metadata"].get("misstep", {})
    return Report(
        name=name,
        title=next(titles, "") or in_words(name),
        finding=stated.get("finding") or next((table.finding for table in tables), ""),
        tables=tables,
        error=next((error for cell in cells if (error := _error(cell))), None)
        or (_unshown_figure(cells, tables) if stated.get("checked") else None),
        datasets=tuple(stated.get("datasets", ())),
        drawings=tuple(_drawings(shown)),
        remember=tuple(stated.get("remember", ())),
        warnings=printable("".join(_streamed(cell, "stderr") for cell in cells)),
    )


def _unshown_figure(cells: Sequence[Mapping[str, Any]], tables: Sequence[Table]) -> CellError | None:
    """Return the first figure that a cell computes in sight and that no table of the notebook shows, as an error."""
    outputs = (output for cell in cells for output in cell.get("outputs", ()))
    line = next(iter(lines_without_a_row(outputs, tables)), None)
    return CellError("FigureInSight", f"no table of the notebook shows {line}", "") if line else None


def with_table_names(notebook: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a copy of an executed notebook with new names for its tables, in order."""
    renamed: dict[str, Any] = deepcopy(dict(notebook))
    outputs = [output.get("data", {}) for cell in renamed["cells"] for output in cell.get("outputs", ())]
    tables = [data[TABLE_TYPE] for data in outputs if TABLE_TYPE in data]
    drawn = [data[FIGURE_TYPE] for data in outputs if FIGURE_TYPE in data]
    now = {(one["paper"], one["name"]): name for one, name in reversed([*zip(tables, names, strict=True)])}
    for drawing in drawn:
        if (key := tuple(drawing["table"] or ())) in now:
            drawing["table"] = [key[0], now[key]]
    for table, name in zip(tables, names, strict=True):
        table["name"] = name
    return renamed


def notebook_page(report: Report, notebook: Mapping[str, Any], foot: Foot) -> str:
    """Return the page of an executed notebook, beside an `index.html` and a folder `tables`."""
    return render(
        "notebook.html.jinja",
        title=report.title,
        finding=report.finding,
        error=report.error,
        parts=_parts(report, notebook["cells"]),
        foot=described(foot),
    )


def figure_addresses(report: Report) -> dict[str, ShownDrawing]:
    """Return the address of each figure of a report beside its page, without an ending → the figure."""
    drawings = dict.fromkeys(drawing for drawing, _ in report.drawings)
    return {f"figures/{report.name}/{number}": drawing for number, drawing in enumerate(drawings, 1)}


def write_figures(report: Report, folder: Path) -> None:
    """Write each figure of a report in every format, where its page links to it."""
    for address, drawing in figure_addresses(report).items():
        (folder / address).parent.mkdir(parents=True, exist_ok=True)
        for ending, content in drawing_files(drawing).items():
            replace_file(folder / f"{address}.{ending}", content)


def _parts(report: Report, cells: Sequence[Mapping[str, Any]]) -> list[_Part]:
    """Return the questions of a page; on a long one each is folded, unless a cell of it failed."""
    parts = []
    for heading, own in _divided(cells):
        findings = (one.finding for one in _shown(own) if isinstance(one, Table))
        finding = next(findings, "") if heading else ""
        shown = tuple(_cells(own, report, {report.finding, finding}))
        parts.append(_Part(heading, "" if finding == report.finding else finding, shown, folded=False))
    if sum(_lines(part) for part in parts) <= _MOST_LINES_UNFOLDED:
        return parts
    return [
        structs.replace(part, folded=bool(part.heading) and not any(cell.error for cell in part.cells))
        for part in parts
    ]


def _divided(cells: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Return the cells of a notebook below each heading of the second level that opens a cell, without that heading."""
    divided: list[tuple[str, list[Mapping[str, Any]]]] = [("", [])]
    for cell in cells:
        heading, rest = first_heading(_source(cell), "## ") if cell["cell_type"] == "markdown" else ("", "")
        if heading:
            divided.append((heading, [{**cell, "source": rest}]))
        else:
            divided[-1][1].append(cell)
    return divided


def _lines(part: _Part) -> int:
    shown = [output.content for cell in part.cells for output in cell.outputs]
    return sum(content.count("<tr") + _LINES_OF_A_FIGURE * content.count("<svg") for content in shown)


def _cells(cells: Iterable[Mapping[str, Any]], report: Report, known: Container[str]) -> Iterable[_Cell]:
    for cell in cells:
        source = _source(cell)
        if cell["cell_type"] == "markdown":
            title, rest = first_heading(source)
            yield _Cell(prose=markup(markdown_html(rest if title == report.title else source)))
        elif cell["cell_type"] == "code" and source.strip():
            outputs = tuple(_outputs(cell, report, known))
            yield _Cell(code=source, outputs=outputs, error=_error(cell))


def _outputs(cell: Mapping[str, Any], report: Report, known: Container[str]) -> Iterable[Output]:
    if printed := _streamed(cell, "stdout"):
        yield Output("text", _steady(printed))
    shown = (one for one in cell.get("outputs", ()) if one["output_type"] in ("display_data", "execute_result"))
    # A figure that a cell ends with comes twice: as its result, and as what is still open when it ends.
    yield from dict.fromkeys(_display(one["data"], one.get("metadata", {}), report, known) for one in shown)


def _display(data: Mapping[str, Any], metadata: Mapping[str, Any], report: Report, known: Container[str]) -> Output:
    """Return what a cell shows; a finding that is `known` already is not repeated above its table."""
    if TABLE_TYPE in data:
        table = from_document(data[TABLE_TYPE])
        links = tuple((called, f"tables/{address}") for called, address in file_addresses(table).items())
        is_new = table.finding not in known
        return Output("html", markup(table_html(table, with_finding=is_new, files=links, origins=origins(table))))
    if FIGURE_TYPE in data:
        drawing = msgspec.convert(data[FIGURE_TYPE], ShownDrawing)
        source = _drawn_words(dict(report.drawings)[drawing])
        address = next(place for place, one in figure_addresses(report).items() if one == drawing)
        links = tuple((ending.upper(), f"{address}.{ending}") for ending in drawing_files(drawing))
        return Output("html", markup(figure_html(drawing.svg, drawing.caption, source, links)))
    words = _steady(_joined(data.get("text/plain", "")))
    image = next((kind for kind in _IMAGES if kind in data), None)
    if image is not None:
        width = metadata.get(image, {}).get("width")
        description = _NO_WORDS if not words or _OBJECT.fullmatch(words) else words
        content = _joined(data[image])
        is_drawing = image == "image/svg+xml"
        packed = b64encode(content.encode()).decode() if is_drawing else "".join(content.split())
        return Output("image", f"data:{image};base64,{packed}", description, width if isinstance(width, int) else None)
    frame = read_frame(_joined(data.get("text/html", "")))
    if frame.head or frame.body:
        return Output("html", markup(frame_html(frame)))
    if "text/markdown" in data:
        return Output("html", markup(markdown_html(_joined(data["text/markdown"]))))
    return Output("text", frame.text if frame.text and _OBJECT.fullmatch(words) else words)


def _shown(cells: Iterable[Mapping[str, Any]]) -> Iterable[Table | ShownDrawing]:
    for data in (output.get("data", {}) for cell in cells for output in cell.get("outputs", ())):
        if TABLE_TYPE in data:
            yield from_document(data[TABLE_TYPE])
        elif FIGURE_TYPE in data:
            yield msgspec.convert(data[FIGURE_TYPE], ShownDrawing)


def _drawings(shown: Sequence[Table | ShownDrawing]) -> Iterable[tuple[ShownDrawing, _Drawn | None]]:
    for place, one in enumerate(shown):
        if isinstance(one, ShownDrawing):
            yield one, _drawn_from(one, shown, place)


def _drawn_from(drawing: ShownDrawing, shown: Sequence[Table | ShownDrawing], place: int) -> _Drawn | None:
    """Return the table that was named, else the one of the same title, else the next one that the notebook shows."""
    tables = [one for one in shown if isinstance(one, Table)]
    if drawing.table is not None:
        known = [table for table in tables if (table.paper, table.name) == drawing.table]
        return _Drawn(known[0], is_known=True) if known else None
    known = [table for table in tables if one_line(table.title) == drawing.title]
    following = [one for one in shown[place:] if isinstance(one, Table)]
    if known:
        return _Drawn(known[0], is_known=True)
    return _Drawn(following[0], is_known=False) if following else None


def _drawn_words(drawn: _Drawn | None) -> DrawnFrom | None:
    if drawn is None:
        return None
    words = "Drawn from the table" if drawn.is_known else "The table that follows:"
    return DrawnFrom(words, drawn.table.title, f"#{table_id(drawn.table)}")


def _error(cell: Mapping[str, Any]) -> CellError | None:
    for output in cell.get("outputs", ()):
        if output["output_type"] == "error":
            traceback = printable("\n".join(output["traceback"]))
            return CellError(output["ename"], _steady(printable(output["evalue"])), traceback)
    return None


def _streamed(cell: Mapping[str, Any], stream: str) -> str:
    outputs = (output for output in cell.get("outputs", ()) if output["output_type"] == "stream")
    return "".join(_joined(output["text"]) for output in outputs if output["name"] == stream)


def _source(cell: Mapping[str, Any]) -> str:
    return _joined(cell["source"])


def _joined(text: str | Sequence[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _steady(text: str) -> str:
    """Text without addresses in memory, which differ from run to run."""
    return _ADDRESS_IN_MEMORY.sub("", text)
