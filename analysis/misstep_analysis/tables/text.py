"""A table as text for a terminal or a notebook without HTML."""

import textwrap
from collections.abc import Collection, Sequence

from rich.cells import cell_len, set_cell_size

from misstep_analysis.tables import Table
from misstep_analysis.tables.grid import Cell, Grid, grid, methods
from misstep_harness.escaping import one_line

_LABEL_WIDTH, _WIDTH = 44, 110


def table_text(table: Table) -> str:
    """Return a table as lines of text: title, finding, one line a quantity, notes."""
    layout = grid(table)
    named = (filter(None, (column.label, column.evidence, column.source)) for column in layout.columns)
    headers = _line(layout, "", [one_line(" ".join(parts)) or "value" for parts in named], "n", "status", "source")
    body: list[list[str] | str] = []
    for section in layout.sections:
        if section.heading:
            body.append(one_line(section.heading))
        for line in section.lines:
            label = cut(one_line(line.label), _LABEL_WIDTH) if line.span else ""
            figures = [_figure(cell) for cell in line.cells]
            body.append(_line(layout, label, figures, line.n, line.status or "", one_line(line.source)))
            body.extend(f"    {part}" for reason in line.reasons for part in _folded(one_line(reason), _WIDTH - 4))
    kind = ", ".join(one_line(part) for part in (layout.evidence, layout.source) if part)
    text = [f"{one_line(table.title)}{f' ({kind})' if kind else ''}", *_folded(one_line(table.finding), _WIDTH), ""]
    text += _aligned(headers, body)
    computed = f"How the figures and intervals were computed: {'; '.join(methods(table))}."
    notes = [*table.notes, *([computed] if methods(table) else [])]
    text += ["", *(line for note in notes for line in _folded(one_line(note), _WIDTH))] if notes else []
    return "\n".join(line.rstrip() for line in text) + "\n"


def _line(layout: Grid, label: str, figures: list[str], n: str, status: str, source: str) -> list[str]:
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
