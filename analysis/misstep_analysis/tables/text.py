"""A table laid out for reading, as text for a terminal and as Markdown.

Three layouts, chosen by the rows; page, terminal and Markdown draw the same one:

- side by side: a line a quantity, a column for each kind of evidence or source, so that published and recomputed
  figures meet, the recomputed ones with as many digits as are printed;
- crossed: a line a group, a column a quantity, if every group has the same few quantities;
- stacked: a line a row, for everything else.

A page is wider than a terminal: if it asks for matrices, groups that share most of their quantities are crossed too.

Markdown, with made-up figures; no row spans its columns, so that a group's heading is a column of its own:

    ### Pears

    Ripe pears are 12.5% (9.8–14.1%) of the harvest.

    | Quantity | Value | Interval | Evidence |
    | :-- | --: | --: | :-- |
    | Ripe | 12.5% | 9.8–14.1% | real |
"""

import re
import textwrap
from collections.abc import Collection, Sequence
from itertools import groupby

from msgspec import Struct, structs
from rich.cells import cell_len, set_cell_size

from misstep_analysis.tables import WORST_FIRST, Evidence, Row, Status, Table
from misstep_analysis.tables.wording import count_text, interval_text, number_text, value_text
from misstep_harness.escaping import one_line

_MOST_COLUMNS = 5
_MOST_COLUMNS_OF_A_MATRIX = 7
_LEAST_FILLED = 0.5
"""The share of a matrix's cells that hold a figure, at least: with fewer a list is shorter."""

_BEHIND_POINT = re.compile(r"(?<=\d\.)\d+")


class Cell(Struct, frozen=True):
    """One figure of `row` as text; `n` and `source` are empty if the line or the column says them for all."""

    row: Row
    value: str
    interval: str = ""
    n: str = ""
    evidence: Evidence | None = None
    source: str = ""
    order: float | str | None = None
    is_words: bool = False


class GridColumn(Struct, frozen=True):
    """A column of figures: its label, and evidence and source if all its figures share them.

    `has_evidence` says that its figures are of different kinds; `has_aside` that any has an interval, or an n or a
    source of its own; `is_words` that it holds text.
    """

    label: str = ""
    evidence: Evidence | None = None
    source: str = ""
    has_evidence: bool = False
    has_aside: bool = False
    is_words: bool = False

    @property
    def span(self) -> int:
        """Return how many parts its cells have: badge, value, and the text beside the value."""
        return 1 + self.has_evidence + self.has_aside


class Line(Struct, frozen=True):
    """One line: a figure a column (`None` if there is none), and the facts of the line.

    `span` is the number of lines that `label` covers: 0 if an earlier line's label covers this one.
    """

    label: str
    cells: tuple[Cell | None, ...]
    n: str = ""
    source: str = ""
    status: Status | None = None
    reasons: tuple[str, ...] = ()
    span: int = 1


class _Section(Struct, frozen=True):
    heading: str
    lines: tuple[Line, ...]


class Grid(Struct, frozen=True):
    """A table as lines and columns; it has a column of n, statuses or sources if any line has one.

    `evidence` and `source` are those of all figures, unless lines or columns have them.
    """

    columns: tuple[GridColumn, ...]
    sections: tuple[_Section, ...]
    evidence: Evidence | None = None
    source: str = ""

    def lines(self) -> list[Line]:
        """Return all lines, in order."""
        return [line for section in self.sections for line in section.lines]

    @property
    def has_n(self) -> bool:
        """Return whether any line has an n that holds for all its figures."""
        return any(line.n for line in self.lines())

    @property
    def has_source(self) -> bool:
        """Return whether any line names a source."""
        return any(line.source for line in self.lines())

    @property
    def remarks(self) -> str:
        """Return the name of the column of statuses and reasons; empty if no line has any."""
        if any(line.status for line in self.lines()):
            return "status"
        return "remarks" if any(line.reasons for line in self.lines()) else ""


def grid(table: Table, *, matrices: bool = False) -> Grid:
    """Return the layout of a table's rows; with `matrices` there may be more columns, and cells without a figure."""
    rows = table.rows
    layout = _crossed(rows) or (_matrix(rows) if matrices else None) or _side_by_side(rows) or _stacked(rows)
    figures = zip(*(line.cells for line in layout.lines()), strict=True)
    columns = tuple(_with_parts(column, cells) for column, cells in zip(layout.columns, figures, strict=True))
    return structs.replace(layout, columns=columns)


def _with_parts(column: GridColumn, cells: Sequence[Cell | None]) -> GridColumn:
    present = [cell for cell in cells if cell is not None]
    return structs.replace(
        column,
        has_evidence=any(cell.evidence for cell in present),
        has_aside=any(cell.interval or cell.n or cell.source for cell in present),
        is_words=any(cell.is_words for cell in present),
    )


def methods(table: Table) -> tuple[str, ...]:
    """Return how the figures and intervals of a table were computed, each way once."""
    return tuple(dict.fromkeys(row.method for row in table.rows if row.method))


def worst(statuses: Sequence[Status | None]) -> Status | None:
    """Return the worst of some statuses; `None` if there is none."""
    return next((status for status in WORST_FIRST if status in statuses), None)


class _Keyed(Struct, frozen=True):
    """Rows by group and quantity, one for each pair at most."""

    groups: list[str]
    quantities: list[str]
    by_key: dict[tuple[str, str], Row]

    def by_quantity(self) -> tuple[tuple[GridColumn, ...], tuple[Line, ...]]:
        """Return the quantities as columns and the groups as lines."""
        columns = tuple(GridColumn(quantity) for quantity in self.quantities)
        cells = {group: [self.by_key.get((group, name)) for name in self.quantities] for group in self.groups}
        return columns, tuple(_line(group, of_group, columns) for group, of_group in cells.items())


def _keyed(rows: Sequence[Row]) -> _Keyed | None:
    by_key = {(row.group, row.quantity): row for row in rows}
    if len(by_key) < len(rows) or len({row.evidence for row in rows}) > 1 or any(row.status for row in rows):
        return None
    groups, quantities = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("group", "quantity"))
    return _Keyed(groups, quantities, by_key)


def _crossed(rows: Sequence[Row]) -> Grid | None:
    """Return groups as lines and quantities as columns, if every group has one figure of each of a few quantities."""
    keyed = _keyed(rows)
    if keyed is None or len(keyed.groups) < 2 or not 2 <= len(keyed.quantities) <= _MOST_COLUMNS:
        return None
    if len(rows) < len(keyed.groups) * len(keyed.quantities):
        return None
    (columns, lines), source = keyed.by_quantity(), ""
    if len({row.source for row in rows}) == 1:
        source = rows[0].source
        lines = tuple(structs.replace(line, source="") for line in lines)
    return Grid(columns, (_Section("", lines),), rows[0].evidence, source)


def _matrix(rows: Sequence[Row]) -> Grid | None:
    """Return groups by quantities if most pairs have one figure: groups as lines or, if these are fewer, as columns.

    A reason is of one figure and is at the end of its line: only lines that are groups say whose it is.
    """
    keyed = _keyed(rows)
    if keyed is None or len(keyed.groups) < 3 or len(keyed.quantities) < 2:
        return None
    if len(rows) < _LEAST_FILLED * len(keyed.groups) * len(keyed.quantities):
        return None
    if len(keyed.quantities) <= _MOST_COLUMNS_OF_A_MATRIX:
        columns, lines = keyed.by_quantity()
    elif len(keyed.groups) <= _MOST_COLUMNS_OF_A_MATRIX and not any(row.reason for row in rows):
        columns = tuple(GridColumn(group, source=_column(own).source) for group, own in _grouped(rows))
        cells = {name: [keyed.by_key.get((group, name)) for group in keyed.groups] for name in keyed.quantities}
        lines = tuple(_line(name, of_name, columns) for name, of_name in cells.items())
    else:
        return None
    return Grid(columns, (_Section("", lines),), rows[0].evidence)


def _side_by_side(rows: Sequence[Row]) -> Grid | None:
    """Return quantities as lines and evidence, or evidence and source, as columns, if each place has one figure."""
    for series in (lambda row: (row.evidence, ""), lambda row: (row.evidence, row.source)):
        keys = list(dict.fromkeys(series(row) for row in rows))
        places = {(row.group, row.quantity, series(row)): row for row in rows}
        if len(places) == len(rows) and len(keys) <= _MOST_COLUMNS:
            break
    else:
        return None
    columns = tuple(_column([row for row in rows if series(row) == key]) for key in keys)
    sections = []
    for group, members in _grouped(rows):
        cells = {name: [places.get((group, name, key)) for key in keys] for name in (row.quantity for row in members)}
        lines = tuple(_line(quantity, of_quantity, columns) for quantity, of_quantity in cells.items())
        sections.append(_Section(group, lines))
    return Grid(columns, tuple(sections))


def _stacked(rows: Sequence[Row]) -> Grid:
    """Return a line a row; the lines of one quantity share its label."""
    sections = []
    for group, members in _grouped(rows):
        lines = []
        for quantity, same in groupby(members, key=lambda row: row.quantity):
            block = list(same)
            digits = _most_digits(block)
            for position, row in enumerate(block):
                cell = structs.replace(_cell(row, digits), evidence=row.evidence)
                span = 0 if position else len(block)
                lines.append(Line(quantity, (cell,), count_text(row.n), row.source, row.status, _reasons([row]), span))
        sections.append(_Section(group, tuple(lines)))
    return Grid((GridColumn("value"),), tuple(sections))


def _grouped(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    groups = dict.fromkeys(row.group for row in rows)
    return [(group, [row for row in rows if row.group == group]) for group in groups]


def _column(rows: Sequence[Row]) -> GridColumn:
    sources = {row.source for row in rows}
    return GridColumn("", rows[0].evidence, sources.pop() if len(sources) == 1 else "")


def _line(label: str, rows: Sequence[Row | None], columns: Sequence[GridColumn]) -> Line:
    placed = [(row, column) for row, column in zip(rows, columns, strict=True) if row is not None]
    present = [row for row, _ in placed]
    sources = {row.source for row, column in placed if row.source != column.source}
    same_source = len(sources) == 1 and len({row.source for row in present}) == 1
    same_n, digits = len({row.n for row in present}) == 1, _most_digits(present)
    cells = []
    for row, column in zip(rows, columns, strict=True):
        own_source = "" if row is None or same_source or row.source == column.source else row.source
        own_n = "" if row is None or same_n else count_text(row.n)
        cells.append(None if row is None else structs.replace(_cell(row, digits), n=own_n, source=own_source))
    n, source = count_text(present[0].n) if same_n else "", sources.pop() if same_source else ""
    return Line(label, tuple(cells), n, source, worst([row.status for row in present]), _reasons(present))


def _cell(row: Row, digits: int | None) -> Cell:
    recomputed = row.evidence == "recomputed" and row.printed is None
    text = number_text(row.value, row.unit, digits) if recomputed else value_text(row)
    return Cell(row, text, interval_text(row), order=row.value, is_words=row.unit == "text")


def _most_digits(rows: Sequence[Row]) -> int | None:
    behind = [_BEHIND_POINT.search(row.printed) for row in rows if row.printed]
    return max((len(digits[0]) if digits else 0 for digits in behind), default=None)


def _reasons(rows: Sequence[Row]) -> tuple[str, ...]:
    wanted = [row.reason for row in rows if row.reason and row.status != "reproduced"]
    return tuple(dict.fromkeys(wanted))


_MARKUP = re.compile(r"([\\`*_\[\]<>|~$&#@])")
_OPENS_A_BLOCK = re.compile(r"^(?:[-+=]|\d{1,9}(?=[.)](?: |$)))")
_ADDRESS = re.compile(r"(?i)(?<=https)(?=://)|(?<=http)(?=://)|(?<=ftp)(?=://)|(?<=www)(?=\.)")
_TO_THE_RIGHT = frozenset({"value", "interval", "n"})

HEADS: dict[str, str] = {
    "quantity": "Quantity",
    "value": "Value",
    "interval": "Interval",
    "n": "n",
    "evidence": "Evidence",
    "status": "Status",
    "remark": "Remark",
}

_ALWAYS = frozenset({"quantity", "value", "evidence"})
"""The columns that a printed table has even if they are empty."""


class Printed(Struct, frozen=True):
    """A table to print: its columns, and under each heading, which may be empty, its lines with a text a column.

    The last of the notes says how the figures were computed.
    """

    title: str
    columns: tuple[str, ...]
    sections: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    finding: str
    notes: tuple[str, ...]


def markdown_text(table: Table) -> str:
    """Return a table as Markdown: title, finding, a line a figure, notes."""
    shown = printed(table)
    grouped = any(heading for heading, _ in shown.sections)
    heads = [*(["Group"] if grouped else []), *(HEADS[name] for name in shown.columns)]
    rules = [*([":--"] if grouped else []), *("--:" if name in _TO_THE_RIGHT else ":--" for name in shown.columns)]
    lines = [_markdown_line(heads), _markdown_line(rules)]
    for heading, rows in shown.sections:
        lines += [
            _markdown_line([escaped(text) for text in ([heading] if grouped else []) + list(row)]) for row in rows
        ]
    texts = [f"### {escaped(shown.title)}", _paragraph(shown.finding), "\n".join(lines), *map(_paragraph, shown.notes)]
    return "\n\n".join(text for text in texts if text) + "\n"


def escaped(text: str) -> str:
    """Return text in one line without markup, an end of a cell, a mention or an address that becomes a link."""
    return _ADDRESS.sub("\\\\", _MARKUP.sub(r"\\\1", text))


def _paragraph(text: str) -> str:
    return _OPENS_A_BLOCK.sub(lambda start: f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}", escaped(text))


def _markdown_line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def printed(table: Table) -> Printed:
    """Return the lines of a table, its rows in their order, under the headings of its groups."""
    shown = {id(cell.row): cell.value for line in grid(table).lines() for cell in line.cells if cell}
    lines = [(one_line(row.group), _texts(row, shown[id(row)])) for row in table.rows]
    columns = [name for name in HEADS if name in _ALWAYS or any(line[name] for _, line in lines)]
    sections = tuple(
        (group, tuple(tuple(line[name] for name in columns) for own, line in lines if own == group))
        for group in dict.fromkeys(group for group, _ in lines)
    )
    computed = [f"How the figures and intervals were computed: {'; '.join(methods(table))}."] if methods(table) else []
    notes = tuple(one_line(note) for note in (*table.notes, *computed))
    return Printed(one_line(table.title), tuple(columns), sections, one_line(table.finding), notes)


def _texts(row: Row, value: str) -> dict[str, str]:
    texts = {
        "quantity": row.quantity,
        "value": value,
        "interval": interval_text(row),
        "n": count_text(row.n),
        "evidence": row.evidence,
        "status": row.status or "",
        "remark": "" if row.status == "reproduced" else row.reason,
    }
    return {name: one_line(text) for name, text in texts.items()}


_LABEL_WIDTH, _WIDTH = 44, 110


def table_text(table: Table) -> str:
    """Return a table as lines of text: title, finding, one line a quantity, notes."""
    layout = grid(table)
    named = (filter(None, (column.label, column.evidence, column.source)) for column in layout.columns)
    headers = _text_cells(
        layout, "", [one_line(" ".join(parts)) or "value" for parts in named], "n", "status", "source"
    )
    body: list[list[str] | str] = []
    for section in layout.sections:
        if section.heading:
            body.append(one_line(section.heading))
        for line in section.lines:
            label = cut(one_line(line.label), _LABEL_WIDTH) if line.span else ""
            figures = [_figure(cell) for cell in line.cells]
            body.append(_text_cells(layout, label, figures, line.n, line.status or "", one_line(line.source)))
            body.extend(f"    {part}" for reason in line.reasons for part in _folded(one_line(reason), _WIDTH - 4))
    kind = ", ".join(one_line(part) for part in (layout.evidence, layout.source) if part)
    text = [f"{one_line(table.title)}{f' ({kind})' if kind else ''}", *_folded(one_line(table.finding), _WIDTH), ""]
    text += _aligned(headers, body)
    computed = f"How the figures and intervals were computed: {'; '.join(methods(table))}."
    notes = [*table.notes, *([computed] if methods(table) else [])]
    text += ["", *(line for note in notes for line in _folded(one_line(note), _WIDTH))] if notes else []
    return "\n".join(line.rstrip() for line in text) + "\n"


def _text_cells(layout: Grid, label: str, figures: list[str], n: str, status: str, source: str) -> list[str]:
    has_status = layout.remarks == "status"
    return [label, *figures, *[n] * layout.has_n, *[status] * has_status, *[source] * layout.has_source]


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return ""
    interval, n = f"[{cell.interval}]" if cell.interval else "", f"n={cell.n}" if cell.n else ""
    parts = one_line(cell.value), interval, n, cell.evidence, one_line(cell.source)
    return " ".join(part for part in parts if part)


def _aligned(headers: list[str], body: list[list[str] | str]) -> list[str]:
    """Align labels and words to the left, figures to the right; headings and reasons between them stay as they are."""
    to_left = {0} | {index for index, header in enumerate(headers) if header in ("status", "source")}
    head, *lines = aligned([headers, *(line for line in body if isinstance(line, list))], to_left)
    drawn = iter(lines)
    return [head, *(line if isinstance(line, str) else next(drawn) for line in body)]


def _folded(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def aligned(rows: Sequence[Sequence[str]], to_left: Collection[int] = (0,)) -> list[str]:
    """Return one line a row, columns two blanks apart; those in `to_left` begin at the left, others end right."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_placed(row, widths, to_left)).rstrip() for row in rows]


def _placed(row: Sequence[str], widths: Sequence[int], to_left: Collection[int]) -> list[str]:
    blanks = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
    return [
        cell + gap if place in to_left else gap + cell
        for place, (cell, gap) in enumerate(zip(row, blanks, strict=True))
    ]


def cut(text: str, width: int) -> str:
    """Return a text cut to a width, the cut marked by an ellipsis."""
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"
